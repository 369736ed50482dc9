"""What does an engine find? The rankings of live search engines, over HTTP or from PostgreSQL."""

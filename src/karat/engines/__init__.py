"""Fetch rankings from live search engines."""

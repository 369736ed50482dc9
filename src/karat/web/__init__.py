"""Ask people: a web app in which judges judge, quickly and apart, and a lead watches."""

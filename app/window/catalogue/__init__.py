"""app/window/catalogue."""

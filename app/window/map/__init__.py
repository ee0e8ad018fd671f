"""app/window/map."""

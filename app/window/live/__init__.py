"""app/window/live."""

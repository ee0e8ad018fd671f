"""app/window/core."""

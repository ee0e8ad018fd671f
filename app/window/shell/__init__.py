"""app/window/shell."""

"""app/window/runs."""

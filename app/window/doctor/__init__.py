"""app/window/doctor."""

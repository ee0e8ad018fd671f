"""The drawing of a lesson, still and as it moves."""

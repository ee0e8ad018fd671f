"""widgets/live/tiles."""

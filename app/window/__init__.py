"""The window: its frame, its places, and what they share."""

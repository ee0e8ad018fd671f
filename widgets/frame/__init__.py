"""widgets/frame."""

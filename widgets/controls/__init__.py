"""widgets/controls."""

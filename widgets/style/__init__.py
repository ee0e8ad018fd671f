"""widgets/style."""

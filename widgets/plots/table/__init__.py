"""widgets/plots/table."""

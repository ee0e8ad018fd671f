"""widgets/plots/kinds."""

"""What rows say: statistics, comparisons, and how far they are to be trusted."""

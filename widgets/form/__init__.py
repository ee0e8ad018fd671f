"""widgets/form."""

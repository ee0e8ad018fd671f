"""widgets/sheets."""

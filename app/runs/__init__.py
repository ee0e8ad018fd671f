"""app/runs."""

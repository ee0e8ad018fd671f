"""macOS: what its own commands tell of a machine. Answers are asked in one place, and read here."""

"""Windows: what its own calls tell of a machine. Answers are asked in one place, and read here."""

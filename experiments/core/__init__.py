"""How an experiment is declared, found, worded and looked at; its clock and statistics."""

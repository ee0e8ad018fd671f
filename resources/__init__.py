"""Words, lessons, themes, icons and recorded runs: data only, read and never imported for logic."""

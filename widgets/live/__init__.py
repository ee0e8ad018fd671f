"""The machine as it moves: a minute of samples, tiles of them, and a heat strip of its cores."""

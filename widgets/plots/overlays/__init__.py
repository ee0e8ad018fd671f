"""What a lesson lays over a plot: places to click, light, sketches, markers and guesses."""

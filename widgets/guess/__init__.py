"""The sheet of ten guesses: a question with its slider, its answer, and the end on a ruler."""

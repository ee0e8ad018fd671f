"""The parts of a lesson: the row of steps, predictions, explanation, goals, and the drawing."""

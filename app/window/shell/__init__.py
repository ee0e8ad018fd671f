"""The frame of the window, and what it does as a whole: start, quit, actions, crash reports."""

"""The frame of the window: rail, status line, notices, and the order of Tab."""

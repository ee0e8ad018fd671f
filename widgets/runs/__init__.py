"""The list of kept runs, what is known of one, and what is inside a file before it is taken."""

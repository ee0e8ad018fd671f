"""What a shell, `man` and a desktop ask the program for, and how it starts where it is frozen."""

"""What a shell, `man` and a desktop ask the program for: completion, the manual, a file."""

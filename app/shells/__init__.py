"""Shell completions, the manual page, a desktop's files, and the start of a frozen program."""

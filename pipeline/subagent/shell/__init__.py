"""What a shell command would run, told by its parsed words, and whether that destroys."""

"""From an agent file's text to its metadata and body."""

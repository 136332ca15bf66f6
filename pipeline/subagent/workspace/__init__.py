"""The tools of an agent that works in one folder: files, searches, commands; nothing outside the folder is read or written by the file tools."""

"""Models: whoever replies. Scripted, a function, or a real one."""

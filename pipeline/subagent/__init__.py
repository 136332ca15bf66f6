"""Running a sub-agent in a clean context: a conversation is a value, a pure function takes it one step, a driver does what the step wants."""

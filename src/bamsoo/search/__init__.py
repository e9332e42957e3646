"""Ask and tell: the conversation with a search, what is unfinished, and the `Optimizer`."""

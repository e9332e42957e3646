"""What a search found: the result, its predictions, and what is left to gain."""

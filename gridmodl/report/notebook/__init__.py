"""What notebooks show of a model: a table and a small picture, in HTML without script, style sheet or network."""

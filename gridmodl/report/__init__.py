"""Models for people: text and tables."""

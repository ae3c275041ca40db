"""Searches of the best partition whose scores have the same order in all periods."""

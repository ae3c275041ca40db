"""Searches of one variable: intervals and groups of values."""

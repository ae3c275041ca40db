"""Scorecards: points for the parts of columns, which add up to a score."""

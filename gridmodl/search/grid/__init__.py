"""Searches of grids of any number of variables."""

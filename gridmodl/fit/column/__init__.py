"""Fit one column: make its atoms, search the best partition, or price a partition of the user's own."""

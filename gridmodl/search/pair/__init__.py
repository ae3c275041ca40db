"""Searches of grids of two variables with one count to a cell: coclustering and partitioned targets."""

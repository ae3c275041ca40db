"""Data files and standard input of any format, as columns read in batches or counted by DuckDB."""

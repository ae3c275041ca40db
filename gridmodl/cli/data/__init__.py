"""Data files as batches of rows: read column by column, in bounded memory, and written."""

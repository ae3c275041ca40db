"""Public result records: models, partitions, and their files."""

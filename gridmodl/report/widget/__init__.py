"""Edit the partition of one column by eye: `PartitionEditor`, and its face in a notebook."""

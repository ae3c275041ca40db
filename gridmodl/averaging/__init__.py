"""The average over all partitions of a column into intervals: `gridmodl.average` and `gridmodl.average_each`."""

"""Sums over all partitions of one variable into intervals, by the recursion that finds the best one.

`candidates` chooses the bounds, `layers` does the sums, `intervals` reads probabilities and predictions off them.
"""

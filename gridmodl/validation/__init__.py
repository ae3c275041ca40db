"""Choices made by rows that were left out: the penalty of a criterion, the criterion of an ensemble of grids."""

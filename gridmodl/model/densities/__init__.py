"""Densities of a column (`histogram`), of the rows of a grid, of a target given inputs, of a column given others."""

"""Densities of grids: of rows, of a target given its inputs, and of one column given others."""

"""Analysis of models: alternatives, verification, cost by number of parts, coarser grids, averages, posteriors."""

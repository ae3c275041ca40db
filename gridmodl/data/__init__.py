"""Read and encode the data of one call: columns, target and weights, counted for the searches."""

"""The data of one call: columns, targets and weights, encoded and counted for the searches."""

"""What the user gets: models, partitions, and files of them."""

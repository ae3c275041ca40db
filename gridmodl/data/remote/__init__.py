"""Count the rows of lazy frames on the engines that hold them."""

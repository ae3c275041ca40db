"""Axes to draw on: room and fonts (`layout`), names of parts beside them (`labels`), lanes, maps, and scales."""

"""Axes to draw on: room and fonts (`layout`), names of parts (`labels`), lanes, classes, maps, trees and scales."""

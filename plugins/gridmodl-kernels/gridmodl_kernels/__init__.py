"""Compiled kernels of gridmodl lie in this folder, which `gridmodl.shipped` reads; there is nothing to import."""

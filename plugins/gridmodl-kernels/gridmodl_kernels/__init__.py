"""Compiled kernels of gridmodl lie in this folder, which `gridmodl.jit.shipped` reads; there is nothing to import."""

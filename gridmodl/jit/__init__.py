"""Turn kernels and the terms of a criterion into machine code: binding, digests, tiers, the compiler and its cache."""

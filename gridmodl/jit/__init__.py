"""From terms to compiled kernels: templates, digests, tiers, the compiler and its cache."""

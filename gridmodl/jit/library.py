"""The library of kernels that an installed gridmodl carries."""
from __future__ import annotations
from typing import Any
def kernel(kernel: Any, text: str) -> Any:
    return None
def inlined_kernel(kernel: Any, text: str, terms: str) -> Any:
    return None
def terms(criterion: Any, layout: str) -> Any:
    return None

"""Build the library of kernels that gridmodl carries: `python -m gridmodl.building --out FOLDER`."""

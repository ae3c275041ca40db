"""Models as graphs of ONNX, in float64: parts, woe, cells and predictions of models, averages and classifiers."""

from __future__ import annotations

from gridmodl.report.onnx.curves import onnx_of_average
from gridmodl.report.onnx.models import onnx_of_model, onnx_of_models
from gridmodl.report.onnx.sums import onnx_of_evidence, onnx_of_lookups

__all__ = ["onnx_of_average", "onnx_of_evidence", "onnx_of_lookups", "onnx_of_model", "onnx_of_models"]

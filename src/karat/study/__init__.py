"""One study: from its folder, its database or named files to records, scale and rules with the labels."""

from karat.study.study import Study, Truth

__all__ = ["Study", "Truth"]

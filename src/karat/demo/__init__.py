"""A study to try karat on: real documents and engines, simulated people."""

from karat.demo.demo_study import DemoStudy, demo_study, write_demo

__all__ = ["DemoStudy", "demo_study", "write_demo"]

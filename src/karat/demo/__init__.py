"""Which of four search engines over Python's own documentation is best? A study to try karat on."""

from karat.demo.folder import write_demo
from karat.demo.study import DemoStudy, demo_study

__all__ = ["DemoStudy", "demo_study", "write_demo"]

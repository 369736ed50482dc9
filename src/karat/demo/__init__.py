"""Which of four search engines over Python's own documentation is best? A study to try karat on."""

from karat.demo.demo_study import DemoStudy, demo_study, write_demo

__all__ = ["DemoStudy", "demo_study", "write_demo"]

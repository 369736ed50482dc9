"""A study in a folder or database: files, tasks and queue, people, event log, backup and move."""

from karat.study.study import Study, Truth

__all__ = ["Study", "Truth"]

"""Do measures agree with users, and with each other's judges?"""

from karat.validity.robustness import robustness

__all__ = ["robustness"]

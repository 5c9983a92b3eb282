"""Choosing the arm with the largest index: exactly as a scan would, at a fraction of its cost."""

from ocucb.selection.selector import Selector

__all__ = ["Selector"]

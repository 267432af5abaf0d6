"""Views that one can touch, one for each mechanism. They show what the ground floor found out."""

from .explore import StorageExplorer, explore

__all__ = ["StorageExplorer", "explore"]

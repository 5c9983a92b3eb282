"""The version, where the build and every request find it."""

__version__ = "0.1.0"

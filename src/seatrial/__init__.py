"""Seatrial decides whether a changed LLM agent may be merged and released."""

__version__ = "0.1.0"

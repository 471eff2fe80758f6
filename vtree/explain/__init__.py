"""Showing what a tree does: as text and as pictures."""

"""The record of a run: its parts, what they promise, and the file that keeps it. No torch."""

"""Distillation of a small draft model from a target: generate, train, evaluate, export.

Run `python -m specdec.distill --help`.
"""

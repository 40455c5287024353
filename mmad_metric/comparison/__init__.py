"""Comparing systems from what finished runs left; no model is called."""

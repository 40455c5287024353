"""The shipped prompt packs, one folder each; read through importlib.resources."""

"""Readers and writers: inputs line by line, run files."""

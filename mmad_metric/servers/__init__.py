"""Talking to an OpenAI-compatible server: what it is asked, what it refuses, what went wrong."""

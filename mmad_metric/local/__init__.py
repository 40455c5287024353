"""The embedded model: a tiny llama.cpp server of our own on the loopback interface."""

"""A grid of settings over one input, with one cache: stage 1 is paid for once."""

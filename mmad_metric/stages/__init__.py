"""The three stages of M-MAD, one module each, over the same small context."""

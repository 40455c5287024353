"""The three stages of M-MAD over the same small context; a debate's strategy is a module each."""

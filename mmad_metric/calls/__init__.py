"""Around a model: reply cache, limits, prices, asking again; each wraps a ChatModel."""

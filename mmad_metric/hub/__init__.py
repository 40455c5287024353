"""The Hugging Face Hub: the metric as a Space, its files, its app, and how it gets there."""

"""Meta-evaluation: how well a metric agrees with people, and how sure that is."""

"""From the text of a reply to a typed value, tolerant of form and never of content."""

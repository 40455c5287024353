"""The HTML report: stored runs as one page that opens anywhere and asks nobody for anything."""

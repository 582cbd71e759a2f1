"""Node type annotation (NTA): what kind of node each one is, and which of them hold the content."""

"""A bundled fictional news site and its loopback server."""

"""Providers: who answers a `Request`. `base` holds the protocol and the registry; each other file is one way to answer."""

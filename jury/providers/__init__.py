"""Providers: who answers a `Request`. `base` holds the protocol, `registry` the names; each other file is one way."""

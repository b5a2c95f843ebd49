"""Local servers for tests: real sockets on the loopback address, scripted answers, no network."""

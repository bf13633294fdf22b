"""The program `retrylens`, which this package installs. It has no Python interface: run it, and read its JSON."""

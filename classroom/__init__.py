"""A class on one machine, tried out: a real JupyterHub on loopback, N learners, every cell, at once."""

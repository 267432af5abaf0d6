"""The course on other releases of torch: `python -m tests.versions` runs it there and writes tests/claims.md."""

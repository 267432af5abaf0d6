"""Loaded first by the nbval lane: spares it what takes half of its time and serves no notebook.

jsonschema, which nbformat needs, builds a grammar for web addresses where the package rfc3987_syntax
is installed, which takes seconds; it does without where it is not.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

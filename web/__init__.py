"""The course as a web site: pages that are read without a kernel, and whose views react all the same.

`python -m web` builds it. How an answer flows: notebooks -> `views` (runs them, keeps what the views hold)
-> `pages` (notebooks as Sphinx shall read them) -> `build` (Sphinx, then the finished folder).
"""

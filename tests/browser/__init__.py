"""The browser lane: every notebook in a real JupyterLab, in a real browser."""

"""The licences of what a page loads: each text beside the files, and one page that lists them."""

from importlib.metadata import Distribution, distribution
from pathlib import Path

from tests.notebooks.files import ROOT

# Installed packages of which something stands in the built pages -> what that is.
PARTS = {
    "furo": "the theme: its style and its script",
    "sphinx-basic-ng": "what the theme is built on",
    "Sphinx": "search, and the base of the style",
    "snowballstemmer": "word stems, for the search",
    "myst-nb": "the style of cells",
    "accessible-pygments": "the colours of code",
    "Pygments": "the classes of code",
}
OURS = ("LICENSE", "LICENSE-CODE", "LICENSE-TEXT")


def write(static: Path) -> str:
    """Puts the texts into `static`/licences; the Markdown page that lists them, relative to `static`."""
    folder = static / "licences"
    folder.mkdir(parents=True)
    for name in OURS:
        (folder / f"torchcourse-{name}.txt").write_bytes((ROOT / name).read_bytes())
    ours = ", ".join(_link(name, f"torchcourse-{name}.txt") for name in OURS)
    rows = [_row(distribution(name), what, folder) for name, what in PARTS.items()]
    head = [
        f"# Licences\n\nThe course's own texts, pictures and code: {ours}.\n",
        "What else stands in these pages was copied from the packages that built them:\n",
        "| Package | Version | What of it | Licence |\n|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _row(package: Distribution, what: str, folder: Path) -> str:
    name, links = package.metadata["Name"], []
    for file in package.files or []:
        if any(word in file.name.upper() for word in ("LICEN", "COPYING", "AUTHORS")):
            text = f"{name}-{file.name.removesuffix('.txt').replace('.', '-')}.txt"
            (folder / text).write_bytes(Path(str(file.locate())).read_bytes())
            links.append(_link(file.name, text))
    return f"| {name} | {package.version} | {what} | {', '.join(sorted(links))} |"


def _link(name: str, file: str) -> str:
    return f'<a href="_static/licences/{file}">{name}</a>'

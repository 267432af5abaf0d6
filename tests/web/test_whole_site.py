"""The whole site: every view alive and reacting in both themes, nothing in the way, every link right."""

import pytest

from tests.notebooks.files import find
from web.build import build

from .site import broken_links, opened, reacts, reacts_to_the_mouse
from .test_site import LIMIT

pytestmark = pytest.mark.slow
KEYS = ("ArrowRight", "ArrowDown", "Home", " ", "End")  # which of them is of use depends on the view
WITH_CODE = "05_modules.html"  # the page on which axe reads the colours of code too; they are the same on all
VIEWS = 22  # at least: a site whose views are lost must not pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("web") / "site"
    build(find([]), out, say=lambda line: None)
    return out


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_reacts_and_no_page_has_barriers(site, browser, scheme):
    found, views = [], 0
    with opened(browser, scheme) as page:
        for file in sorted(site.glob("*.html")):
            page.open(file)
            views += page.views.count()
            for number in range(page.views.count()):
                view = page.views.nth(number)
                found += (
                    [] if reacts_to_the_mouse(view) else [f"{file.name}: view {number + 1} ignores the mouse"]
                )
                found += [] if reacts(view, KEYS) else [f"{file.name}: view {number + 1} ignores {KEYS}"]
            code = () if file.name == WITH_CODE else (".highlight",)
            found += [f"{file.name}: {fault}" for fault in page.barriers(scheme, leave_out=code)]
        assert not found + page.trouble(), "\n".join(found + page.trouble())
    assert views >= VIEWS


def test_no_page_is_too_wide_for_a_telephone(site, browser):
    with opened(browser) as page:
        page.page.set_viewport_size({"width": 400, "height": 800})
        over = {}
        for file in sorted(site.glob("*.html")):
            page.open(file)
            over[file.name] = page.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert not {name: pixels for name, pixels in over.items() if pixels > 1}


def test_every_link_leads_somewhere(site):
    assert broken_links(site) == []


def test_every_page_is_small(site):
    assert not [file.name for file in site.rglob("*.html") if file.stat().st_size > LIMIT]


def test_a_second_build_gives_the_same_files(tmp_path):
    """All but what a run measures: the index and what needs no kernel, built twice."""
    twice = []
    for name in ("one", "two", "two"):  # the last over an old one
        out = tmp_path / name
        build(find(["02b_cuts_and_in_place"]), out, say=lambda line: None)
        twice.append(
            {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}
        )
    assert twice[0] == twice[1] == twice[2]

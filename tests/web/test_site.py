"""A small site, built once and opened from disk with the network off: a notebook with views, one without, the index.

The slow lane (test_whole_site.py) does the same for all notebooks and all views.
"""

from html import unescape

import pytest
from playwright.sync_api import expect

from tests.browser.touch import say
from tests.notebooks.files import find, read
from web.build import FILES, build

from .site import broken_links, opened

LIMIT = 3_000_000  # bytes of a page's own HTML
BUILT = VIEWS, PLAIN = ("01_storage_and_strides", "02b_cuts_and_in_place")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built over an older one that had a page more."""
    out = tmp_path_factory.mktemp("web") / "site"
    out.mkdir()
    (out / "stale.html").touch()
    (out / FILES).write_text("stale.html")
    build(find(list(BUILT)), out, say=lambda line: None)
    return out


@pytest.fixture(scope="module")
def first(site, browser):
    """The page of the first notebook."""
    with opened(browser) as page:
        page.open(site / f"{VIEWS}.html")
        yield page


def test_the_views_react_to_the_mouse(first):
    view = first.views.nth(0)
    before = say(view).inner_text()
    view.locator(".tc-live .tc-grid .tc-cell").nth(5).hover()
    expect(say(view)).not_to_have_text(before)
    assert first.trouble() == []


def test_the_views_react_to_the_keyboard(first):
    view = first.views.nth(1)
    view.locator(".tc-live .tc-body").focus()
    first.page.keyboard.press("ArrowRight")
    first.page.keyboard.press("End")
    expect(say(view)).to_contain_text("= 11 of the storage")
    assert first.trouble() == []


def test_what_needs_a_kernel_says_so(first):
    view = first.views.nth(0)
    view.locator(".tc-live .tc-box input").fill(".t()")
    view.locator(".tc-live .tc-box input").press("Enter")
    expect(view.locator(".tc-answer")).to_contain_text(
        "This page has no kernel, and this box needs one: open"
    )
    expect(first.page.locator(".tc-kernel-note")).to_contain_text("without a kernel")


def test_views_follow_the_switch_and_the_system(first):
    background = "card => getComputedStyle(card).getPropertyValue('--tc-ink')"
    card = first.views.nth(0).locator(".tc-live div.tc-view")
    seen = {}
    for scheme in ("light", "dark"):
        for wanted in ("light", "dark", "auto"):
            first.page.emulate_media(color_scheme=scheme)
            first.theme(wanted)
            seen[scheme, wanted] = card.evaluate(background)
    light, dark = seen["light", "light"], seen["dark", "dark"]
    assert light != dark
    assert seen == {key: dark if "dark" in (key[1], key[0] * (key[1] == "auto")) else light for key in seen}
    first.page.emulate_media(color_scheme="light")


def test_the_source_that_gives_the_answer_away_is_folded(first):
    folded = first.page.locator("details.hide:not([open])", has_text="tc.predict")
    assert folded.count() == first.page.locator(".tc-predict").count() > 0


def test_no_barriers(first):
    """axe takes its time, so here only what is ours; the slow lane looks at whole pages in both themes."""
    first.theme("dark")
    found = first.barriers(
        "dark", ".tc-block", ".tc-predict", ".tc-kernel-note", ".tc-formula", ".sidebar-tree"
    )
    assert not found, "\n".join(map(str, found))


def test_print_shows_pictures(first):
    first.page.emulate_media(media="print")
    for number in range(first.views.count()):
        expect(first.views.nth(number).locator(".tc-static .tc-picture")).to_be_visible()
        expect(first.views.nth(number).locator(".tc-live")).to_be_hidden()
    first.page.emulate_media(media="screen")


def test_without_scripts_there_are_pictures_and_texts(site, browser):
    with opened(browser, java_script_enabled=False) as page:
        page.page.goto((site / f"{VIEWS}.html").as_uri())
        view = page.views.nth(0)
        expect(view.locator(".tc-static .tc-picture")).to_be_visible()
        view.locator("summary").click()
        expect(view.locator("pre")).to_be_visible()


def test_search_works_from_disk(site, browser):
    with opened(browser) as page:
        page.page.goto((site / "search.html").as_uri() + "?q=storage_offset")
        expect(page.page.locator("#search-results")).to_contain_text("Storage and strides")
        assert page.trouble() == []


def test_a_word_that_was_searched_for_is_marked_in_the_text_and_not_in_a_view(site, browser):
    with opened(browser) as page:
        page.open(site / f"{VIEWS}.html", "?highlight=x")
        expect(page.page.locator("article .highlighted").first).to_be_attached()
        assert page.page.locator(".tc-block .highlighted, .tc-block tspan.highlighted").count() == 0
        assert page.trouble() == []


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    assert broken_links(site) == []


def test_pages_are_small_and_stale_ones_are_gone(site):
    pages = {page.name: page.stat().st_size for page in site.rglob("*.html")}
    assert not {name: size for name, size in pages.items() if size > LIMIT}
    assert "stale.html" not in pages and {f"{stem}.html" for stem in BUILT} < set(pages)


@pytest.mark.parametrize("stem", BUILT)
def test_the_page_says_what_the_notebook_says(site, stem):
    """Printed lines stand as they are stored, whatever this machine's run printed."""
    page = unescape((site / f"{stem}.html").read_text(encoding="utf-8"))
    outputs = [output for cell in read(find([stem])[0]).cells for output in cell.get("outputs", [])]
    lines = [line for output in outputs for line in output.get("text", "").splitlines()]
    assert lines and not [line for line in lines if line not in page]


def test_the_licences_are_there(site):
    names = {path.name for path in (site / "_static" / "licences").iterdir()}
    assert {"furo-LICENSE.txt", "Sphinx-LICENSE-rst.txt", "torchcourse-LICENSE.txt"} <= names
    assert "furo" in (site / "licences.html").read_text(encoding="utf-8")

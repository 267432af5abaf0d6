"""Text as a reader pastes it: colours of a terminal, HTML of a page, log prefixes, ten megabytes."""

from __future__ import annotations

import html
import re

HEAD, TAIL = 6_000, 18_000  # characters that are looked at: an error's text says what it is at its ends

_ANSI = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,10}[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ufeff]")
_TAGS = (
    "a|b|br|code|details|div|em|font|h[1-6]|hr|i|img|li|ol|p|pre|script|small|span|strong|style|sub|summary|"
    "td|tr|u|ul"
)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]{{0,400}})?/?>", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/pre)\s{0,4}/?>", re.IGNORECASE)
# The frame that rich draws around tracebacks.
_BOX = re.compile(r"^[│╭╰|] ?|[ \t]{0,200}[│╮╯]$|[─]{4,400}", re.MULTILINE)
# What stands before each line in logs, test reports, quotations: "[rank0]: ", "E   ", "> ", a time stamp.
_PREFIX = re.compile(
    r"^(?:\[?(?:default|rank)?\d{0,4}\]?:\s?|E {2,8}|> |\(\w{1,40} pid=\d{1,9}[^)]{0,60}\) )", re.MULTILINE
)


def clean(text: str) -> str:
    """The text without colours, tags and control signs; the middle of a very long one is left out."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n…\n{text[-TAIL:]}"
    text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    if "&" in text:
        text = html.unescape(text)
    if "│" in text:
        text = _BOX.sub("", text)
    return _PREFIX.sub("", text)

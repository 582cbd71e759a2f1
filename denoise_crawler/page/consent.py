"""Cookie walls: pages whose only text asks for consent to cookies, in place of the page that was wanted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from denoise_crawler.page.text import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page.nodes import Nodes

_MOST_NODES = 400
_MOST_CHARACTERS = 4_000
_FEWEST_MENTIONS = 2
_LONGEST_ANSWER = 40  # characters of a button
_SHORTEST_SENTENCE = 60
_SHARE = 0.6  # of the characters of sentences, those of sentences about consent

_NAMES = re.compile(r"cookie|クッキー|\bconsen[ts]|einwilligung|同意", re.IGNORECASE)
_MATTERS = re.compile(
    rf"{_NAMES.pattern}|track|privacy|personali[sz]|personal data|advert|partners"
    r"|datenschutz|zustimm|werbung|vie privée|données|traceurs|publicit|privacidad|datos"
    r"|隐私|隱私|プライバシー",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"(?:yes,? )?(?:i |we )?(?:accept|agree|allow|consent|reject|decline)\b"
    r"|(?:alle[ns]? |alles )?(?:cookies )?(?:akzeptieren|zustimmen|erlauben|ablehnen|annehmen|einverstanden)\b"
    r"|(?:tout |j.)?(?:accepte|refuse)r?\b|(?:aceptar|rechazar|accetta|rifiuta|accepteren|akkoord)\b"
    r"|(?:全部|すべて)?(?:同意|接受|拒绝|拒絕|許可)",
    re.IGNORECASE,
)


def is_consent_wall(nodes: Nodes) -> bool:
    """Tell whether the nodes of a page only ask for consent: most of its sentences do, and it offers an answer.

    So a page with a banner and an article is none, and neither is a policy on cookies, which offers no answer.

    Args:
        nodes: The nodes of the page.

    Example:
        >>> from denoise_crawler.page import Page
        >>> ask = "<p>We use cookies to show advertising. You can withdraw your consent.</p>"
        >>> Page.parse("https://a.example/", ask + "<button>Accept all</button>").skipped
        'consent'
        >>> Page.parse("https://a.example/", ask).skipped is None
        True

    """
    if len(nodes) > _MOST_NODES:
        return False
    texts = [collapse_spaces(text) for text in nodes.texts if text]
    if (
        sum(map(len, texts)) > _MOST_CHARACTERS
        or sum(len(_NAMES.findall(text)) for text in texts) < _FEWEST_MENTIONS
    ):
        return False
    sentences = [text for text in texts if len(text) >= _SHORTEST_SENTENCE or _NAMES.search(text)]
    about = sum(len(text) for text in sentences if _MATTERS.search(text))
    if about < _SHARE * sum(map(len, sentences)):
        return False
    return any(len(text) <= _LONGEST_ANSWER and _ANSWER.match(text) for text in (*texts, *_buttons(nodes)))


def _buttons(nodes: Nodes) -> Iterator[str]:
    for tag, element in zip(nodes.tags, nodes.elements, strict=True):
        if tag == "button":
            yield collapse_spaces("".join(map(str, element.itertext())))
        elif tag == "input":
            yield collapse_spaces(element.get("value", ""))

"""The elements by which a page says what it is: titles, ``meta``, typed scripts, styles, microdata."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from denoise_crawler import kernel
from denoise_crawler.page.nodes import Element

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST = 20  # authors, dates
_MOST_TEXTS = 500
# What stands in the names of properties that are texts: those of articles, recipes, threads, products and jobs.
_TEXT_PROPERTIES = (
    "articleBody", "text", "description", "recipeIngredient", "ingredients", "recipeInstructions", "reviewBody",
    "additionalProperty", "responsibilities", "qualifications", "transcript",
)  # fmt: skip
# XPath finds attributes much faster than the elements that have them.
_PROPERTIES = etree.XPath("/descendant::*/@itemprop")
_TEXTS = etree.XPath("/descendant::*[not(self::meta)]/@*[name() = 'itemprop' or name() = 'property']")
_RELATIONS = etree.XPath("/descendant::a/@rel")
_AUTHOR_PAGES = ("/aut", "/byline/", "/journalist")  # stand in the address of an author's page, and in others
_ADDRESSES = etree.XPath(f"/descendant::a/@href[{' or '.join(f'contains(., {one!r})' for one in _AUTHOR_PAGES)}]")
_META = ("property", "name", "itemprop", "http-equiv", "content")
_PROGRAM = "javascript"  # stands in the type of a script that says nothing


class Meta(NamedTuple):
    """The attributes of a ``meta`` element, empty where it has none."""

    property: str
    name: str
    itemprop: str
    http_equiv: str
    content: str


@dataclass(frozen=True, slots=True, eq=False)
class SelfDescription:
    """What a page declares, in document order.

    All is read at once, so that it does not matter when a spider changes its tree later. ``scripts`` are those
    whose type says that they hold no program, with it; ``headings`` are of the first level; ``texts`` are the
    first elements with a property of microdata or RDFa that may be a text, each with its name; ``authors``,
    ``dates`` and ``changes`` are the first with the microdata properties ``author``, ``datePublished`` and
    ``dateModified``,
    ``author_links`` the first links to an author, ``author_pages`` links that may lead to the page of one, each
    with its address.
    """

    metas: list[Meta]
    scripts: list[tuple[str, Element]]
    titles: list[Element]
    headings: list[Element]
    times: list[Element]
    styles: list[Element]
    bases: list[Element]
    texts: list[tuple[str, Element]]
    authors: list[Element]
    dates: list[Element]
    changes: list[Element]
    author_links: list[Element]
    author_pages: list[tuple[str, Element]]

    @classmethod
    def of(cls, root: Element | None) -> Self:
        """Return what the page with this ``root`` declares, nothing for a page without one."""
        root = etree.Element("html") if root is None else root
        core = kernel.reader
        return cls(*(_read(root) if core is None else core.declared(root, _compiled_signs(core))))


def _read(root: Element) -> tuple[Any, ...]:
    """Return what the compiled core returns."""
    addresses: Any = _ADDRESSES(root)
    names: Any = _TEXTS(root)
    texts = (name for name in names if any(one in name for one in _TEXT_PROPERTIES))
    metas = [Meta(*(element.get(name, "") for name in _META)) for element in root.iter("meta")]
    typed = [(element.get("type", ""), element) for element in root.iter("script")]
    return (
        metas,
        [(kind, element) for kind, element in typed if kind and _PROGRAM not in kind],
        *(list(root.iter(tag)) for tag in ("title", "h1", "time", "style", "base")),
        [(str(name), name.getparent()) for name in islice(texts, _MOST_TEXTS)],
        *(_elements_with(root, _PROPERTIES, name) for name in ("author", "datePublished", "dateModified")),
        _elements_with(root, _RELATIONS, "author"),
        [(str(address), address.getparent()) for address in addresses],
    )


@lru_cache(maxsize=1)
def _compiled_signs(core: Any) -> Any:
    return core.Signs(Meta, _MOST, _MOST_TEXTS, _TEXT_PROPERTIES, _AUTHOR_PAGES, _PROGRAM)


def _elements_with(root: Element, naming: etree.XPath, name: str) -> list[Element]:
    """Return the first elements whose attribute, as found by ``naming``, equals ``name``."""
    attributes: Any = naming(root)
    return [attribute.getparent() for attribute in attributes if attribute == name][:_MOST]

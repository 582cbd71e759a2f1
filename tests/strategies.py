"""Hypothesis strategies: pages as they might be written, broken ones among them."""

from hypothesis import strategies as st

_TAGS = ["div", "p", "span", "b", "a", "ul", "li", "table", "tr", "td", "h1", "br", "img", "form", "body"]
_WORDS = st.sampled_from(["news", "来源", "新华网", "menu", "1999", "&amp;", "&", "<", "\ud800", "\0", " ", "é"])
_OPEN = st.builds(
    lambda tag, name, value: f'<{tag} {name}="{value}">',
    st.sampled_from(_TAGS),
    st.sampled_from(["class", "id", "width", "href", "src", "x:y", "data-a"]),
    st.sampled_from(["a", "b c", "post-123", "", "http://[bad", "/x", "50%"]),
)
_CLOSE = st.sampled_from(_TAGS).map(lambda tag: f"</{tag}>")
_ODD = st.sampled_from(
    ["<!-- c -->", "<script>x</script>", "<style>y</style>", "<![CDATA[z]]>", "<?pi?>", "<!x>", "</"]
)
_OF_TABLES = ["tr", "td", "caption", "tbody", "ul", "blockquote", "div"]
_TABLE_PARTS = [
    *(f"<{tag}>" for tag in _OF_TABLES),
    *(f"</{tag}>" for tag in _OF_TABLES),
    *("<th rowspan=2>", "<td colspan=2 rowspan=3>", "<li>", "<p>", "<h4>"),
]


def html_pages(max_size: int = 25) -> st.SearchStrategy[str]:
    """Strings of tags, text and oddities in any order: hardly any of them is well-formed."""
    return st.lists(st.one_of(_WORDS, _OPEN, _CLOSE, _ODD), max_size=max_size).map("".join)


def html_tables() -> st.SearchStrategy[str]:
    """A table whose parts come in any order, with numbers between them that show a change of the order."""
    parts = st.lists(st.sampled_from(_TABLE_PARTS), max_size=30)
    return parts.map(lambda parts: "<table>" + "".join(f"{part}{n} " for n, part in enumerate(parts)) + "</table>")

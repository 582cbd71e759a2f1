"""The options of the text output."""

from __future__ import annotations

from dataclasses import dataclass, field

from denoise_crawler.changes import MAX_PAGES

KEEP, LEAVE = "keep", "leave"
CHOICES = (KEEP, LEAVE)
CHANGES = NO_CHANGES, MARK_UNCHANGED, DROP_UNCHANGED = "no", "mark", "drop"


@dataclass(frozen=True, slots=True)
class Writing:
    r"""The options of the text output.

    Args:
        form: The name of a form of ``denoise_crawler.output.forms.FORMS``.
        extractor: A library that extracts the text once the noise is removed; None if we write it.
        extractor_options: The options of the library.
        explain: Whether to explain why each block was kept or dropped.
        min_confidence: A page with a lower confidence is unsure (0 to 1).
        low_confidence: What becomes of unsure pages: ``mark``, ``drop``, ``render`` (by a crawl), the name of an
            extractor or a function (``module:function``) from URL and HTML to text.
        links: ``keep``, or ``leave`` to write the text of links without their addresses.
        pictures: ``keep``, or ``leave`` to leave out pictures and embedded videos and posts.
        front_matter: Whether Markdown begins with the page's metadata in YAML.
        more_metadata: Whether description, picture, canonical address, site name, tags and the date of the last
            change are read as well.
        records: Whether to return the posts of a thread and the items of a list one by one.
        fields: Whether to return the values of a product by name.
        json_ld: Whether to return the page's JSON-LD as data.
        changes: ``mark`` to tell what is new of a page (its hash, its copies, whether it is unchanged), ``drop``
            to drop unchanged pages as well, ``no`` for neither.
        history: The file that remembers pages from one run to the next; without one, nothing is ``unchanged``.
        history_pages: How many pages it remembers.

    Example:
        >>> from denoise_crawler import denoise_pages
        >>> page = ("https://a.test/", "<h1>News</h1><p>A story.</p>")
        >>> next(denoise_pages([page], method="link_ratio", writing=Writing("markdown"))).text
        '# News\n\nA story.'

    """

    form: str = "text"
    extractor: str | None = None
    extractor_options: dict[str, object] = field(default_factory=dict, hash=False)
    explain: bool = False
    min_confidence: float = 0.0
    low_confidence: str = "mark"
    links: str = KEEP
    pictures: str = KEEP
    front_matter: bool = False
    more_metadata: bool = False
    records: bool = False
    fields: bool = False
    json_ld: bool = False
    changes: str = NO_CHANGES
    history: str | None = None
    history_pages: int = MAX_PAGES

    @property
    def reads_elements(self) -> bool:
        """Whether a page is written from the elements of its tree: as anything but text and metadata."""
        data = self.explain or self.records or self.fields or self.json_ld
        return self.form != "text" or self.extractor is not None or data

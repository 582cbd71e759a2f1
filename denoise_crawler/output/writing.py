"""The options of the text output."""

from __future__ import annotations

from dataclasses import dataclass, field

KEEP, LEAVE = "keep", "leave"
CHOICES = (KEEP, LEAVE)


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

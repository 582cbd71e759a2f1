"""The page of a story, as portals served it before 2021: the text with noise around it."""

from __future__ import annotations

from denoise_crawler.demo.articles import Article, ArticleBlock, Slideshow, article_path, articles, slideshow_path
from denoise_crawler.demo.breakage import BREAKAGES
from denoise_crawler.demo.frame import Frame, render, render_in_frame
from denoise_crawler.demo.texts import SITE, seeded_number

GB18030_SLUG = "小小道歉博物馆"
LONGEST_MARKED = 60


def charset_of(article: Article) -> str:
    """Return the encoding of the article's page."""
    return "gb18030" if article.slug == GB18030_SLUG else "utf-8"


def breakage_of(article: Article) -> str | None:
    """Return how the HTML of an article is broken; None for two pages of three."""
    place = articles().index(article)
    if place % 3 != 1 or charset_of(article) != "utf-8":
        return None
    return list(BREAKAGES)[place // 3 % len(BREAKAGES)]


def period_of(article: Article) -> str:
    """Return the two-day period in which a story appeared; slow boxes change with it."""
    return str(article.time.toordinal() // 2)


def article_page(article: Article, base: str) -> str:
    """Return the page of an article, broken if :func:`breakage_of` says so."""
    frame = Frame(
        article.lang,
        article_path(article),
        article.title,
        article.abstract,
        "article",
        article.source_url,
        _linked_data(article, base) if seeded_number(article.id + "data") % 2 else {},
        charset_of(article),
    )
    html = render_in_frame(
        "article.html", frame, base, period_of(article), article=article, blocks=_body_blocks(article)
    )
    kind = breakage_of(article)
    return BREAKAGES[kind](html) if kind else html


def slideshow_page(show: Slideshow, base: str) -> str:
    """Return the page of a slideshow."""
    frame = Frame(show.lang, slideshow_path(show), show.title, show.abstract, "gallery", show.source_url)
    return render_in_frame("slideshow.html", frame, base, "pictures", show=show)


def _linked_data(article: Article, base: str) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.title,
        "datePublished": article.published,
        "author": {"@type": "Person", "name": article.author},
        "publisher": {"@type": "Organization", "name": SITE[article.lang]},
        "mainEntityOfPage": base + article_path(article),
    }


def _body_blocks(article: Article) -> list[str]:
    """Return the body as HTML, with the names of the boxes that stand between its blocks."""
    parts = [_body_block(article, place) for place in range(len(article.paragraphs))]
    middle = 2 + seeded_number(article.id + "middle") % 2
    parts[middle:middle] = ["read more", "advertisement"]
    if seeded_number(article.id + "picture") % 3:
        parts.insert(1, "picture")
    return parts


def _body_block(article: Article, place: int) -> str:
    """Return a block as HTML; of some paragraphs the first clause is in bold or a link."""
    block = article.paragraphs[place]
    mark = "，" if article.lang == "zh" else ", "
    first, comma, rest = block.lines[0].partition(mark)
    choice = seeded_number(f"{article.id}|{place}") % 6
    if block.kind != "text" or not comma or choice > 1 or len(first) > LONGEST_MARKED:
        return block_html(block)
    target = f"/{article.locale}/{article.section}" if choice else ""
    return render("marked_paragraph.html", first=first, rest=mark + rest, target=target)


def block_html(block: ArticleBlock) -> str:
    """Return a body block as plain HTML."""
    return render("block.html", block=block)

"""The page of a story, as portals served it before 2021: the text with noise around it."""

from __future__ import annotations

from denoise_crawler.demo import boxes
from denoise_crawler.demo.articles import (
    Article,
    ArticleBlock,
    Slideshow,
    article_path,
    articles,
    newest,
    slideshow_path,
)
from denoise_crawler.demo.breakage import BREAKAGES
from denoise_crawler.demo.chrome import Frame, breadcrumb, link, page, text
from denoise_crawler.demo.words import SITE, WORDS, day, number, pick

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


def article_page(article: Article, base: str) -> str:
    """Return the page of an article, broken if :func:`breakage_of` says so."""
    frame = _article_frame(article, base)
    main = f"""{breadcrumb(frame, article.section)}
{boxes.advertisement(frame, "top")}
<article class="articlecontent">
<header><h1>{text(article.title)}</h1>
{_byline(article)}
{boxes.share_bar(frame, article)}</header>
<section class="articlebody">
{_body(frame, article)}
</section>
</article>
{boxes.comments(article)}
{boxes.related(frame, base)}"""
    html = page(frame, base, main, boxes.rail(frame, boxes.period_of(article)))
    kind = breakage_of(article)
    return BREAKAGES[kind](html) if kind else html


def slideshow_page(show: Slideshow, base: str) -> str:
    """Return the page of a slideshow."""
    frame = Frame(show.lang, slideshow_path(show), show.title, show.abstract, "gallery", show.source_url)
    slides = "\n".join(
        f'<div class="slide">{boxes.picture_link(f"{show.id}-{place}", title)}\n'
        f"<h2>{text(title)}</h2>\n<p>{text(words)}</p></div>"
        for place, (title, words) in enumerate(show.slides, 1)
    )
    main = f"""{breadcrumb(frame, show.section)}
<article class="articlecontent"><header><h1>{text(show.title)}</h1></header>
<div class="gallery">
{slides}
</div></article>
{boxes.related(frame, base)}"""
    return page(frame, base, main, boxes.rail(frame, "pictures"))


def _article_frame(article: Article, base: str) -> Frame:
    linked = _linked_data(article, base) if number(article.id + "data") % 2 else {}
    return Frame(
        article.lang,
        article_path(article),
        article.title,
        article.abstract,
        "article",
        article.source_url,
        linked,
        charset_of(article),
    )


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


def _byline(article: Article) -> str:
    words = WORDS[article.lang]
    by = f"{words['by']} {article.author}" if article.lang == "en" else f"{words['by']}{article.author}"
    return f"""<div class="byline"><span class="author">{text(by)}</span>
{link(article.source_url, article.provider.name, "provider")}
<time datetime="{article.published}">{text(day(article.lang, article.time))}</time></div>"""


def _body(frame: Frame, article: Article) -> str:
    parts = [_block(article, place) for place in range(len(article.paragraphs))]
    middle = 2 + number(article.id + "middle") % 2
    parts[middle:middle] = [_read_more(frame, article), boxes.advertisement(frame, "body")]
    if number(article.id + "picture") % 3:
        parts.insert(1, _figure(article))
    return "\n".join([*parts, f'<p class="follow">{text(WORDS[article.lang]["follow"])}</p>'])


def _figure(article: Article) -> str:
    credit = f"{WORDS[article.lang]['credit']} {article.provider.name}"
    return f"""<figure>{boxes.picture_link(article.id, article.title)}
<figcaption>© {text(credit)}</figcaption></figure>"""


def _read_more(frame: Frame, article: Article) -> str:
    others = [other for other in newest(article.locale) if other != article]
    (other,) = pick(f"more|{article.id}", others, 1)
    target = article_path(other) + "#comments"
    return f'<p class="more">{text(WORDS[frame.lang]["read_more"])} {link(target, other.title)}</p>'


def _block(article: Article, place: int) -> str:
    block = article.paragraphs[place]
    if block.kind == "text":
        return f"<p>{_inline(block.lines[0], article, place)}</p>"
    return block_html(block)


def block_html(block: ArticleBlock) -> str:
    """Return a body block as plain HTML."""
    if block.kind == "list":
        return "<ul>" + "".join(f"<li>{text(line)}</li>" for line in block.lines) + "</ul>"
    if block.kind == "table":
        return f"<table>{''.join(_row(row) for row in block.rows)}</table>"
    tag = {"text": "p", "heading": "h2", "quote": "blockquote"}[block.kind]
    return f"<{tag}>{text(block.lines[0])}</{tag}>"


def _row(row: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>"


def _inline(words: str, article: Article, place: int) -> str:
    """Return the text of a paragraph, sometimes with its first clause in bold or as a link."""
    mark = "，" if article.lang == "zh" else ", "
    first, comma, rest = words.partition(mark)
    choice = number(f"{article.id}|{place}") % 6
    if not comma or choice > 1 or len(first) > LONGEST_MARKED:
        return text(words)
    if choice == 0:
        return f"<strong>{text(first)}</strong>{mark}{text(rest)}"
    return f"{link(f'/{article.locale}/{article.section}', first)}{mark}{text(rest)}"

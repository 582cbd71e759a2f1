"""The boxes of the demo site's pages: teasers, ads, lists, sharing, newsletter and comments."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from denoise_crawler.demo.articles import Article, article_path, newest
from denoise_crawler.demo.chrome import Frame, link, text
from denoise_crawler.demo.words import ADS, WORDS, day, number, pick

MISSING_ID = "AA0gone"


def picture_link(story_id: str, alt: str) -> str:
    """Return a linked picture."""
    source = f"/images/{story_id}.svg"
    return f'<a class="picture" href="{source}"><img src="{source}" alt="{escape(alt)}"></a>'


def teaser(article: Article) -> str:
    """Return the card of an article on a list page."""
    meta = f"{article.provider.name} · {day(article.lang, article.time)}"
    return f"""<div class="teaser">{picture_link(article.id, article.title)}
<h3>{link(article_path(article), article.title)}</h3>
<p>{text(article.abstract)}</p>
<span class="meta">{text(meta)}</span></div>"""


def advertisement(frame: Frame, slot: str) -> str:
    """Return an ad whose text depends on the page and the slot."""
    label = WORDS[frame.lang]["ad"]
    (words,) = pick(f"{frame.path}|{slot}", ADS[frame.lang], 1)
    return f"""<div class="ad-slot ad-{slot}"><span class="label">{text(label)}</span>
<p>{text(words)}</p></div>"""


def share_bar(frame: Frame, article: Article) -> str:
    """Return the sharing links; the copied link carries tracking parameters."""
    words, path = WORDS[frame.lang], article_path(article)
    tracked = f"{path}?utm_source=share&ocid=HL{number(article.id) % 900 + 100}"
    mail = f"mailto:?subject={quote(article.title)}"
    return f"""<div class="share-bar"><span>{text(words["share"])}</span>
<ul><li>{link(tracked, words["copy"])}</li><li>{link(mail, words["mail"])}</li>
<li>{link("javascript:window.print()", words["print"])}</li>
<li>{link(path + "#comments", words["comments"])}</li></ul></div>"""


def newsletter(frame: Frame) -> str:
    """Return the newsletter box, the same on every page of a language."""
    words = WORDS[frame.lang]
    return f"""<div class="newsletter"><h4>{text(words["newsletter"])}</h4>
<p>{text(words["newsletter_text"])}</p>
<form><input type="email" placeholder="{escape(words["email"])}">
<button>{text(words["subscribe"])}</button></form></div>"""


def most_read(frame: Frame, period: str) -> str:
    """Return the list of most read stories, which changes with the period; one link is dead."""
    words = WORDS[frame.lang]
    chosen = pick(f"most read|{period}", newest(frame.locale), 6)
    items = [f"<li>{link(article_path(a), a.title)}</li>" for a in chosen]
    stale = f"/{frame.locale}/business/harbour-cranes/ar-{MISSING_ID}"
    items.insert(number(period) % 6, f"<li>{link(stale, words['stale'])}</li>")
    listed = "\n".join(items)
    return f'<div class="most-read"><h4>{text(words["most_read"])}</h4>\n<ol>\n{listed}\n</ol></div>'


def related(frame: Frame, base: str) -> str:
    """Return stories related to the page; one link is absolute, one tracked, one an old URL."""
    words = WORDS[frame.lang]
    others = [a for a in newest(frame.locale) if article_path(a) != frame.path]
    chosen = pick(f"related|{frame.path}", others, 5)
    targets = [article_path(article) for article in chosen]
    targets[1] = base + targets[1]
    targets[2] += "?ocid=related&utm_medium=rail"
    items = [_related_item(article, target) for article, target in zip(chosen[:4], targets, strict=False)]
    items.append(f"<li>{link('/archive/' + chosen[4].id, words['archive'], 'old')}</li>")
    listed = "\n".join(items)
    return f'<div class="related"><h3>{text(words["related"])}</h3>\n<ul>\n{listed}\n</ul></div>'


def _related_item(article: Article, target: str) -> str:
    return f"<li>{link(target, article.title)}<p>{text(article.abstract)}</p></li>"


def comments(article: Article) -> str:
    """Return the readers' comments, or an invitation to write the first."""
    words = WORDS[article.lang]
    items = [
        f"""<li><span class="who">{text(comment.author)}</span><p>{text(comment.text)}</p>
<button>{text(words["reply"])}</button> <button>{text(words["report"])}</button></li>"""
        for comment in article.comments
    ]
    listed = "<ul>\n" + "\n".join(items) + "\n</ul>" if items else f"<p>{text(words['no_comments'])}</p>"
    return f"""<section id="comments"><h3>{text(words["comments"])} ({len(items)})</h3>
{listed}
</section>"""


def rail(frame: Frame, period: str) -> str:
    """Return the right rail: ad, most read, newsletter, ad."""
    parts = [advertisement(frame, "rail-top"), most_read(frame, period), newsletter(frame)]
    return "\n".join([*parts, advertisement(frame, "rail-bottom")])


def period_of(article: Article) -> str:
    """Return the two-day period in which a story appeared; slow boxes change with it."""
    return str(article.time.toordinal() // 2)

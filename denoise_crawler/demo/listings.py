"""The demo site's front, section and small pages."""

from __future__ import annotations

from denoise_crawler.demo import boxes
from denoise_crawler.demo.articles import LOCALES, Article, article_path, newest
from denoise_crawler.demo.chrome import Frame, breadcrumb, link, page, text
from denoise_crawler.demo.words import ABOUT, SECTIONS, SITE, WORDS

FRONT_SIZE = 12
SECTION_SIZE = 4


def front_page(path: str, locale: str, number: int, base: str) -> str | None:
    """Return one page of a locale's front, or None past the last; ``path`` is ``/`` or the locale's."""
    lang = _lang(locale)
    shown = _slice(newest(locale), number, FRONT_SIZE)
    if not shown:
        return None
    frame = Frame(lang, _numbered(path, number), SITE[lang], WORDS[lang]["newsletter_text"], "front")
    main = f"""<h1>{text(SITE[lang])}</h1>
{_teasers(frame, shown)}
{_pages(frame, path, number, len(newest(locale)), FRONT_SIZE)}
{_other_edition(lang)}"""
    return page(frame, base, main, boxes.rail(frame, boxes.period_of(shown[0])))


def section_page(locale: str, section: str, number: int, base: str) -> str | None:
    """Return one page of a section's list, or None past the last."""
    lang, path = _lang(locale), f"/{locale}/{section}"
    stories = newest(locale, section)
    shown = _slice(stories, number, SECTION_SIZE)
    if not shown:
        return None
    name = SECTIONS[lang][section]
    frame = Frame(lang, _numbered(path, number), name, f"{name}: {SITE[lang]}", "section")
    main = f"""{breadcrumb(frame, section)}
<h1>{text(name)}</h1>
{_teasers(frame, shown)}
{_pages(frame, path, number, len(stories), SECTION_SIZE)}"""
    return page(frame, base, main, boxes.rail(frame, boxes.period_of(shown[0])))


def small_page(lang: str, path: str, heading: str, words: str, base: str) -> str:
    """Return a page with one heading and one paragraph in the site's frame."""
    frame = Frame(lang, path, heading, words, "small")
    main = f'<div class="small-page"><h1>{text(heading)}</h1>\n<p>{text(words)}</p></div>'
    return page(frame, base, main, boxes.rail(frame, "small"))


def about_page(locale: str, name: str, base: str) -> str | None:
    """Return one of the pages linked from the footer."""
    if name not in ABOUT:
        return None
    lang = _lang(locale)
    path = f"/{locale}/about" if name == "about" else f"/{locale}/about/{name}"
    return small_page(lang, path, SITE[lang], ABOUT[name][lang], base)


def _lang(locale: str) -> str:
    return next(lang for lang, name in LOCALES.items() if name == locale)


def _slice(stories: list[Article], number: int, size: int) -> list[Article]:
    return stories[(number - 1) * size : number * size] if number > 0 else []


def _numbered(path: str, number: int) -> str:
    return path if number == 1 else f"{path}?page={number}"


def _teasers(frame: Frame, shown: list[Article]) -> str:
    cards = [boxes.teaser(article) for article in shown]
    cards.insert(2, boxes.advertisement(frame, "list"))
    listed = "\n".join(cards)
    return f'<div class="teasers">\n{listed}\n</div>'


def _pages(frame: Frame, path: str, number: int, total: int, size: int) -> str:
    words = WORDS[frame.lang]
    links = []
    if number > 1:
        target = f"?page={number - 1}" if number > 2 else path
        links.append(link(target, words["previous"], "previous"))
    if number * size < total:
        links.append(link(f"?page={number + 1}", words["next"], "next"))
    return f'<div class="pages"><span>{text(words["page"])} {number}</span> {" ".join(links)}</div>'


def _other_edition(lang: str) -> str:
    other = "zh" if lang == "en" else "en"
    items = "\n".join(
        f"<li>{link(article_path(article), article.title)}</li>" for article in newest(LOCALES[other])[:3]
    )
    heading = link("/" + LOCALES[other], SITE[other])
    return f'<div class="other-edition"><h3>{heading}</h3>\n<ul>\n{items}\n</ul></div>'

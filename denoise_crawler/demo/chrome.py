"""The frame around every page of the demo site: head, top bar, navigation, footer and cookie banner."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from denoise_crawler.demo.articles import LOCALES, article_path, newest, slideshow_path, slideshows
from denoise_crawler.demo.words import FOOTER, SECTIONS, SITE, WORDS, number

PIXEL = "/pixel.gif"


@dataclass(frozen=True)
class Frame:
    """The data of a page for its frame; ``path`` also seeds everything that varies."""

    lang: str
    path: str
    title: str
    description: str
    kind: str
    canonical: str = ""
    data: dict[str, object] = field(default_factory=dict)
    charset: str = "utf-8"

    @property
    def locale(self) -> str:
        """Return the locale of the page, such as ``zh-cn``."""
        return LOCALES[self.lang]


def text(value: str) -> str:
    """Return the value as HTML text."""
    return escape(value, quote=False)


def link(target: str, words: str, kind: str = "") -> str:
    """Return an anchor, with a class if given."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<a{attribute} href="{escape(target)}">{text(words)}</a>'


def page(frame: Frame, base: str, main: str, rail: str) -> str:
    """Return a page: the main column and the right rail inside the site's frame."""
    return f"""<!DOCTYPE html>
<html lang="{frame.locale}">
{_head(frame, base)}
<body class="page-{frame.kind}">
<!-- harbour-portal 4.2 node {number(frame.path) % 16} -->
<a class="skip" href="#main">{text(WORDS[frame.lang]["skip"])}</a>
{_noscript(frame)}
{_top_bar(frame)}
{_masthead(frame)}
{_navigation(frame)}
<div id="page" class="wrap">
<main id="main">
{main}
</main>
<aside id="rail">
{rail}
</aside>
</div>
{_footer(frame)}
{_cookie_banner(frame)}
{_scripts(frame)}
</body>
</html>
"""


def _head(frame: Frame, base: str) -> str:
    title = f"{frame.title} - {SITE[frame.lang]}"
    canonical = frame.canonical or base + frame.path
    data = json.dumps(frame.data, ensure_ascii=False).replace("</", "<\\/")
    linked = f'\n<script type="application/ld+json">{data}</script>' if frame.data else ""
    return f"""<head>
<meta charset="{frame.charset}">
<title>{text(title)}</title>
<meta name="description" content="{escape(frame.description)}">
<meta property="og:title" content="{escape(frame.title)}">
<meta property="og:site_name" content="{escape(SITE[frame.lang])}">
<meta property="og:url" content="{escape(base + frame.path)}">
<link rel="canonical" href="{escape(canonical)}">
<link rel="alternate" type="application/rss+xml" title="RSS" href="/rss/{frame.locale}">
<link rel="stylesheet" href="/static/site.css">
<style>.tide-{number(frame.path) % 9} {{ border-top: 3px solid #17435f; }}</style>
<script>window.ledger = {{page: {json.dumps(frame.path)}, slots: {number(frame.path) % 5}}};</script>{linked}
</head>"""


def _noscript(frame: Frame) -> str:
    words = WORDS[frame.lang]["noscript"]
    return f'<noscript><p class="no-js">{text(words)}</p><img src="{PIXEL}?js=0" alt=""></noscript>'


def _top_bar(frame: Frame) -> str:
    words = WORDS[frame.lang]
    degrees = 3 + number(frame.path + "weather") % 14
    other = "zh-cn" if frame.lang == "en" else "en-us"
    return f"""<div id="topbar">
<span class="date">{text(words["today"])}</span>
<span class="weather">{text(words["weather"])} {degrees} °C</span>
{link("/" + other, words["other"], "edition")}
{link("/private/login?back=" + quote(frame.path, safe=""), words["login"], "login")}
</div>"""


def _masthead(frame: Frame) -> str:
    name = text(SITE[frame.lang])
    return f"""<header class="masthead"><a class="logo" href="/{frame.locale}">{name}</a>
<form action="/{frame.locale}" method="get"><input type="search" name="q">
<button>OK</button></form></header>"""


def _navigation(frame: Frame) -> str:
    words, items = WORDS[frame.lang], []
    for section, name in SECTIONS[frame.lang].items():
        path = f"/{frame.locale}/{section}"
        focus = newest(frame.locale, section)[-1]
        items.append(
            f"""<li>{link(path, name)}
<ul class="sub"><li>{link(path, words["latest"])}</li><li>{link(path + "?page=2", words["earlier"])}</li>
<li>{link(article_path(focus), words["focus"])}</li></ul></li>"""
        )
    shows = "\n".join(
        f"<li>{link(slideshow_path(show), show.title)}</li>" for show in slideshows() if show.lang == frame.lang
    )
    return f"""<nav id="sitenav"><ul>
<li>{link("/" + frame.locale, words["home"])}</li>
{chr(10).join(items)}
<li>{link(f"/{frame.locale}/culture/storm-week/gm-GG1gone", words["pictures"])}
<ul class="sub">{shows}</ul></li>
</ul></nav>"""


def breadcrumb(frame: Frame, section: str) -> str:
    """Return the links from the front page to the page's section."""
    words = WORDS[frame.lang]
    crumbs = f"{link('/' + frame.locale, words['home'])} &rsaquo; "
    crumbs += link(f"/{frame.locale}/{section}", SECTIONS[frame.lang][section])
    return f'<div class="breadcrumb">{crumbs}</div>'


def _footer(frame: Frame) -> str:
    columns = "\n".join(
        f'<div class="column"><h4>{text(name)}</h4><ul>'
        + "".join(f"<li>{link(target, label)}</li>" for label, target in links)
        + "</ul></div>"
        for name, links in FOOTER[frame.lang]
    )
    return f"""<footer id="footer">
<div class="columns">
{columns}
</div>
<p class="copyright">{text(WORDS[frame.lang]["copyright"])}</p>
</footer>"""


def _cookie_banner(frame: Frame) -> str:
    words = WORDS[frame.lang]
    return f"""<div id="cookie-banner" role="dialog"><p>{text(words["cookie"])}</p>
<button>{text(words["accept"])}</button> <button>{text(words["settings"])}</button></div>"""


def _scripts(frame: Frame) -> str:
    view = number(frame.path + "view") % 100_000
    return f"""<script>
(function () {{
  var box = document.getElementById("cookie-banner");
  box.addEventListener("click", function () {{ box.style.display = "none"; }});
  document.title = document.title.replace("<b>", "");
}})();
</script>
<img class="pixel" src="{PIXEL}?view={view}" width="1" height="1" alt="">
<!-- served from cache: {view % 7} -->"""

"""The site that the small projects crawl: pages of ten quotes, and shelves with a page for each book."""

from random import Random

from tests.guests.site import html, image, story
from tests.loopback import HTML, Answer

QUOTE_PAGES, BOOK_PAGES, BOOKS_OF_A_PAGE = 8, 3, 4
BOOKS = BOOK_PAGES * BOOKS_OF_A_PAGE


def _next(address: str, page: int, last: int) -> str:
    link = f'<li class="next"><a href="{address}/{page + 1}/">Next</a></li>' if page < last else ""
    return f'<ul class="pager">{link}</ul>'


def _quote(page: int, number: int) -> str:
    name = f"quote {page} {number}"
    tags = "".join(f'<a class="tag" href="/tag/{tag}/">{tag}</a>' for tag in story(name)[1].split()[:3])
    author = " ".join(story(name)[2].split()[:2]).title()
    return (
        f'<div class="quote"><span class="text">“{story(name)[0]}”</span>'
        f'<span>by <small class="author">{author}</small></span><div class="tags">Tags: {tags}</div></div>'
    )


def quotes(page: int) -> str:
    """Return a page of ten quotes."""
    told = "".join(_quote(page, number) for number in range(10))
    return html(f"quotes-{page}", told + _next("/quotes/page", page, QUOTE_PAGES))


def shelf(page: int) -> str:
    """Return a page of links to books."""
    first = (page - 1) * BOOKS_OF_A_PAGE
    links = "".join(
        f'<li class="entry"><a href="/books/item/{number}">Book {number}</a></li>'
        for number in range(first, first + BOOKS_OF_A_PAGE)
    )
    return html(f"shelf-{page}", f"<ol>{links}</ol>" + _next("/books/page", page, BOOK_PAGES))


def book(number: int) -> str:
    """Return the page of a book."""
    random = Random(f"book {number}")
    price = f'<p class="price">£{random.uniform(5, 50):.2f}</p>'
    table = f"<table><tr><th>Pages</th><td>{random.randint(80, 900)}</td></tr>"
    table += f"<tr><th>Stock</th><td>{random.randint(0, 9)}</td></tr></table>"
    pictures = "".join(f'<img src="/image/book-{number}-{side}.png" alt="">' for side in ("front", "back"))
    return html(f"book-{number}", price + table + pictures)


def answer(path: str) -> Answer:
    """Answer as the site does."""
    kind, _, name = path.strip("/").partition("/")
    last = name.rpartition("/")[2]
    if kind == "image":
        return Answer(200, {"Content-Type": "image/png"}, image(last))
    if kind == "quotes":
        return Answer(200, HTML, quotes(int(last)).encode())
    if name.startswith("page/"):
        return Answer(200, HTML, shelf(int(last)).encode())
    if name.startswith("item/"):
        return Answer(200, HTML, book(int(last)).encode())
    return Answer(404, HTML, b"<p>There is no such page.")

"""How well records are found: the posts of threads with their users, and the named values of products.

All goes the usual road: each site is learned from its pages of the set, then its pages are cleaned with records
and fields. The sites of a set fall into two halves by a hash of their name: rules were tuned on the tuning half,
the figures that count are those of the reporting half.

A post is right when a record has 90 % of its words and little else (the words that both have in order are 90 % of
those of the longer), one to one; it counts with its user when the names are equal as well. A value is right when
it is one of those that the set allows; it counts where the page shows it to readers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.bench import addressed, folder_with, options, say, table, write_figures
from benchmarks.thread import FOUND, in_order
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import HALVES, GoldPage, Post, by_site, half, read_gold, token_sequence
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.records.product import amount_of, currency_of

THREADS, PRODUCTS = "forums", "products"
FIELDS = ("price", "currency", "sku", "gtin", "mpn", "brand", "availability")
_ALWAYS_SHOWN = frozenset({"currency", "availability"})  # said in other words


def cleaned(folder: Path, name: str, part: int) -> Iterator[tuple[GoldPage, CleanPage]]:
    """Yield the pages of one half of a set with their clean pages, each site learned from all of its pages."""
    for site, pages in by_site(read_gold(folder, name)).items():
        if half(site) == part:
            denoiser = Denoiser(writing=Writing(records=True, fields=True))
            parsed = [Page.parse(url, html) for url, html in addressed(pages)]
            for page in parsed:
                denoiser.learn(page)
            for gold, page in zip(pages, parsed, strict=True):
                yield gold, denoiser.clean(page).clean_page


def matched(records: Sequence[dict[str, str]], posts: Sequence[Post]) -> list[tuple[dict[str, str], Post]]:
    """Return the records that are one post each, with the post; each post counts once."""
    left = [(post, words) for post in posts if (words := token_sequence(post.text))]
    found = []
    for record in records:
        said = token_sequence(record["text"])
        for place, (post, words) in enumerate(left):
            if said and in_order(words, said) >= FOUND * max(len(words), len(said)):
                found.append((record, post))
                del left[place]
                break
    return found


def count_posts(folder: Path, part: int) -> Counter[str]:
    """Count posts, those with a user, records, and what is right of them."""
    counts: Counter[str] = Counter()
    for gold, page in cleaned(folder, THREADS, part):
        records = [record for record in page.records or () if record["text"]]
        pairs = matched(records, gold.posts)
        with_user = [(record, post) for record, post in pairs if post.user]
        counts["pages"] += 1
        counts["posts"] += sum(bool(token_sequence(post.text)) for post in gold.posts)
        counts["posts with a user"] += sum(bool(post.user) for post in gold.posts)
        counts["records"] += len(records)
        counts["right"] += len(pairs)
        counts["right with user"] += sum(
            _bare(record.get("user", "")) == _bare(post.user) for record, post in with_user
        )
        counts["with time"] += sum("time" in record for record, _ in pairs)
        counts["with link"] += sum("link" in record for record, _ in pairs)
    return counts


def count_values(folder: Path, part: int) -> Counter[str]:
    """Count by name the values that pages show, those that were said, and those that were said right."""
    counts: Counter[str] = Counter()
    for gold, page in cleaned(folder, PRODUCTS, part):
        visible, fields = _bare(clean_text(Page.parse(gold.address, gold.html))), page.fields or {}
        counts["pages"] += 1
        for name, wanted in gold.values.items():
            if name in _ALWAYS_SHOWN or any(_is_shown(value, visible) for value in wanted):
                counts[f"{name} shown"] += 1
                counts[f"{name} said"] += name in fields
                counts[f"{name} right"] += name in fields and any(
                    _is_same(name, fields[name], value) for value in wanted
                )
    return counts


def _is_shown(value: str, visible: str) -> bool:
    return _bare(value) in visible


def _is_same(name: str, said: str, wanted: str) -> bool:
    if name == "price":
        return float(amount_of(said) or -1) == float(amount_of(wanted) or -2)
    if name == "currency":
        codes = [currency_of(f"{one} 1") or one for one in (said, wanted)]
        return len(set(codes)) == 1 or ("$" in codes and any(code in _DOLLARS for code in codes))
    return _bare(said) == _bare(wanted)


_DOLLARS = frozenset({"USD", "CAD", "AUD", "NZD", "TWD", "CLP", "MXN", "ARS"})


def _bare(text: str | None) -> str:
    return "".join(filter(str.isalnum, text or "")).casefold()


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "–"


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = options(__doc__).parse_args(argv)
    folder, figures = folder_with([THREADS, PRODUCTS]), {}
    posts, values = {}, {}
    for name, part in HALVES.items():
        say(f"{name} half")
        posts[name], values[name] = count_posts(folder, part), count_values(folder, part)
        figures[name] = {"posts": posts[name], "values": values[name]}
    posts["both"] = posts["tuning"] + posts["reporting"]
    values["both"] = values["tuning"] + values["reporting"]
    rows = [
        [
            f"{name}, {found['pages']} pages",
            _share(found["right"], found["posts"]),
            _share(found["right"], found["records"]),
            _share(found["right with user"], found["posts with a user"]),
            _share(found["with time"], found["right"]),
            _share(found["with link"], found["right"]),
        ]
        for name, found in posts.items()
    ]
    heads = ["half", "posts found", "records right", "right with user, of posts that have one", "time", "link"]
    print(f"posts of {THREADS}\n\n{table(heads, rows)}")
    rows = [
        [
            f"{name}, {found['pages']} pages",
            *(_share(found[f"{one} right"], found[f"{one} shown"]) for one in FIELDS),
        ]
        for name, found in values.items()
    ]
    print(f"\nvalues of {PRODUCTS}: right, of those that the page shows\n\n{table(['half', *FIELDS], rows)}")
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()

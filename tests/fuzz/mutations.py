"""Real pages with some of their bytes changed, and input NUMBER of a seed made of them."""

from collections.abc import Callable
from functools import cache
from itertools import islice
from random import Random

from denoise_crawler.evaluation import corpus_folder, read_gold
from examples.demo_site.replies import article_path, articles, respond
from tests.fuzz.markup import encoded, page, repeated

GOLD_SETS = ("daniel", "dragnet", "l3s_gn1", "wcxb", "christianbook")
_OF_EACH_SET = 60
_LARGEST = 40_000  # bytes of a page taken whole; of others a slice
_SLICE = 4_000
_TOKENS = (
    *(b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"\0", b'"', b"'", b"=", b"&", b"&#x0;"),
    *(b"<p>", b"<div>", b"</div>", b"<table>", b"<td>", b"</table>", b"<a href=x>", b"</a>", b"<script>"),
    *(b"<style>", b"<body>", b"</body>", b"</html>", b"<select>", b"<svg>", b"<plaintext>", b"<title>"),
    *(b"<frameset>", b"<base href=//>", b"charset=utf-16", b"\xff\xfe", b"\xe2\x80\xae", b"\xed\xa0\x80"),
    *(b"<meta charset=idna>", b"<meta charset=punycode>", b"<meta charset=zlib>", b"charset=cp037", b"<video>"),
    *(b"<meta http-equiv=refresh content=0>", b"<base href=javascript:x target=_top>", b"<p onclick=x()>"),
    *(b"<a href=javascript:x>", b"<iframe srcdoc=x>", b"<noembed>", b"<xmp>", b"<math>", b"<link rel=preconnect>"),
    *(b"\xc3", b"\xe4\xb8", b"\x81\x30", b"\r", b"\x1a"),
)  # fmt: skip


@cache
def real_pages() -> tuple[bytes, ...]:
    """Return the pages to start from: those of the bundled site and, where there is one, some of the corpus."""
    base = "https://ledger.example"
    targets = ["/", "/en-us", "/zh-cn", "/rss/en-us", "/en-us/about", *map(article_path, articles())]
    pages = [respond(target, base).body for target in targets]
    folder = corpus_folder()
    for name in GOLD_SETS:
        if folder is not None and (folder / f"{name}.jsonl.xz").is_file():
            gold = islice(read_gold(folder, name), _OF_EACH_SET)
            pages += [page.html.encode("utf-8", "replace") for page in gold]
    return tuple(pages)


def mutated(random: Random, most: int = 8) -> bytes:
    """Return a real page, or a part of one, changed in up to ``most`` places."""
    source = random.choice(real_pages())
    if len(source) > _LARGEST or random.random() < 0.85:
        size = random.randint(1, _SLICE)
        start = random.randint(0, max(len(source) - size, 0))
        source = source[start : start + size]
    body = bytearray(source)
    for _ in range(random.randint(0, most)):
        if body:
            random.choice(_CHANGES)(random, body)
    return bytes(body)


def changed(random: Random, data: bytes) -> bytes:
    """Return ``data`` with a few bytes changed, cut away or doubled."""
    body = bytearray(data)
    for _ in range(random.randint(1, 4)):
        if body:
            random.choice(_CHANGES)(random, body)
    return bytes(body)


def _piece(random: Random, body: bytearray, longest: int = 200) -> slice:
    start = random.randrange(len(body))
    return slice(start, start + random.randint(1, longest))


def _flip(random: Random, body: bytearray) -> None:
    body[random.randrange(len(body))] ^= 1 << random.randrange(8)


def _overwrite(random: Random, body: bytearray) -> None:
    body[random.randrange(len(body))] = random.randrange(256)


def _delete(random: Random, body: bytearray) -> None:
    del body[_piece(random, body)]


def _cut(random: Random, body: bytearray) -> None:
    del body[random.randrange(len(body)) :]


def _insert(random: Random, body: bytearray) -> None:
    place = random.randrange(len(body))
    body[place:place] = random.choice(_TOKENS)


def _double(random: Random, body: bytearray) -> None:
    place = random.randrange(len(body))
    body[place:place] = body[_piece(random, body)] * random.choice((1, 2, 10, 50))


def _splice(random: Random, body: bytearray) -> None:
    other = random.choice(real_pages())
    start = random.randrange(len(other))
    place = random.randrange(len(body))
    body[place:place] = other[start : start + random.randint(1, 400)]


_CHANGES: tuple[Callable[[Random, bytearray], None], ...] = (
    _flip, _overwrite, _delete, _cut, _insert, _insert, _double, _splice,
)  # fmt: skip


_MOST_PIECES = (4, 12, 40, 120, 400)
_OFTEN = (3, 4, 4, 2, 1)


def an_input(random: Random) -> str | bytes:
    """Return a page: half of them built, half of them real ones with some bytes changed."""
    kind = random.random()
    if kind < 0.5:
        return mutated(random)
    most = random.choices(_MOST_PIECES, _OFTEN)[0]
    return encoded(random, page(random, most) if kind < 0.85 else repeated(random, most))


def numbered(seed: int, number: int) -> str | bytes:
    """Return input ``number`` of ``seed``."""
    return an_input(Random(f"{seed}:{number}"))

"""How much of a forum thread came out: the share of its posts that were found, and of words that are no post's."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from denoise_crawler.evaluation import Post, token_sequence

Places: TypeAlias = defaultdict[tuple[str, ...], list[int]]

FOUND = 0.9  # of a post's words stand in one stretch of the text, in order
_GRAM = 3
_STRETCHES = 5


@dataclass(frozen=True, slots=True)
class ThreadScore:
    """The share of posts ``found``, and the share of the text's words that are ``noise``."""

    found: float
    noise: float


def score_thread(text: str, posts: Sequence[Post]) -> ThreadScore:
    """Compare ``text`` with the posts of a thread; who wrote a post and when is no noise."""
    output = token_sequence(text)
    wanted = [words for post in posts if (words := token_sequence(post.text))]
    places = {size: _places(output, size) for size in range(1, _GRAM + 1)}
    found = sum(_coverage(words, output, places[min(_GRAM, len(words))]) >= FOUND for words in wanted)
    known = Counter(
        token
        for post in posts
        for part in (post.text, post.user, post.time)
        for token in token_sequence(part or "")
    )
    extra = (Counter(output) - known).total()
    return ThreadScore(found / len(wanted) if wanted else 1.0, extra / len(output) if output else 0.0)


def _places(output: Sequence[str], size: int) -> Places:
    places: Places = defaultdict(list)
    for start in range(len(output) - size + 1):
        places[tuple(output[start : start + size])].append(start)
    return places


def _coverage(words: Sequence[str], output: Sequence[str], places: Places) -> float:
    """Return the largest share of ``words`` that one stretch of ``output``, a quarter longer, has in order."""
    size, slack = min(_GRAM, len(words)), max(2, len(words) // 8)
    begins = Counter(
        (place - offset) // slack
        for offset in range(len(words) - size + 1)
        for place in places.get(tuple(words[offset : offset + size]), ())
    )
    lows = [max(0, (begin - 1) * slack) for begin, _ in begins.most_common(_STRETCHES)]
    return max(
        (in_order(words, output[low : low + len(words) + 2 * slack]) / len(words) for low in lows), default=0
    )


def in_order(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, worked out for all of ``one`` at once (bits)."""
    bits: defaultdict[str, int] = defaultdict(int)
    for place, token in enumerate(one):
        bits[token] |= 1 << place
    every = (1 << len(one)) - 1
    open_places = every
    for token in other:
        matched = open_places & bits.get(token, 0)
        open_places = ((open_places + matched) | (open_places - matched)) & every
    return len(one) - open_places.bit_count()

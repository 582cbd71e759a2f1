"""The words of classes and ids: what of them the page made from its own text, and what stands where they do.

Names that the page's own text made say nothing: Markdown, Sphinx, Pandoc and the like write
``<section id="results-and-discussion">``, shops and blogs ``<body class="postid-7 how-to-comment-code">``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TypeVar

from denoise_crawler.kernel.columns import PLACES, TAG_CODES
from denoise_crawler.kernel.hashes import hash32
from denoise_crawler.kernel.html_names import INLINE, TEXT

_WORD = re.compile("[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_REMEMBERED = 16_384
T = TypeVar("T")


class _Worths(dict[str, T]):
    def __init__(self, worth: Callable[[str], T]) -> None:
        self._worth = worth

    def __missing__(self, text: str) -> T:
        if len(self) > _REMEMBERED:
            self.clear()
        self[text] = worth = self._worth(text)
        return worth


def remembered(worth: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what short texts are worth: a site has few classes, labels and buttons, and they come back."""
    return _Worths(worth).__getitem__  # half the cost of ``lru_cache``


@lru_cache(maxsize=16_384)
def words_of(names: str) -> tuple[str, ...]:
    """Return the words of a class and id, split at camelCase, lower-cased, each once and in their order.

    A word is two small letters or more, with the capital before them, or two capitals or more.
    """
    return tuple(sorted({word.lower() for word in _WORD.findall(names)}))


HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})
WHOLE = frozenset({"body", "article", "main"})  # whose classes and ids are made from the title of the page
NEAR = 12  # nodes, within which an element begins with its heading
LONGEST_HEADING = 300  # characters
_SHARE = 0.6
_SLUG = 3  # words that a name made from a title has, or more
_NO_LETTER = re.compile(r"[\W_]+")
_SECTION = re.compile(r"(?:^|\s)(?:section|level[1-6])(?:\s|$)")


def spoken_names(tag: str, class_name: str, identity: str, heading: str, title: frozenset[str]) -> str:
    """Return the class and id of an element without what the page's own text made.

    Args:
        tag: Its tag.
        class_name: Its class.
        identity: Its id.
        heading: The text of the heading that it is or begins with, empty if there is none.
        title: The words of the page's title.

    Example:
        >>> spoken_names("section", "level2", "results-discussion", "Results and discussion", frozenset())
        'level2'
        >>> spoken_names("div", "box", "comments", "Comments", frozenset())
        'box comments'
    """
    if heading and identity and _is_of_heading(tag, class_name, identity, heading):
        identity = ""
    if tag in WHOLE and title:
        class_name = " ".join([one for one in class_name.split() if not _is_slug(one, title)])
        identity = "" if _is_slug(identity, title) else identity
    return f"{class_name} {identity}" if identity else class_name


@lru_cache(maxsize=4_096)
def _is_of_heading(tag: str, class_name: str, identity: str, heading: str) -> bool:
    """Return True if an id is made from a heading.

    One word names a part of the page ("comments"), but for sections that have it as their whole heading.
    """
    words = words_of(identity)
    if len(words) == 1:
        is_section = tag in HEADINGS or tag == "section" or _SECTION.search(class_name)
        return bool(is_section) and _NO_LETTER.sub("", heading).lower() == words[0]
    return _are_of(words, words_of(heading))


def _is_slug(name: str, title: frozenset[str]) -> bool:
    words = words_of(name)
    return len(words) >= _SLUG and _are_of(words, title)


def _are_of(words: Collection[str], text: Collection[str]) -> bool:
    return bool(words) and sum(word in text for word in words) >= _SHARE * len(words)


LONGEST_NAMES = 1_000  # characters of a class and id: what is remembered must be bounded
_BITS = {place: 1 << bit for bit, place in enumerate(PLACES)}
PLACE_OF_TAG = {
    tag: _BITS[place]
    for place, tags in {
        "article": ("article",), "main": ("main",), "header": ("header",), "footer": ("footer",), "nav": ("nav",),
        "aside": ("aside",), "form": ("form",), "table": ("table",), "list": ("ul", "ol", "dl"),
        "figure": ("figure", "figcaption"), "quote": ("blockquote",),
    }.items()
    for tag in tags
}  # fmt: skip
_ROLES = dict.fromkeys(("main", "article"), _BITS["body_role"]) | dict.fromkeys(
    ("navigation", "banner", "contentinfo", "complementary", "search", "menu", "dialog"), _BITS["chrome_role"]
)
_TEXT_PROPERTIES = "articleBody", "description", "text", "reviewBody"
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
DIGITS = re.compile(r"\d+")


# by attribute, what returns the places that a value says; None for none
READ: dict[str, Callable[[str], int | None]] = {
    # most styles hold neither word, and a search for both patterns is slow
    "style": lambda style: (
        _BITS["hidden"] if ("none" in style or "hidden" in style) and _HIDING.search(style) else None
    ),
    "hidden": lambda _: _BITS["hidden"],
    "aria-hidden": {"true": _BITS["hidden"]}.get,
    "role": _ROLES.get,
    "itemprop": dict.fromkeys(_TEXT_PROPERTIES, _BITS["itemprop"]).get,
}


# --- what readers' comments are named: in classes and ids, by a label above them, as types of schema.org

_COMMENTS = re.compile(r"comment|disqus|respond|repl(?:y|ies)|reviews?\b|discuss")
# "category-reviews", "has-comments", "comments-closed" and "product-no-review" say something of the page or its
# theme; "preview" is no review.
_NO_COMMENTS = re.compile(
    r"^(?:category|tag|has|no|not|noload|hide|is|page|single)(?:-|disqus)|-(?:off|closed|on|placeholder)$|preview|-no-"
)
_COMMENT_LABEL = re.compile(
    r"[\W\d]{0,60}"
    r"(?:(?:leave|post|write|add|the|all|view|show|reader|readers|latest|your|no|one|two|three)\W{1,3}){0,3}"
    r"(?:comments?|replies|responses|discussion|thoughts|reviews|kommentare?|leserkommentare|commentaires?"
    r"|comentarios?|comentários?|commenti|commento|reacties|opmerkingen|комментари\w{1,3}|коментар\w{1,3}"
    r"|komentarze|komentáře|komentarai|kommentarer|kommentit|yorumlar?|σχόλια|评论|評論|网友评论|最新评论|留言"
    r"|コメント|댓글|bình luận|komentar|hozzászólások|comentarii|תגובות|تعليقات|टिप्पणियाँ)(?:\W.{0,40})?",
    re.IGNORECASE | re.DOTALL,
)
COMMENT_TYPES = re.compile(r"(?:comment|review)$", re.IGNORECASE)


@remembered
def comments_and_look(names: str) -> tuple[int, int]:
    """Return for a class and id the bit of comments, 0 unless they name such; and the hash of their words."""
    return _BITS["comment"] if _name_comments(names.lower()) else 0, hash32(" ".join(words_of(names)))


def is_comment_label(text: str) -> bool:
    """Return True if a text, in lower case, is a label above readers' comments."""
    return _COMMENT_LABEL.fullmatch(text) is not None


def _name_comments(names: str) -> bool:
    if not _COMMENTS.search(names):
        return False
    return any(_COMMENTS.search(name) and not _NO_COMMENTS.search(name) for name in names.split())


# --- what tags, labels and calls to the reader say

IS_INLINE, IS_TEXT = -1, -2


@lru_cache(maxsize=4_096)
def meaning_of(tag: str) -> tuple[int, int, bool, bool, int]:
    """Return what a tag says: its code, its places, whether it is in ``HEADINGS``, in ``WHOLE``; its hash.

    The code is one of ``TAG_CODES``, ``IS_INLINE`` or ``IS_TEXT``.
    """
    code = IS_TEXT if tag == TEXT else IS_INLINE if tag in INLINE else TAG_CODES.get(tag, 0)
    return code, PLACE_OF_TAG.get(tag, 0), tag in HEADINGS, tag in WHOLE, hash32(tag)


@lru_cache(maxsize=4_096)
def label_hash(label: str) -> int:
    """Return the hash of what texts have in common, with every number alike."""
    return hash32(f"{DIGITS.sub('0', label)} …")


IDEOGRAPH = re.compile("[぀-ヿ㐀-鿿]+")


# stems of calls, by a sign that texts of their script have: of letters by e-mail and subscriptions, of money, of
# consent and what a browser must do, of other pages and sharing
_STEMS = {
    "": (
        "newsletter|subscrib|sign up|inbox|e-mail address|email address|log in|sign in|free trial|cancel any"
        "|abonn|anmeld|e-mail-adresse|registrier|inscri|adresse e-mail|connectez|suscr|boletín"
        "|correo electrónico|assin|cadastr|iscriv|abbona|nieuwsbrief|zapisz się|prenumer|abone ol|bülten"
        "|đăng ký|langganan|iratkoz|přihlas|donat|support us|support our|your support|crowdfund|patreon"
        "|spende|unterstützen sie|faire un don|soutenez|apóyanos|donación|hazte soci|apoie|doe agora|sostieni"
        "|donazion|doneer|steun ons|wesprzyj|bağış|cookie|consent|javascript|browser|einwilligung|datenschutz"
        "|navigateur|navegador|external content|externer inhalt|adblock|ad blocker|read more|read also"
        "|also read|related|follow us|share this|download our|download the app|lesen sie auch|mehr zum thema"
        "|folgen sie|lire aussi|à lire|suivez-nous|lee también|síguenos|leia também|siga-nos|leggi anche"
        "|seguici|lees ook|czytaj także"
    ),
    "о": "подпис|рассылк|войдите|пожертв|поддержите|браузер|согласи|читайте также",
    "的": (
        "订阅|訂閱|登录|登錄|注册|註冊|会员|會員|公众号|扫码|打赏|赞助|贊助|浏览器|隐私|隱私|相关阅读|相关文章"
        "|延伸阅读|分享|关注|關注"
    ),
    "の": "購読|登録|会員|メルマガ|ログイン|寄付|ブラウザ|関連記事",
    "이": "구독|로그인|회원|후원|브라우저|관련기사",
    "ا": "اشترك",
    "α": "εγγραφ",
    "ה": "הרשמ|הירשמ",
    "स": "सदस्य",
}  # fmt: skip
CALLS = {sign: tuple(stems.split("|")) for sign, stems in _STEMS.items()}
LONGEST_CALL, BOX = 300, 1_500  # characters of a text with calls, and of a box
MOST_CALLS = 4.0  # that a block counts

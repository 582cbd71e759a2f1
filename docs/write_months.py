"""Writes ``denoise_crawler/page/months.txt``: the names of months in many languages, as CLDR has them.

Run it with ``babel`` installed, from the root of the repository: ``python docs/write_months.py``.
"""

import unicodedata
from collections import defaultdict
from pathlib import Path

from babel import Locale, localedata

FILE = Path(__file__).parent.parent / "denoise_crawler" / "page" / "months.txt"
# Where two languages mean different months by one name, that of the first counts.
LANGUAGES = (
    "en de fr es ru ja zh it pt pl nl tr fa ar ko cs vi uk el sv hu ro id da fi he th bg sk nb hr lt sl et lv sr "
    "hi ca be mk bs eu gl af az ka hy kk ur bn ta te ml mr gu kn pa ne si km lo my sw sq is ga cy mn uz ms fil"
)
# What pages write and CLDR does not have.
MORE = {"sept": 9, "mrz": 3, "maa": 3, "okt": 10, "окт": 10, "мая": 5}


def plain(name: str) -> str:
    """Return a name as it is looked up: in lower case, without dots."""
    return unicodedata.normalize("NFC", name).casefold().replace(".", "").strip()


def without_accents(name: str) -> str:
    """Return a name of Latin letters without its accents."""
    if not unicodedata.name(name[0], "").startswith("LATIN"):
        return name
    return "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))


def is_name(spelling: str) -> bool:
    """Return True if a name is one word that is no other one, as those of two Latin letters are."""
    if len(spelling.split()) != 1 or any(map(str.isdigit, spelling)) or not "" < spelling[:1] < "\uffff":
        return False
    if not spelling[0].isalpha():
        return False
    return len(spelling) > (
        2 if unicodedata.name(spelling[:1] or "-", "").startswith(("LATIN", "CYRILLIC")) else 1
    )


def months() -> dict[str, int]:
    """Return the month that each name means."""
    found = dict(MORE)
    order = {code: place for place, code in enumerate(LANGUAGES.split())}
    codes = [code for code in localedata.locale_identifiers() if code.partition("_")[0] in order]
    for code in sorted(codes, key=lambda code: (order[code.partition("_")[0]], code)):
        calendar = Locale.parse(code).months
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for month, name in calendar[context][width].items():
                    for spelling in (plain(name), without_accents(plain(name) or "-")):
                        if is_name(spelling):
                            found.setdefault(spelling, month)
    return found


def main() -> None:
    """Write the file."""
    by_month = defaultdict(list)
    for name, month in months().items():
        by_month[month].append(name)
    lines = [" ".join(sorted(by_month[month])) for month in range(1, 13)]
    FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()

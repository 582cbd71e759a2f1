"""A style tree is the same whether the core made it or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import SiteStyleTree, core
from denoise_crawler.methods.style_tree.columns import PageTree
from denoise_crawler.methods.style_tree.digest import digest_page, outline_of
from denoise_crawler.page import Page
from tests.core.test_core import ODD_PAGES
from tests.strategies import html_pages

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason="the core is not built")

LOOKS = (
    "<div class='a  b 12' id=x9999 width=5 style='x' data-a=1><p align=left align=x>A Story İSTANBUL ΟΔΟΣ</div>",
    "<a href=/x><img src=/y.png src=z width='50%'></a><a href='' src=q></a><a href='/a?b=&amp;c#d'>ﬀ ß Ǆ</a>",
    f"<p class='{'long ' * 90}'>one<p class='{'long ' * 90}x'>two<p class='{'é' * 250}'>three",
    "<p>カタカナ・ひらがな 漢字かな交じり文 據新華社報道 2019年4月13日 ＡＢＣ ١٢٣ ſ ﬁ 𝔘𝔫𝔦 _under_score_</p>",
    "<p>" + "w" * 300 + " " + "é" * 200 + " x</p><svg width=3><o:p class=b>office</svg><body class=second>",
)
MODES = ("require", "off")


def road(mode: str, htmls: list[str], **options: Any) -> list[Any]:
    """Return what one road makes of the pages of a site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "mode", mode)
        pages = [Page.parse(f"https://a.example/{number}", html) for number, html in enumerate(htmls)]
        tree, found = SiteStyleTree(**options), []
        for page in pages:
            outline = page.once(outline_of)
            names = [outline.labels[number] for number in outline.numbers.tolist()]
            columns = (outline.ends, outline.linked)
            found += [names, *(column.tolist() for column in columns), outline.links, outline.sources]
            digest = digest_page(page, 64, np.zeros(len(outline.labels), np.uint32))
            found += [column.tolist() for column in (digest.features, digest.hashes, digest.counts)]
            tree.add(page)
            found += [tree.importances(page), tree.known_nodes(page)]
        found += [[tree.importances(page) for page in pages], tree.to_bytes()]
    return found


@pytest.mark.parametrize("html", [*ODD_PAGES, *LOOKS])
def test_both_roads_make_the_same_tree_of_an_odd_page(html: str) -> None:
    compiled, interpreted = (road(mode, [html, html + "<p>more", "<p>x</p>"]) for mode in MODES)
    assert compiled == interpreted


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(html_pages(15), min_size=1, max_size=5),
    st.fixed_dictionaries(
        {"max_pages": st.sampled_from([2, 100]), "collapse": st.booleans(), "data_node": st.booleans()}
    ),
)
def test_both_roads_make_the_same_tree_of_a_site(htmls: list[str], options: dict[str, Any]) -> None:
    compiled, interpreted = (road(mode, htmls, **options) for mode in MODES)
    assert compiled == interpreted


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("ends", "labels", "message"),
    [
        ([3, 2, 2], [0, 0, 0], "not nested"),
        ([3, 4, 3], [0, 0, 0], "not nested"),
        ([2, 2, 3], [0, 0, 0], "does not hold all"),
        ([3, 2, 3], [0, 9, 0], "not there"),
        ([3, 2, 3], [0, -1, 0], "not there"),
        ([3, 2, 3], [0, 0], "fit each other"),
    ],
)
def test_nodes_that_do_not_fit_each_other_are_an_error(
    mode: str, ends: list[int], labels: list[int], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "mode", mode)
    with pytest.raises(ValueError, match=message):
        PageTree(np.array(labels, np.int32), np.ones(2, np.uint64), np.array(ends, np.int32), collapse=False)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.judged_nodes import judged_nodes
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page import Page
from tests.strategies import html_pages

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason="the core is not built")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html=html_pages())
def test_each_node_of_any_page_has_the_same_verdict_and_score(monkeypatch: pytest.MonkeyPatch, html: str) -> None:
    judged = []
    for mode in ("require", "off"):
        monkeypatch.setattr(core, "mode", mode)
        judgement = Fusion().judge(Page.parse("https://a.example/", html))
        judged.append((judgement.noise, judgement.scores))
    assert judged[0] == judged[1]


@given(chances=st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3))
def test_an_element_has_the_highest_score_of_its_text_and_is_kept_with_any_of_it(chances: list[float]) -> None:
    page = Page.parse("https://a.example/", "<div><p>One</p><p>Two</p></div><p>Three</p><hr>")
    taken, scores = np.array([False, True, False]), np.array(chances)
    found = judged_nodes(page.nodes, page.once(blocks_of), taken, scores)
    one, two, three = chances
    assert page.nodes.tags[1:3] == ["div", "p"]
    assert found[0] == [False, False, True, True, False, False, True, True, False]
    assert found[1] == [max(chances), max(one, two), one, one, two, two, three, three, 0.0]

"""When the warm-up of a site takes too long: without a new page, or since its first one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.crawl.warmup_clocks import WarmupClocks

SITES = ("one.example", "two.example", "three.example")
LIMITS = st.one_of(st.just(0), st.integers(1, 30))
# a page of a site comes after so many seconds, and it is a new one or not; None: only the time is looked at
EVENTS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from((*SITES, None)), st.booleans()), max_size=40)


@given(LIMITS, LIMITS, EVENTS)
def test_a_site_is_overdue_once_and_exactly_when_one_of_its_limits_is_over(
    pause: int, longest: int, events: list[tuple[int, str | None, bool]]
) -> None:
    now = 0
    clocks = WarmupClocks(pause, longest, now=lambda: now)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for seconds, site, new in events:
        now += seconds
        due = {
            one for one in first if (pause and now - last[one] > pause) or (longest and now - first[one] > longest)
        }
        assert {found.site for found in clocks.take_overdue()} == due
        for one in due:
            del first[one], last[one]
        if site is None:
            continue
        clocks.note(site, new=new)
        if site not in first:
            first[site] = last[site] = now
        elif new:
            last[site] = now


@given(EVENTS)
def test_a_site_that_is_known_is_never_overdue(events: list[tuple[int, str | None, bool]]) -> None:
    now = 0
    clocks = WarmupClocks(1, 2, now=lambda: now)
    for seconds, site, new in events:
        now += seconds
        if site is not None:
            clocks.note(site, new=new)
            clocks.stop(site)
    now += 100
    assert clocks.take_overdue() == []


def test_the_words_say_which_limit_is_over() -> None:
    now = 0.0
    clocks = WarmupClocks(30, 300, now=lambda: now)
    clocks.note("quiet.example")
    for _ in range(16):
        clocks.note("slow.example")
        now += 20
    assert clocks.take_overdue() == [
        ("quiet.example", "30 seconds without a new page"),
        ("slow.example", "300 seconds"),
    ]

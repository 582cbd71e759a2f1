from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings, Settings

from denoise_crawler.crawl.settings import CONTRIB, DenoiseSettings, warn_of_unknown
from denoise_crawler.crawl.settings_table import SETTINGS
from denoise_crawler.errors import SettingError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page.site import site_of
from tests.article_spider import SPIDER
from tests.conftest import ADDON, PIPELINES, Project
from tests.conftest import SETTINGS as PROJECT

NO_FUNCTION = "not a function"


def first_part(url: str) -> str:
    return url.split("/")[2]


def read(**given: Any) -> DenoiseSettings:
    return DenoiseSettings.from_settings(Settings(given))


@pytest.fixture(autouse=True)
def outside_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_defaults_are_these() -> None:
    found = read()
    assert found.choice == MethodChoice("fusion")
    assert found.warmup_pages == 6
    assert found.short_sites == "clean"
    assert found.site is site_of
    assert found.store == Path(".scrapy/denoise.sqlite")
    assert found.sites_in_memory == 100
    assert (found.html_field, found.url_field, found.text_field) == ("html", "url", "text")
    assert found.extra_fields == {}
    assert found.job == ""


def test_two_crawls_may_make_the_data_folder_of_their_project_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("scrapy.cfg").write_text("[settings]\n")
    made = Path.mkdir

    def made_by_both(folder: Path, *given: Any, **named: Any) -> None:
        made(folder, *given, **named)
        raise FileExistsError(f"{folder} was made by another crawl")

    monkeypatch.setattr(Path, "mkdir", made_by_both)
    assert read().store == tmp_path / ".scrapy/denoise.sqlite"


def test_each_method_has_a_quota_of_its_own_unless_one_is_set() -> None:
    assert read(DENOISE_METHOD="style_tree").warmup_pages == 20
    assert read(DENOISE_METHOD="style_tree", DENOISE_WARMUP_PAGES=3).warmup_pages == 3


def test_bare_settings_and_settings_of_none_give_the_defaults() -> None:
    names = ["METHOD", "WARMUP_PAGES", "SHORT_SITES", "SITE", "STORE", "SITES_IN_MEMORY", "TEXT_FIELD"]
    assert DenoiseSettings.from_settings(BaseSettings()) == read()
    assert read(**{f"DENOISE_{name}": None for name in names}) == read()


def test_every_setting_is_read(tmp_path: Path) -> None:
    found = read(
        DENOISE_METHOD="link_ratio",
        DENOISE_METHOD_OPTIONS={"threshold": 0.5},
        DENOISE_WARMUP_PAGES=0,
        DENOISE_SHORT_SITES="drop",
        DENOISE_SITE=first_part,
        DENOISE_STORE=tmp_path / "s.sqlite",
        DENOISE_SHARED_STORE="s3://bucket/shared",
        DENOISE_SITES_IN_MEMORY=1,
        DENOISE_HTML_FIELD="body",
        DENOISE_URL_FIELD="link",
        DENOISE_TEXT_FIELD="clean",
        DENOISE_EXTRA_FIELDS={"title": "headline", "noise_ratio": "noise"},
        JOBDIR=str(tmp_path / "job"),
    )
    assert found == DenoiseSettings(
        choice=MethodChoice("link_ratio", {"threshold": 0.5}),
        warmup_pages=0,
        short_sites="drop",
        site=first_part,
        store=tmp_path / "s.sqlite",
        shared_store="s3://bucket/shared",
        sites_in_memory=1,
        html_field="body",
        url_field="link",
        text_field="clean",
        extra_fields={"title": "headline", "noise_ratio": "noise"},
        job=str((tmp_path / "job").resolve()),
    )


def test_values_may_be_strings_as_the_command_line_gives_them() -> None:
    found = read(
        DENOISE_METHOD="style_tree",
        DENOISE_METHOD_OPTIONS='{"threshold": 0.5, "collapse": false, "max_pages": 40}',
        DENOISE_WARMUP_PAGES="7",
        DENOISE_SITE=f"{__name__}.first_part",
        DENOISE_STORE="s.sqlite",
        DENOISE_SITES_IN_MEMORY="3",
        DENOISE_EXTRA_FIELDS='{"title": "headline"}',
        JOBDIR="job",
    )
    assert found.choice.options == {"threshold": 0.5, "collapse": False, "max_pages": 40}
    assert (found.warmup_pages, found.sites_in_memory) == (7, 3)
    assert found.site is first_part
    assert found.store == Path("s.sqlite")
    assert found.extra_fields == {"title": "headline"}
    assert found.job == str(Path("job").resolve())


def test_more_metadata_is_read_where_a_field_asks_for_it() -> None:
    assert not read(DENOISE_EXTRA_FIELDS={"author": "byline"}).writing.more_metadata
    assert read(DENOISE_EXTRA_FIELDS={"image": "picture"}).writing.more_metadata
    assert read(DENOISE_MORE_METADATA=True).writing.more_metadata


@pytest.mark.parametrize("value", [first_part, f"{__name__}.first_part"])
def test_the_site_of_a_url_is_found_by_a_function_or_its_path(value: Any) -> None:
    assert read(DENOISE_SITE=value).site("https://news.a.example/1") == "news.a.example"


def test_whole_numbers_may_be_written_as_floats() -> None:
    assert read(DENOISE_WARMUP_PAGES=30.0).warmup_pages == 30


WRONG: dict[str, list[Any]] = {
    "METHOD": ["no_such_method", "", ["style_tree"], 7],
    "METHOD_OPTIONS": [
        {"threshold": 2},
        {"threshold": "high"},
        {"no_such_option": 1},
        {"gamma": 1.0},
        {"max_pages": 0},
        {1: 2},
        *('{"threshold": 2}', "threshold=0.5", "[1]", "5", 5),
        ["threshold"],
    ],
    "WARMUP_PAGES": [-1, "-1", "many", "", 2.5, "2.5", float("inf"), float("nan"), [20]],
    "SITES_IN_MEMORY": [0, "none"],
    "SHORT_SITES": ["keep", "", True, ["clean"]],
    "TITLE": ["yes"],
    "COMMENTS": [True],
    "FAVOUR": ["speed"],
    "SITE": [
        "no_such_package.site_of",
        f"{__name__}.no_such_function",
        f"{__name__}.NO_FUNCTION",
        "nodots",
        "",
        "..a",
        7,
    ],
    "HTML_FIELD": ["", 7],
    "URL_FIELD": [["url"]],
    "TEXT_FIELD": ["", b"text"],
    "EXTRA_FIELDS": [
        {"no_such_part": "x"},
        {"title": None},
        {"title": ""},
        {7: "x"},
        '{"no_such_part": "x"}',
        "title",
        ["title"],
    ],
    "STORE": [7],
    "SHARED_STORE": [7],
    "SKIP_ITEMS": [7, ["no_such_package.Item"], [f"{__name__}.first_part"]],
    "EXPLAIN": ["perhaps"],
    "FORM": ["pdf", ["text"]],
    "MIN_CONFIDENCE": ["high", 80],
    "LOW_CONFIDENCE": ["skip", 7],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_a_wrong_value_is_refused_with_its_settings_name(name: str, value: Any) -> None:
    with pytest.raises(SettingError) as error:
        read(**{f"DENOISE_{name}": value})
    assert f"DENOISE_{name} " in str(error.value)


def test_what_is_wished_of_the_text_reaches_the_method_as_its_options() -> None:
    wished = read(DENOISE_TITLE="leave", DENOISE_COMMENTS="keep", DENOISE_FAVOUR="recall")
    assert wished.choice.options == {"title": "leave", "comments": "keep", "favour": "recall"}
    assert read(DENOISE_TITLE="leave", DENOISE_METHOD_OPTIONS={"title": "keep"}).choice.options == {
        "title": "keep"
    }


def test_a_wish_that_the_method_does_not_know_is_refused_by_the_settings_name() -> None:
    with pytest.raises(SettingError, match="DENOISE_TITLE is 'leave', which link_ratio does not know"):
        read(DENOISE_METHOD="link_ratio", DENOISE_TITLE="leave")
    with pytest.raises(SettingError, match=r"DENOISE_MIN_CONFIDENCE is 0\.8, but style_tree cannot say how sure"):
        read(DENOISE_METHOD="style_tree", DENOISE_MIN_CONFIDENCE=0.8)


def test_the_message_shows_the_value_and_what_could_be_set() -> None:
    with pytest.raises(SettingError, match=r"'no_such_method'.*link_ratio, .*style_tree"):
        read(DENOISE_METHOD="no_such_method")
    with pytest.raises(SettingError, match=r"'keep'.*clean, drop"):
        read(DENOISE_SHORT_SITES="keep")
    with pytest.raises(SettingError, match=r"-1.*0 or more"):
        read(DENOISE_WARMUP_PAGES=-1)
    with pytest.raises(SettingError, match=r"'no_such_part'.*url, site, title, author, date, text"):
        read(DENOISE_EXTRA_FIELDS={"no_such_part": "x"})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("DENOISE_WARMUP_PAGE", "DENOISE_WARMUP_PAGES"),
        ("DENOISE_WARM_UP_PAGES", "DENOISE_WARMUP_PAGES"),
        ("DENOISE_METHODS", "DENOISE_METHOD"),
        ("DENOISE_TEXTFIELD", "DENOISE_TEXT_FIELD"),
        ("DENOISE_MIN_DELAY", "DENOISE_DELAY_MIN"),
        ("DENOISE_EXTRA_FIELD", "DENOISE_EXTRA_FIELDS"),
    ],
)
def test_a_misspelt_setting_is_warned_of_with_the_nearest_name(
    name: str, meant: str, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_unknown(Settings({name: 1, "DENOISE_STORE": "s"}))
    (said,) = caplog.messages
    assert said == f"{name} is not a setting of denoise_crawler and has no effect: did you mean {meant}?"


def test_a_setting_like_none_of_ours_is_warned_of_and_known_ones_are_not(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_unknown(Settings({"DENOISE_XQ": 1}))
    warn_of_unknown(Settings(dict.fromkeys([*SETTINGS, *CONTRIB, "DENOISER"])))
    assert caplog.messages == ["DENOISE_XQ is not a setting of denoise_crawler and has no effect"]


@pytest.mark.parametrize("how", [ADDON, PIPELINES])
def test_a_crawl_warns_once_of_a_misspelt_setting(project: Project, how: str) -> None:
    project.write("project_settings.py", f"{PROJECT}\n{how}\nDENOISE_WARMUP_PAGE = 3\n")
    project.write("test_spiders.py", SPIDER)
    project.write("urls.json", '["data:text/html,<p>A story."]')
    project.crawl("articles")
    assert project.log.count("DENOISE_WARMUP_PAGE is not a setting") == 1
    assert project.log.count("did you mean DENOISE_WARMUP_PAGES?") == 1

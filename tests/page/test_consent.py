from __future__ import annotations

import pytest

from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page

URL = "https://news.example/story"
ASK = "<p>We and our 212 partners use cookies and read data on your device to show you advertising.</p>"
TAKE_BACK = "<p>You can withdraw your consent in the settings of this page whenever you like.</p>"
STORY = (
    "<p>The ferry to the outer islands will sail twice a day from Monday, the harbour board said on Friday.</p>"
    "<p>Since the storm of last month only small boats brought letters and bread to the people there."
    "</p>"
)

WALLS = {
    "English": f"<h1>Before you read</h1>{ASK}{TAKE_BACK}<button>Reject all</button><button>Accept all</button>",
    "a link as answer": f"{ASK}{TAKE_BACK}<a href=/ok>I agree</a>",
    "a form": f"<form>{ASK}{TAKE_BACK}<input type=submit value='Accept all'></form>",
    "with a footer": f"{ASK}{TAKE_BACK}<button>Allow all</button><a href=/i>Imprint</a> <a href=/t>Terms</a>",
    "German": "<h2>Mit Werbung lesen</h2><p>Wir und unsere Partner nutzen Cookies, um Werbung zu messen. Ihre "
    "Einwilligung gilt, bis Sie sie widerrufen.</p><button>Alle akzeptieren</button>",
    "French": "<p>Nos partenaires et nous déposons des cookies pour mesurer la publicité. Vous pouvez retirer "
    "votre consentement à tout moment.</p><button>Tout accepter</button>",
    "Spanish": "<p>Usamos cookies propias y de otros para medir la publicidad; puede retirar su consentimiento "
    "cuando quiera.</p><button>Aceptar todas</button>",
    "Chinese": "<p>我们和合作伙伴使用 Cookie 来展示广告。"
    "点击“同意”即表示您允许我们使用 Cookie，您可以随时更改设置。</p>"
    "<button>全部接受</button>",
}
OTHERS = {
    "a banner over a story": f"<div>{ASK}{TAKE_BACK}<button>Accept all</button></div><main>{STORY}</main>",
    "a policy": f"<h1>Cookies</h1>{ASK}{TAKE_BACK}",
    "a recipe": "<h1>Oat cookies</h1><p>These cookies need four things and a warm oven; they take ten minutes.</p>"
    "<p>Mix oats, butter, sugar and an egg; put spoons of it on paper; let them cool.</p><a href=/s>Save</a>",
    "a short notice": "<p>This page moved.</p><button>Accept</button>",
}


@pytest.mark.parametrize("name", WALLS)
def test_a_page_that_only_asks_for_consent_is_skipped(name: str) -> None:
    page = Page.parse(URL, WALLS[name])
    assert page.skipped == "consent"
    assert clean_text(page) == ""


@pytest.mark.parametrize("name", OTHERS)
def test_a_page_with_more_than_a_question_for_consent_is_read(name: str) -> None:
    page = Page.parse(URL, OTHERS[name])
    assert page.skipped is None
    assert clean_text(page)

"""Both roads to one result: what is compiled, and the Python code that specifies it."""

from importlib import import_module
from typing import Any

import pytest

from denoise_crawler import kernel
from denoise_crawler.kernel import reference

ROADS = COMPILED, IN_PYTHON = "compiled", "in Python"
is_built = pytest.mark.skipif(kernel.why_not() is not None, reason=f"nothing is compiled: {kernel.why_not()}")


def functions(road: str) -> Any:
    """Return the functions of the kernel on a road."""
    return import_module("denoise_crawler.kernel.judge") if road == COMPILED else reference


def take(road: str, patch: pytest.MonkeyPatch) -> None:
    """Take a road until the ``patch`` ends."""
    reader = import_module("denoise_crawler.kernel.tree") if road == COMPILED else None
    patch.setattr(kernel, "active", functions(road))
    patch.setattr(kernel, "reader", reader)


# pages that two readers of a tree may take differently
ODD_PAGES = (
    "",
    "text alone",
    "<p>One<!-- a --> two<!-- b --> three\u00a0<b> </b>four<![CDATA[five]]>six",
    "<html><head><title>t</title></head><body>a</body></html> tail <p>after</html><html><p>again",
    "<body class='a b' id=x hidden><div style='display:none' role=navigation>hidden</div>",
    "<div class=comments-1><p class='c 12' id='34'>first<p class='c 13' id='35'>second</div>",
    "<noscript>" + "long text. " * 200 + "<p>x</noscript><p>y",
    "<a href=/x>" + "linked " * 300 + "</a><a>no address</a><a href=''>empty</a>",
    "<o:p>office</o:p><svg xmlns='http://www.w3.org/2000/svg'><text>drawn</text></svg><math><mi>x</mi></math>",
    "<p>&nbsp;</p>\x1c<p>\x1d\u3000</p><p>日本語 中文\u200b</p>",
    "<div>" * 3_000 + "deep",
    "<section id=a-comment class=x><h2>A comment</h2><p>b</section><body class=the-title-itself>",
)

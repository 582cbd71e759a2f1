"""How the text of a judged page is written: in which form, by whom, with what explanation."""

from __future__ import annotations

from dataclasses import dataclass, field

FORMS = ("text", "markdown")


@dataclass(frozen=True, slots=True)
class Writing:
    """What users choose of the output.

    ``form`` is one of ``FORMS``; ``extractor`` names a library that writes the text instead of us, once the noise
    is removed, and gets ``extractor_options``; ``explain`` adds why each block was kept or dropped.
    """

    form: str = "text"
    extractor: str | None = None
    extractor_options: dict[str, object] = field(default_factory=dict, hash=False)
    explain: bool = False

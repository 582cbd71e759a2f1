"""The methods by name, and the choice of one of them with its options."""

from __future__ import annotations

import logging
from collections import UserDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, cast

from denoise_crawler.errors import MethodError
from denoise_crawler.methods.base import Method
from denoise_crawler.page.text import printable

logger = logging.getLogger(__name__)


class MethodRegistry(UserDict[str, "type[Method]"]):
    """The methods by name; each is imported when it is first asked for, since most processes use one."""

    def __getitem__(self, name: str) -> type[Method]:
        method: Any = self.data[name]
        if isinstance(method, str):
            method = self.data[name] = resolve_name(f"denoise_crawler.methods.{method}")
        return cast("type[Method]", method)


_PLACES: dict[str, Any] = {
    "fusion": "fusion.method:Fusion",
    "one_look": "fusion.method:OneLook",
    "style_tree": "style_tree.method:SiteStyleTree",
    "layout_table": "layout_table:LayoutTable",
    "feature_tree": "feature_tree.method:FeatureTreeMatching",
    "node_type": "node_type:NodeTypes",
    "link_ratio": "link_ratio:LinkRatio",
}
METHODS = MethodRegistry(_PLACES)
DEFAULT_METHOD = "fusion"


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """A method and its options: chosen once, instantiated for each site.

    Args:
        name: The name of the method, a key of :data:`METHODS`.
        options: The method's options, by name.

    Raises:
        MethodError: No method has that name, or the method does not take these options.

    Example:
        >>> MethodChoice("style_tree", {"threshold": 0.7}).new().threshold
        0.7
    """

    name: str = DEFAULT_METHOD
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise MethodError(f"unknown method {self.name!r}; the methods are {', '.join(sorted(METHODS))}")
        try:
            self.new()
        except (TypeError, ValueError) as error:
            raise MethodError(f"method {self.name!r} does not take these options: {error}") from error

    @classmethod
    def of(cls, method: str | MethodChoice) -> MethodChoice:
        """Return ``method`` if it is a choice, else the choice of the method with that name."""
        return cls(method) if isinstance(method, str) else method

    def new(self) -> Method:
        """Return a new method that knows nothing."""
        return METHODS[self.name](**self.options)

    def prepare(self) -> None:
        """Load what the method loads once in a process."""
        METHODS[self.name].prepare()

    def knowing(self, parts: Iterable[bytes], site: str) -> Method:
        """Return a new method with all that is known of a site.

        Args:
            parts: Results of :meth:`Method.to_bytes`. One that cannot be read is logged and left out.
            site: The name of the site, for the log.
        """
        method = self.new()
        for part in parts:
            other = self.new()
            try:
                other.merge_bytes(part)
            except Exception as error:  # the part may come from anywhere
                message = "What was known of %s cannot be read and is left out: %s"
                logger.warning(message, printable(site), printable(error))
                continue
            if method.pages_known:
                method.merge(other)
            else:
                method = other
        return method

    @property
    def learns(self) -> bool:
        """Whether the method learns sites."""
        return METHODS[self.name].learns

    @property
    def needs_others(self) -> bool:
        """Whether the method learns nothing of a page for that page itself."""
        return METHODS[self.name].needs_others

    @property
    def warmup_pages(self) -> int:
        """How many pages of a site to learn before judging."""
        return METHODS[self.name].warmup_pages

    @property
    def key(self) -> str:
        """The name under which a store keeps what the method knows: equal for choices that can be merged."""
        return self.new().store_key

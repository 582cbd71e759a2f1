"""A section of the table of settings: a dataclass with a field for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Generic

from scrapy.settings import BaseSettings

from denoise_crawler.crawl.setting_kinds import Kind, T

if TYPE_CHECKING:
    from typing_extensions import Self

_ROW_KEY = "setting"


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """A setting: its name, its default and what it can be set to.

    ``empty_is_default`` tells whether an empty value, such as ``-s DENOISE_FORM=``, stands for the default.
    """

    name: str
    default: object
    kind: Kind[T]
    empty_is_default: bool = False

    def read(self, settings: BaseSettings, default: object = None) -> T:
        """Return the value that the crawl uses.

        Args:
            settings: The settings of the crawl.
            default: Replaces the default of the table unless it is None.

        Raises:
            SettingError: The value is wrong.
        """
        value = settings.get(self.name)
        if value is None or (self.empty_is_default and not value):
            value = self.default if default is None else default
        return self.kind.check(self.name, value)


def setting(name: str, default: object, kind: Kind[T], *, empty_is_default: bool = False) -> T:
    """Return a dataclass field that is a :class:`Setting` with these arguments."""
    row = Setting(name, default, kind, empty_is_default)
    return field(default_factory=lambda: row.read(BaseSettings()), metadata={_ROW_KEY: row})


@dataclass(frozen=True)
class SettingsSection:
    """Settings that belong together. The docstring of a section introduces them to users."""

    @classmethod
    def settings(cls) -> dict[str, Setting[Any]]:
        """Return the settings of the section by the names of their fields."""
        return {field.name: field.metadata[_ROW_KEY] for field in fields(cls) if _ROW_KEY in field.metadata}

    @classmethod
    def read(cls, settings: BaseSettings, defaults: Mapping[str, object] | None = None, **others: object) -> Self:
        """Read and check the settings of the section.

        Args:
            settings: The settings of a crawl.
            defaults: By field, what replaces a default of the table unless it is None.
            others: The fields of the section that are no settings.

        Raises:
            SettingError: A value is wrong; the message names the first such setting.
        """
        better = defaults or {}
        found = {name: row.read(settings, better.get(name)) for name, row in cls.settings().items()}
        return cls(**found, **others)

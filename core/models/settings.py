"""What is known of an endpoint before it is asked: name, address, key, limits; and presets for common servers."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from core import shipped
from core.models.errors import failure

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Preset(NamedTuple):
    """A server people commonly run. `penalty` is the name it gives to the repetition penalty."""

    title: str
    base_url: str
    start: str
    penalty: str = "repetition_penalty"


PRESETS = {name: Preset(**fields) for name, fields in shipped.table("servers").items()}
"""By the name that the endpoint gets."""


def _usable_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise failure("bad_name", name=name)
    return name


def _usable_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()):
        raise failure("bad_key")
    return SecretStr(text)


def checked_address(address: str) -> str:
    """`address` as it is used: no spaces around it, no slash and no route at its end. Raises BadSetting.

    The messages do not repeat an address that may hold a password or key.
    """
    address = address.strip().rstrip("/").removesuffix("/chat/completions")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise failure("no_address") from None
    if "@" in parts.netloc or parts.password:
        raise failure("password_in_address")
    if parts.query or parts.fragment:
        raise failure("query_in_address")
    if parts.scheme not in ("http", "https"):
        raise failure("no_scheme", address=address)
    if not host or any(c.isspace() for c in address):
        raise failure("no_host")
    return address


class EndpointConfig(BaseModel):
    """One server that speaks the OpenAI API. Raises BadSetting for a name, address or key that cannot be used.

    `concurrency` calls go on at once, over all models of the endpoint; where none is set 8 to begin with, and of a
    server elsewhere as many as it takes, up to 64; `most_at_once` sets another end to growing. `timeout`, in seconds,
    is for one whole call with its retries; `retries` further tries follow a failure that may pass, the first after
    about `backoff` seconds. `models` are the names the server listed when it was last asked. `of_visitor`: somebody
    whom a host serves named it, so that only public addresses are asked, and what the server says of an error is not
    passed on. The key is never printed.
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    name: Annotated[str, AfterValidator(_usable_name)]
    base_url: Annotated[str, AfterValidator(checked_address)]
    key: Annotated[SecretStr, AfterValidator(_usable_key)] = SecretStr("")
    concurrency: int | None = Field(default=None, ge=1)
    most_at_once: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=120.0, gt=0)
    retries: int = Field(default=2, ge=0)
    backoff: float = Field(default=0.5, ge=0)
    preset: str = ""
    models: tuple[str, ...] = ()
    of_visitor: bool = False

    @property
    def secret(self) -> str:
        """The key itself; empty where there is none."""
        return self.key.get_secret_value()

    @property
    def account(self) -> str:
        """Who answers and who pays: the address, and a hash of the key where there is one. Fit to be kept."""
        if not self.secret:
            return self.base_url
        return f"{self.base_url} {hashlib.sha256(f'{self.base_url} {self.secret}'.encode()).hexdigest()}"

    @property
    def port(self) -> int | None:
        """The port that the address names; None where it names none."""
        return urlsplit(self.base_url).port

    @property
    def on_this_machine(self) -> bool:
        """Whether the address is this machine's own."""
        return urlsplit(self.base_url).hostname in ("localhost", "127.0.0.1", "::1")

    @property
    def at_openai(self) -> bool:
        """Whether the address is OpenAI's."""
        return urlsplit(self.base_url).hostname == "api.openai.com"

    @property
    def calls_at_once(self) -> tuple[int, int]:
        """How many calls go on at once to begin with, and at most. A server on this machine takes whatever it is sent
        and only keeps it waiting, and a visitor's is asked moderately, so there these are the same.
        """
        begin = self.concurrency or 8
        grows = self.concurrency is None and not self.on_this_machine and not self.of_visitor
        return begin, max(begin, self.most_at_once or (64 if grows else begin))

    def known_server(self) -> Preset | None:
        """The preset whose port this endpoint has, or the one it was made from."""
        by_port = (preset for preset in PRESETS.values() if urlsplit(preset.base_url).port == self.port is not None)
        return next(by_port, None) or PRESETS.get(self.preset)

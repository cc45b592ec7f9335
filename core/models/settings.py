"""What is known of an endpoint before it is asked: name, address, key, limits and prices; and presets for common
servers.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from .. import home, package_data
from ..events import Frozen, Usage
from .errors import failure
from .ids import is_free

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

MOST_EXTRAS = 8
"""The most extra query parameters of an endpoint, and the most extra headers."""

LONGEST_EXTRA = 1_000
"""The most characters in the value of an extra query parameter or header."""

MOST_THINKING_ROOM = 200_000
"""The most tokens for thinking that can be set."""

_OWN_HEADERS = ("host", "authorization", "cookie", "connection", "content-", "transfer-", "accept-encoding", "proxy-")
"""How the names of headers begin that the app sets itself."""


class Preset(NamedTuple):
    """A provider, or a server people commonly run."""

    title: str
    base_url: str
    start: str
    """What to do if nothing answers."""

    penalty: str = "repetition_penalty"
    """The server's name for the repetition penalty."""

    model: str = ""
    """An example of a model's name."""

    own: str = ""
    """A pattern for how the names of its own models begin."""

    note: str = ""
    """What is special about its address."""

    no_models: str = ""
    """What to do if its list of models is empty."""

    list_key_header: str = ""
    """The header for the key in the request for its models, if it is not Authorization."""

    list_headers: Mapping[str, str] = MappingProxyType({})
    list_query: Mapping[str, str] = MappingProxyType({})


PRESETS = {name: Preset(**fields) for name, fields in package_data.table("servers").items()}
"""The presets, by the name that the endpoint gets."""


def _usable_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise failure("bad_name", name=name)
    return name


def _usable_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()):
        raise failure("bad_key")
    return SecretStr(text)


Extras = tuple[tuple[str, SecretStr], ...]
"""Names and values; a value may be a secret."""


def _extras(value: Any) -> Any:
    """A table of names and values as sorted pairs, which can be hashed. Raises EndpointSettingError."""
    pairs = list(value.items() if isinstance(value, Mapping) else value)
    if len(pairs) > MOST_EXTRAS:
        raise failure("many_extras", most=MOST_EXTRAS)
    plain = {
        str(name).strip(): one if isinstance(one, SecretStr) else SecretStr(str(one).strip()) for name, one in pairs
    }
    for name, one in plain.items():
        text = one.get_secret_value()
        if not _EXTRA_NAME.fullmatch(name):
            raise failure("bad_extra_name")
        if len(text) > LONGEST_EXTRA or not (text.isascii() and text.isprintable()):
            raise failure("bad_extra", name=name, most=LONGEST_EXTRA)
    return tuple(sorted(plain.items(), key=lambda pair: pair[0]))


def _usable_headers(headers: Extras) -> Extras:
    for name, _ in headers:
        if name.lower().startswith(_OWN_HEADERS):
            raise failure("own_header", name=name)
    return headers


def parse_query(text: str) -> dict[str, str]:
    """The names and values of a query such as `api-version=2024-10-21&x=1`, with or without the question mark."""
    return dict(parse_qsl(text.strip().removeprefix("?"), keep_blank_values=True))


def parse_headers(text: str) -> dict[str, str]:
    """The names and values of headers, one `Name: value` per line. Raises EndpointSettingError for a line without a
    colon.
    """
    pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
    if any(not colon for _, colon, _ in pairs):
        raise failure("no_header")
    return {name.strip(): value.strip() for name, _, value in pairs}


def checked_address(address: str) -> str:
    """`address` in the form in which it is used: without spaces around it, or a slash or route at its end. Raises
    EndpointSettingError.

    The messages do not repeat an address that may contain a password or key.
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
    """One server that speaks the OpenAI API. Raises EndpointSettingError if a name, address or key cannot be used.

    `concurrency` calls are made at a time, over all models of the endpoint. Without it, a remote server gets 8 at
    first, and then as many as it accepts, up to 64; `most_at_once` changes that upper limit. `timeout`, in seconds, is
    for one whole call with its retries; `retries` further tries follow a temporary failure, the first after about
    `backoff` seconds. `models` are the names that the server listed when it was last asked. `of_visitor`: a person whom
    a host serves named this server, so only public addresses are asked, and the server's error messages are not passed
    on. `query` and `headers` are sent with every request, in addition to the app's own; their values and the key are
    never printed. `thinking_room` is the number of tokens that every model gets for thinking; without it, what was
    learned about each model applies. `reasoning_effort` is sent to models that accept it.
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
    query: Annotated[Extras, BeforeValidator(_extras)] = ()
    headers: Annotated[Extras, BeforeValidator(_extras), AfterValidator(_usable_headers)] = ()
    thinking_room: int | None = Field(default=None, ge=0, le=MOST_THINKING_ROOM)
    reasoning_effort: str = Field(default="", max_length=40)

    @property
    def secret(self) -> str:
        """The key itself; an empty string if there is none."""
        return self.key.get_secret_value()

    @property
    def account(self) -> str:
        """Who answers and who pays: the address, and a hash of the key and the extra query and headers, if there are
        any. It may be stored.
        """
        extras = [(name, one.get_secret_value()) for name, one in (*self.query, *self.headers)]
        if not (self.secret or extras):
            return self.base_url
        secrets = f"{self.secret} {extras}" if extras else self.secret
        return f"{self.base_url} {hashlib.sha256(f'{self.base_url} {secrets}'.encode()).hexdigest()}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, and the values of headers that are long enough to be one: never to be shown."""
        headers = (one.get_secret_value() for _, one in self.headers)
        return tuple(filter(None, (self.secret, *(text for text in headers if len(text) >= 12))))

    @property
    def port(self) -> int | None:
        """The port in the address; None if it has none."""
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
        """How many calls are made at a time, at first and at most. A server on this machine may write one answer at a
        time and keep all others waiting, so it gets one call at first; a visitor's server gets a moderate number at
        most.
        """
        begin = self.concurrency or (1 if self.on_this_machine else 8)
        most = self.concurrency or (8 if self.on_this_machine or self.of_visitor else 64)
        return begin, max(begin, self.most_at_once or most)

    def known_server(self) -> Preset | None:
        """The provider or server whose machine or local port is this endpoint's, or the preset that it was made
        from.
        """

        def is_here(preset: Preset) -> bool:
            theirs, ours = urlsplit(preset.base_url), urlsplit(self.base_url)
            return theirs.port == self.port if theirs.port is not None else theirs.hostname == ours.hostname

        return next(filter(is_here, PRESETS.values()), None) or PRESETS.get(self.preset)


# What endpoints charge for tokens, as far as `data/models.toml` and `$EXPLAIN_HOME/prices.toml` say.


class Price(Frozen):
    """US dollars for a million tokens, on that day; `verified`: somebody compared the price with the provider's
    list.
    """

    model: str
    prompt: float
    completion: float
    date: date
    source: str = ""
    verified: bool = False

    def cost_of(self, prompt: float, completion: float) -> float:
        """The cost of this number of tokens in US dollars."""
        return (prompt * self.prompt + completion * self.completion) / 1e6


@cache
def prices() -> dict[str, Price]:
    """The prices by the model's id. An entry of `prices.toml` in the home, in the same form, replaces one that comes
    with the app. The file is read once; a change takes effect when the app is restarted. Raises EndpointSettingError if
    it cannot be read.
    """
    own = home.home() / "prices.toml"
    try:
        entries = tomllib.loads(own.read_text(encoding="utf-8")).get("price", []) if own.is_file() else []
        every = (*package_data.rows("models", "price", Price), *(Price.model_validate(entry) for entry in entries))
    except (ValueError, TypeError, OSError) as error:
        why = str(error)
        if isinstance(error, ValidationError):
            why = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors())
        raise failure("bad_prices", file=own, why=why) from None
    return {price.model: price for price in every}


@cache
def price_of(model: str) -> Price | None:
    """The price of the model's tokens: zero if it runs here; None if it is not known."""
    if is_free(model) or model.startswith("local/"):
        return Price(model=model, prompt=0, completion=0, date=date.today())
    return prices().get(model)


def charge(model: str, prompt: int, completion: int) -> float | None:
    """What this number of tokens costs of a day's budget in US dollars: 0 if the price is not known (a visitor's
    catalog refuses such models). None for a robot or a replay, whose calls do not count.
    """
    if is_free(model):
        return None
    price = price_of(model)
    return price.cost_of(prompt, completion) if price else 0.0


def cost(calls: Iterable[tuple[str, Usage]]) -> tuple[float, date | None] | None:
    """The cost of these calls in US dollars, given their models and tokens, and the day of the oldest price, None if
    all calls run here. None instead of both if a price or a number of tokens is not known.
    """
    dollars, days = 0.0, []
    for model, usage in calls:
        price = price_of(model)
        if price is None:
            return None
        if not price.prompt and not price.completion:
            continue
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        dollars += price.cost_of(usage.prompt_tokens, usage.completion_tokens)
        days.append(price.date)
    return dollars, min(days, default=None)

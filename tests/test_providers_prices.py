"""Costs by hand, and everything that makes a cost unknown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jury.errors import ConfigError
from jury.providers import prices
from jury.providers.prices import PRICES, Price, cost, find
from jury.results import Usage

ONE = Price(2.0, 10.0, cached_input=0.5, cache_write=2.5, input_limit=1_000_000)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def write(text: str) -> None:
        file = tmp_path / "own.yaml"
        file.write_text(text)
        monkeypatch.setenv("JURY_CONFIG", str(file))

    return write


def test_a_call_costs_its_tokens_times_their_prices() -> None:
    # 1,000 in of which 400 cached, 200 out: 600 x 2.00 + 400 x 0.50 + 200 x 10.00 = 3,400 millionths of a dollar
    assert cost(ONE, Usage(1, 1000, 200, 400)) == pytest.approx(0.0034)
    assert cost(ONE, Usage(1, 1000, 200)) == pytest.approx(0.004)


@pytest.mark.parametrize(
    "counted",
    [
        {"cache_creation_input_tokens": 100},
        {"prompt_tokens_details": {"cache_write_tokens": 100}},
        {"input_tokens_details": {"cache_write_tokens": 100}},
    ],
)
def test_tokens_written_to_the_cache_have_their_own_price(counted: dict[str, Any]) -> None:
    # 900 x 2.00 + 100 x 2.50 + 200 x 10.00 = 4,050
    assert cost(ONE, Usage(1, 1000, 200), {"usage": counted}) == pytest.approx(0.00405)


@pytest.mark.parametrize(
    ("price", "usage", "body"),
    [
        (None, Usage(1, 10, 5), None),
        (ONE, None, None),
        (ONE, Usage(1, 10, None), None),
        (ONE, Usage(1, None, 5), None),
        (ONE, Usage(1, 1_000_001, 5), None),
        (Price(1.0, 2.0), Usage(1, 10, 5, 3), None),
        (Price(1.0, 2.0), Usage(1, 10, 5), {"usage": {"cache_creation_input_tokens": 3}}),
        (ONE, Usage(1, 10, 5), {"service_tier": "priority"}),
        (ONE, Usage(1, 10, 5), {"usage": {"service_tier": "batch"}}),
        (ONE, Usage(1, 10, 5), {"usage": {"speed": "fast"}}),
        (ONE, Usage(1, 10, 5), {"usage": {"cache_creation": {"ephemeral_1h_input_tokens": 3}}}),
        (
            ONE,
            Usage(1, 10, 5),
            {
                "usage": {
                    "input_tokens_details": {
                        "cache_write_tokens": 3,
                        "cache_write_tokens_details": {"ttl_12h_tokens": 3},
                    }
                }
            },
        ),
    ],
)
def test_what_is_not_known_is_not_zero(price: Price | None, usage: Usage | None, body: Any) -> None:
    assert cost(price, usage, body) is None


@pytest.mark.parametrize("written", [-1000, 10**400, "3", True, 2.5, [3]])
def test_a_count_of_written_tokens_that_can_be_none_makes_the_cost_unknown(written: Any) -> None:
    """Below zero it would give money back to a budget."""
    price, usage = Price(1.0, 2.0, cache_write=1.25), Usage(1, 2000, 5)
    assert cost(price, usage, {"usage": {"cache_creation_input_tokens": written}}) is None
    assert cost(price, usage, {"usage": {"prompt_tokens_details": {"cache_write_tokens": written}}}) is None
    assert cost(price, usage, {"usage": {"cache_creation_input_tokens": None}}) == pytest.approx(2010 / 1e6)


@pytest.mark.parametrize("tier", [None, "default", "standard", "auto", "on_demand"])
def test_the_standard_tier_has_a_price(tier: str | None) -> None:
    assert cost(ONE, Usage(1, 10, 5), {"service_tier": tier, "usage": {"service_tier": tier}}) is not None


def test_listed_prices_are_dated_and_whole() -> None:
    assert len(PRICES) > 20
    for name, price in PRICES.items():
        assert re.fullmatch(r"[a-z]+/\S+", name)
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.date), name
        assert 0 < (price.cached_input or price.input) <= price.input < price.output, name


def test_a_snapshot_has_the_price_of_its_name_unless_it_has_its_own() -> None:
    assert find("openai", "gpt-5-mini-2025-08-07") == PRICES["openai/gpt-5-mini"]
    assert find("anthropic", "claude-haiku-4-5-20251001") == PRICES["anthropic/claude-haiku-4-5"]
    assert find("openai", "gpt-4o-2024-05-13") != PRICES["openai/gpt-4o"]
    assert find("openai-responses", "gpt-5-mini") == PRICES["openai/gpt-5-mini"]


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "o3", "o4-mini"])
def test_cached_tokens_without_a_price_make_the_cost_unknown(model: str) -> None:
    price = find("openai", model)
    assert cost(price, Usage(1, 1000, 200, 0)) is not None
    assert cost(price, Usage(1, 1000, 200, 400)) is None


@pytest.mark.parametrize("name", [("openai", "gpt-unheard-of"), ("azure", "gpt-5-mini"), ("ollama", "llama3.2")])
def test_an_unlisted_model_has_no_price(name: tuple[str, str]) -> None:
    assert find(*name) is None


def test_the_configuration_overrides_and_adds_prices(configured: Any) -> None:
    configured(
        "prices:\n  openai/gpt-5-mini: {input: 1, output: 2.5, cached_input: 0, date: 2026-01-01}\n"
        "  my-server/*: {input: 0, output: 0}\n"
    )
    assert find("openai", "gpt-5-mini") == Price(1, 2.5, cached_input=0, date="2026-01-01")
    assert find("openai", "gpt-5") == PRICES["openai/gpt-5"]
    assert cost(find("my-server", "whatever"), Usage(1, 10, 5)) == 0


@pytest.mark.parametrize(
    "row",
    [
        "{input: 1}",
        "{input: 1, output: -2}",
        "{input: 1, output: x}",
        "{input: 1, output: 2, inptu: 3}",
        "{input: .nan, output: 1}",
        "{input: true, output: 1}",
        "{input: 1" + "0" * 400 + ", output: 1}",
    ],
)
def test_a_price_that_is_none_is_a_configuration_error(configured: Any, row: str) -> None:
    configured(f"prices:\n  openai/gpt-5: {row}\n")
    with pytest.raises(ConfigError, match=r"prices\.openai/gpt-5"):
        find("openai", "gpt-5")


def test_the_date_of_the_table_is_a_date() -> None:
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", prices.AS_OF)

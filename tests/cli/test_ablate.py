"""`hango context ablate`, `ablation` and `diff --try` against hango itself."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Asks, Site
from tests.cli.shell import on_terminal
from tests.cli.worker import working
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use


class Free(ScriptedProvider):
    """One whose calls cost nothing, as the server knows: it has the same."""

    name = "offline"


class Attentive(Free):
    """Knows of the weather what tools have found, in whichever order it is asked."""

    def _next(self, body: Any) -> Any:
        knows = "tool_result" in str(body["messages"])
        return said("It is sunny." if knows else "I do not know.")._next(body)


def said(*texts: str) -> Free:
    return Free(*(Reply(blocks=[text(each)]) for each in texts))


def test_the_table_shows_how_the_answer_differs(site: Site, context: Asks, session: str) -> None:
    provider = Attentive()
    with working(site.runtime, provider):
        ended = context(
            "ablate", "message:2", "message:3", "message:5", "message:1", "--yes", "--wait", "60"
        )

    first, head, *rows, chance, cost = ended.out.splitlines()
    assert first.endswith("succeeded, 4 of 4 tries are done")
    assert head.split() == ["WITHOUT", "TOKENS", "LESS", "ANSWER", "US", "DOLLARS", "TRY"]
    assert [row.split()[0] for row in rows] == [
        "(nothing)", "(nothing)", "message:2", "message:3", "message:5", "message:1",
    ]  # fmt: skip
    assert "to compare with" in rows[0]
    assert "another text, 22% alike" in rows[2]
    assert "as without message:2" in rows[3]
    assert "the same" in rows[4]
    assert "refused: starts_with_assistant" in rows[5]
    assert chance == "by chance  two equal calls: the same"
    assert cost == "cost       0.000000 US dollars, at most 0.000000 were allowed"
    assert len(provider.sent) == 4


def test_other_tool_calls_are_told_from_other_texts(
    site: Site, context: Asks, session: str
) -> None:
    calling = [Reply(blocks=[tool_use(name)]) for name in ("ls", "ls", "glob")]
    with working(site.runtime, Free(*calling)):
        ended = context("ablate", "message:5", "--yes", "--wait", "60")

    (row,) = [line for line in ended.out.splitlines() if line.startswith("message:5")]
    assert "  other tool calls  " in row


def test_without_wait_the_id_is_all_that_is_printed(
    site: Site, context: Asks, on_site: Asks
) -> None:
    begun = context("ablate", "message:5", "--max-cost", "0.9", "--baselines", "1")
    made = begun.out.strip()
    assert site.ann.get(f"/v1/ablations/{made}").json["max_cost"] == {"micro_dollars": 900_000}

    standing = on_site("context", "ablation", made)
    too_soon = on_site("context", "ablation", made, "--wait", "0")
    cancelled = on_site("context", "ablation", made, "--cancel", "--json")

    assert (standing.code, standing.err) == (0, "")
    assert "running, 0 of 2 tries are done" in standing.out
    assert (too_soon.code, too_soon.out) == (5, "")
    assert f"hango context ablation {made} --cancel" in too_soon.err
    assert (cancelled.code, cancelled.json["status"]) == (0, "cancelled")
    assert on_site("context", "ablation", made).code == 1


def test_where_nobody_is_asked_the_cost_has_to_be_given(
    refused: Asks, site: Site, session: str
) -> None:
    code, told = refused("ablate", "message:5")

    assert code == 2
    assert "This can cost " in told
    assert "--max-cost DOLLARS, or --yes" in told
    listed = site.ann.get(f"/v1/sessions/{session}/context/ablations").json
    assert listed["items"] == []


@pytest.mark.parametrize("amount", ["a lot", "-1", "0.0000001", "inf", "nan"])
def test_an_amount_is_dollars(on_site: Asks, session: str, amount: str) -> None:
    ended = on_site("context", "ablate", "message:5", "--session", session, f"--max-cost={amount}")

    assert ended.code == 2
    assert "no amount of dollars" in ended.err


def test_on_a_terminal_the_cost_is_shown_and_asked_for(site: Site, session: str) -> None:
    words = ["context", "ablate", "--session", session, "message:5"]
    environment = {"HANGO_API_URL": site.url, "HANGO_API_KEY": site.ann.key}

    ended = on_terminal(*words, typed=[("[y/N]", "n")], environment=environment)

    assert ended.code == 1
    assert "Spend up to " in ended.out
    assert "likely 0.000000 US dollars, at most 0.000000" in ended.out
    assert "  message:5  on its own" in ended.out
    listed = site.ann.get(f"/v1/sessions/{session}/context/ablations").json
    assert listed["items"] == []


def test_a_terminal_shows_how_far_it_is(site: Site, session: str, on_site: Asks) -> None:
    with working(site.runtime, said(*["Sunny."] * 3)):
        ended = on_terminal(
            "context", "ablate", "--session", session, "message:5", "--yes", "--wait"
        )

    assert ended.code == 0
    assert "| 0 of 3 tries are done  0 s" in ended.out
    assert "succeeded, 3 of 3 tries are done" in ended.out


def test_two_tries_are_compared(site: Site, context: Asks, on_site: Asks) -> None:
    calling = Reply(blocks=[text("Sunny, I think."), tool_use("ls", path="/")])
    with working(site.runtime, Free(Reply(blocks=[text("Sunny, I know.")]), calling)):
        first = context("try", "--wait", "--json").json["id"]
        without = ("--exclude", "message:5", "--baseline", first)
        second = context("try", *without, "--wait", "--json").json["id"]

    ended = on_site("context", "diff", "--try", second)

    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0] == f"from try {first} to try {second}"
    assert any(line.split()[:4] == ["-", "message:5", "left", "out"] for line in lines)
    assert "answers, other tool calls, text 80% alike" in lines
    assert "Sunny, I [-know-]{+think+}." in lines
    assert '+ ls {"path": "/"}' in lines
    assert "stop reason  end_turn → tool_use" in lines
    plain = on_site("context", "diff", "--try", second, "--try", first)
    assert plain.out.startswith(f"from try {second} to try {first}\n")
    plain = on_site("context", "diff", "--try", first)
    assert plain.out.startswith(f"from the plain request to try {first}\n")
    assert "no answer of the plain request" in plain.out
    as_json = on_site("context", "diff", "--try", second, "--json").json
    assert as_json["request"]["parts"][0]["part"] == "message:5"


@pytest.mark.parametrize(
    "words",
    [("--try", "a", "--try", "b", "--try", "c"), ("--try", "a", "--against", "1")],
)
def test_tries_are_compared_with_tries_alone(on_site: Asks, words: Any) -> None:
    ended = on_site("context", "diff", *words)

    assert (ended.code, ended.out) == (2, "")

"""The report as a file: its policy, what is packed into it, hostile texts in its source, what it shows of nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury.errors import install
from jury.report import markup, packing, plots
from jury.report.figures import csv_link, figure
from jury.report.layout import sentence
from jury.report.page import html
from jury.report.parts import (
    Answer,
    Asked,
    CriterionFacts,
    Finding,
    Head,
    ItemFacts,
    JudgeFacts,
    PairFacts,
    PanelFacts,
    Quote,
    Rate,
    Report,
    Seat,
    Target,
    VoteFacts,
)

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onmouseover='alert(1)' \u202eabc\x00 \ud835"


def item(name: str = "one", **more: object) -> ItemFacts:
    vote = VoteFacts(
        "strict",
        value=False,
        passed=False,
        word="fail",
        explanation="It is wrong.",
        quotes=(Quote("no exceptions", True, field="output"), Quote("never said", False)),
        answers=(Answer('{"value": false}', status="scored", value=False),),
    )
    fields: dict[str, object] = {
        "outcome": "fail",
        "word": "fail",
        "flags": ("failed",),
        "texts": {"input": "Can I?", "output": "There are no exceptions."},
        "votes": (vote,),
        "asked": (Asked("d1", ("strict",), user="Is it right?", exact=True),),
    }
    return ItemFacts(name, 0, **{**fields, **more})  # type: ignore[arg-type]


def report(*items: ItemFacts, **more: object) -> Report:
    head = Head(
        name="shop",
        kind="pointwise",
        criteria="Right?",
        seats=(Seat("strict", model="sample/strict"),),
        finished=True,
        rate=Rate(0.25, 0.1, 0.5, 4, 1, text="25% (10% to 50%)"),
        coverage=Rate(1.0, n=4, hits=4, text="100%"),
        outcomes={"fail": 3, "pass": 1},
        answered=4,
        total=4,
    )
    panel = PanelFacts((JudgeFacts("strict", votes=4, rate=head.rate),))
    fields: dict[str, object] = {"head": head, "panel": panel, "items": items or (item(),)}
    return Report(**{**fields, **more})  # type: ignore[arg-type]


class Source(HTMLParser):
    """Elements with their attributes, the visible text, and the content of scripts and sheets."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, list[tuple[dict[str, str | None], str]]] = {"script": [], "style": []}
        self.visible = ""
        self._raw = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag if tag in self.blocks else ""
        if self._raw:
            self.blocks[tag].append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw:
            attrs, before = self.blocks[self._raw][-1]
            self.blocks[self._raw][-1] = (attrs, before + data)
        else:
            self.visible += data

    def packed(self, name: str) -> object:
        text = next(text for attrs, text in self.blocks["script"] if attrs.get("id") == name)
        return json.loads(gzip.decompress(base64.b64decode(text, validate=True)))


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_admits_this_script_and_this_sheet_alone():
    page = Source(html(report()))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    run = [text for attrs, text in page.blocks["script"] if "type" not in attrs]
    assert len(run) == 1
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'{digest(run[0])}'"
    assert rules["style-src"] == f"'{digest(page.blocks['style'][0][1])}'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    places = [tag for tag, _ in page.elements]
    assert places.index("meta") < places.index("style"), "the policy stands before what it is about"


def test_nothing_is_loaded_and_nothing_in_an_attribute_can_act():
    page = Source(html(report(item(EVIL, texts={"output": EVIL}, tags=(EVIL,)), findings=(_finding(EVIL),))))
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert not attributes.get("src")
        link = attributes.get("href") or "#"
        assert link.startswith(("#", "data:text/csv")), link
        assert tag not in ("iframe", "object", "embed", "link", "form", "base")


def _finding(text: str) -> Finding:
    return Finding(text, 1, (text,), examples=((text, text),), first=text)


def test_hostile_texts_do_not_leave_their_place():
    evil = item(EVIL, word=EVIL, texts={"input": EVIL, "output": EVIL}, tags=(EVIL,), error=EVIL)
    made = report(evil, findings=(_finding(EVIL),), sample=(EVIL,), notes=(EVIL,))
    named = replace(made, head=replace(made.head, name=EVIL, criteria=EVIL, worth=(EVIL,), seats=(Seat(EVIL),)))
    named = replace(named, panel=PanelFacts((JudgeFacts(EVIL, rate=made.head.rate),), sentences={"rates": EVIL}))
    text = html(named)
    assert "<img src=x" not in text
    assert "<script>alert" not in text
    assert text.count("<html") == text.count("</html>") == 1
    assert "\x00" not in text
    assert "\u202e" not in text
    text.encode("utf-8")
    page = Source(text)
    assert "<img src=x onerror=alert(1)>" in page.visible
    assert "U+202E" in page.visible
    assert len(page.blocks["script"]) == 4, "the index, one part, its replies, and the script"


def test_what_the_prompts_of_an_item_share_is_packed_once():
    talk = "\n".join(f"event {n}" for n in range(50))
    texts = [f"One?\n{talk}\n\nSay.", f"{talk}\nTwo?", "", f"{talk}\n{talk}\n"]
    asked = tuple(Asked("d1", ("strict",), user=text) for text in texts)
    raw = Source(html(report(item(asked=asked)))).packed("raw-0")
    assert isinstance(raw, list)
    lines = raw[0]["lines"]
    shown = [one.get("user", []) for one in raw[0]["asked"]]
    assert ["\n".join(line for at, n in one for line in lines[at : at + n]) for one in shown] == texts
    assert len(lines) == 50 + len(["One?", "", "Say.", "Two?"])


def test_items_are_packed_whole():
    page = Source(html(report(item(texts={"output": EVIL}), item("two"))))
    index = page.packed("index")
    assert isinstance(index, dict)
    assert index["id"] == ["one", "two"]
    assert index["votes"] == ["f", "f"]
    assert index["part"] == [0, 0]
    details, raw = page.packed("part-0"), page.packed("raw-0")
    assert isinstance(details, list)
    assert isinstance(raw, list)
    assert details[0]["texts"]["output"] == EVIL.replace("\ud835", "\ufffd")
    assert details[1]["votes"][0]["quotes"][1] == {"text": "never said", "found": False, "near": False}
    assert "answers" not in details[1]["votes"][0]
    judge, answers = raw[1]["answers"][0]
    assert (judge, answers[0]["reply"], answers[0]["value"]) == ("strict", '{"value": false}', False)
    assert raw[1]["lines"][slice(*raw[1]["asked"][0]["user"][0])] == ["Is it right?"]


def test_numbers_that_json_has_not_are_words():
    row = {"a": float("nan"), "b": [float("inf")], "c": 1.5}
    page = Source(html(report(item(row=row))))
    details = page.packed("part-0")
    assert isinstance(details, list)
    assert details[0]["row"] == {"a": "nan", "b": ["inf"], "c": 1.5}


def test_of_very_many_tags_the_most_used_can_be_chosen():
    some = [item(str(n), tags=("all", f"tag {n}")) for n in range(packing.MOST_TAGS + 50)]
    page = Source(html(report(*some)))
    index = page.packed("index")
    assert isinstance(index, dict)
    assert len(index["tags"]) == packing.MOST_TAGS
    assert index["tags"][0] == "all"
    assert index["tag"][-1] == [0] or len(index["tag"][-1]) == 2


def test_parts_hold_few_items_and_few_characters():
    some = [item(str(n)) for n in range(200)]
    names = [name for name, _ in packing.packed(report(*some))]
    assert names.count("part-3") == 1
    assert "part-4" not in names
    heavy = [item(str(n), texts={"output": "x" * 400_000}) for n in range(3)]
    assert [name for name, _ in packing.packed(report(*heavy)) if name.startswith("part")] == [
        "part-0",
        "part-1",
        "part-2",
    ]


def test_what_is_not_known_is_shown_as_such():
    nothing = Head("empty", "pointwise", rate=Rate(None, why="nothing passed or failed"), outcomes={"na": 1}, total=1)
    made = Report(nothing, PanelFacts((JudgeFacts("strict"),)), (item(outcome="na", word="NA", flags=("na",)),))
    words = re.findall(r"[\w.%/]+", Source(html(made).replace("</", " </")).visible)
    assert "n/a" in words
    assert not {"nan", "NaN", "None", "0%", "0.0%"} & set(words)


def test_an_empty_run_has_a_page():
    page = Source(html(Report(Head("", "pointwise"))))
    assert "A run" in page.visible
    index = page.packed("index")
    assert isinstance(index, dict)
    assert not any(index.values()), "lists, all empty"
    assert {"id", "votes", "part", "findings"} <= set(index)


def test_the_items_can_be_read_without_a_script():
    page = Source(html(report(item("bad"), item("good", outcome="pass", word="pass"))))
    assert page.visible.index("bad") < page.visible.index("good"), "failures first"
    assert "never said (not found)" in page.visible
    many = [item(str(n)) for n in range(300)]
    assert "100 of 300" in Source(html(report(*many))).visible


def test_tables_stand_where_nothing_draws(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plots, "available", lambda: False)
    rate = Rate(0.5, 0.2, 0.8, 4, 2, text="50% (20% to 80%)")
    page = Source(html(report(criteria=(CriterionFacts("tone", items=4, rate=rate, scores={"1": 1, "2": 3}),))))
    assert install("report") in page.visible
    assert not [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert "tone: scores" in page.visible or "tone: verdicts" in page.visible


@pytest.mark.parametrize(
    "plot",
    [
        plots.intervals(
            "Rates", "By judge.", [(EVIL, 0.5, 0.4, 0.6, "50% (40% to 60%)"), ("b", None, None, None, "n/a")]
        ),
        plots.bars("Counts", "By value.", {EVIL: 3, "b": 0}),
        plots.columns("Scores", "By score.", {"1": 3, "2": 1}),
        plots.parts("Flips", "By kind.", {"a": {"first": 2}}, [("first", "A"), ("second", "B")]),
        plots.trend("Trend", "", [("r1", 3, 10), ("r2", 1, 10)]),
    ],
    ids=lambda plot: plot.title,
)
def test_plots_are_shapes_and_words_without_style(plot):
    if not plots.available():
        pytest.skip("needs the extra `report`")
    drawn = plots.drawn(plot)
    assert drawn is not None
    page = Source(drawn)
    assert page.elements[0][1]["role"] == "img"
    assert page.elements[0][1]["aria-label"].startswith(plot.title)
    allowed = {"svg", "g", "path", "line", "rect", "text", "tspan", "circle"}
    assert {tag for tag, _ in page.elements} <= allowed
    for _, attributes in page.elements:
        assert not {"style", "href", "onclick"} & set(attributes)
        assert not [v for k, v in attributes.items() if k in ("fill", "stroke") and v not in ("none", "transparent")]
    assert "<img" not in drawn
    assert "Data" in Source(figure(plot)).visible


def test_long_names_in_a_plot_keep_both_ends_that_tell_them_apart():
    if not plots.available():
        pytest.skip("needs the extra report")
    names = [f"provider/some-model-with-seventy-billion-weights-{last}" for last in ("2026-10", "2026-11")]
    drawn = plots.drawn(plots.intervals("Rates", "", [(name, 0.5, 0.4, 0.6, "50%") for name in names]))
    assert drawn is not None
    said = re.findall(r">([^<>]*…[^<>]*)<", drawn)
    assert len(set(said)) == 2
    assert all(
        one.startswith("provider/some") and one.endswith(name[-10:]) for one, name in zip(said, names, strict=True)
    )
    assert max(map(len, said)) <= 36


def test_long_names_that_differ_in_their_middle_stay_apart_in_a_plot():
    names = [f"vendor/a-family-of-models-with-a-long-name-{n}-instruct-2512-preview" for n in ("alpha", "beta")]
    shown = {line["shown"] for line in plots.bars("t", "", dict.fromkeys(names, 1)).spec["data"]["values"]}
    assert shown == {"…alpha-instruct-2512-preview", "…beta-instruct-2512-preview"}


def test_of_many_candidates_the_page_begins_with_who_is_first():
    ranking = (
        Target("steady", ranks=(1, 2), elo=12.4),
        Target("brisk", ranks=(1, 3), elo=-2.0),
        Target("odd", elo=-10),
    )
    pairs = PairFacts(Rate(0.5, text="50%"), ranking=ranking)
    page = html(report(pairs=pairs))
    tile = page[page.index("First of 3 candidates") : page.index("Coverage")]
    assert "steady" in tile
    assert "rank 1 to 2 within its 95% interval: no winner yet" in tile
    assert "1 other may be first too" in tile
    assert "Pass rate</h2>" not in page
    assert page.index("<h3>Ranking") < page.index("<h3>Who won")
    assert ">+12<" in page
    assert ">-2<" in page
    assert "First of" not in html(report(pairs=replace(pairs, ranking=ranking[:2])))


def test_few_verdicts_are_a_reason_to_look_before_the_rate_is_quoted():
    assert "before you quote the rate" not in html(report())
    few = replace(report().head, coverage=Rate(0.9, n=10, hits=9, text="90%"))
    assert "before you quote the rate" in html(report(head=few))


def test_reasons_of_findings_are_cut():
    found = Finding("It is wrong.", 1, ("one",), examples=(("one", "x" * 5000),))
    assert "x" * 300 + "…" in html(report(findings=(found,)))
    assert "x" * 301 not in html(report(findings=(found,)))


def test_the_data_of_a_plot_cannot_start_a_formula():
    link = Source(csv_link("T", ["", "n"], [["=1+1", -1], ["-2", None], ["\t=x", 0.5], ["a,b", 2]])).elements[0][1]
    assert link["download"] == "t.csv"
    text = base64.b64decode((link["href"] or "").partition("base64,")[2]).decode()
    assert text == ",n\r\n'=1+1,-1\r\n-2,\r\n'\t=x,0.5\r\n\"a,b\",2\r\n"


def test_pairs_and_their_ranking():
    rate = Rate(0.6, 0.5, 0.7, 10, 6, text="60% (50% to 70%)")
    targets = (Target("x", elo=1010.0, ranks=(1, 2), games=9), Target("y", against_first=rate))
    pairs = PairFacts(rate, {"A": 6, "B": 4}, rate, {"primacy": 2}, targets)
    page = Source(html(report(pairs=pairs)))
    assert "took the first answer both times" in page.visible
    assert "1-2" in page.visible


def test_a_sentence_does_not_change_names():
    assert sentence("one more vote") == "One more vote."
    assert sentence("strict is the strictest.", ["strict"]) == "strict is the strictest."


@given(st.text(alphabet=st.characters(), max_size=60))
def test_shown_text_reads_as_it_was(text: str):
    page = Source(f"<p>{markup.shown(text)}</p>")
    wanted = markup.whole(text).replace("\r\n", "\n").replace("\r", "\n")
    wanted = re.sub(markup._ACTING, lambda m: f"U+{ord(m[0]):04X}", wanted)
    assert page.visible == wanted
    assert {tag for tag, _ in page.elements} <= {"p", "span"}


@given(st.text(max_size=40))
def test_attributes_hold_any_text(text: str):
    page = Source(markup.tag("p", "x", title=text))
    assert [tag for tag, _ in page.elements] == ["p"]
    assert set(page.elements[0][1]) == {"title"}


def test_items_whose_target_failed_have_a_filter_of_their_own():
    failed = [item("a", outcome="error", flags=("error",)), item("b", outcome="not_judged", flags=("error",))]
    assert packing.flags(report(*failed)) == {"error": 1, "not_judged": 1}
    page = html(report(*failed))
    assert 'data-flag="not_judged"' in page
    assert "not judged" in Source(page).visible


@pytest.mark.parametrize(("names", "heads"), [(("one", "two"), ["one", "two"]), (("a" * 40, "b" * 40), ["1", "2"])])
def test_long_names_of_judges_stand_beside_the_rows_alone(names: tuple[str, str], heads: list[str]):
    judges = tuple(JudgeFacts(name) for name in names)
    agreement = ((None, 0.5), (0.5, None))
    panel = PanelFacts(judges=judges, agreement=agreement, common=((0, 4), (4, 0)))
    page = html(Report(Head("x", "pointwise"), panel))
    heat = page[page.index('<table class="heat') :]
    found = re.findall(r'<th scope="col"[^>]*>(?:<bdi>)?([^<]*)', heat[: heat.index("</thead>")])
    assert found == heads


def test_cells_of_a_wide_table_know_their_heads_and_small_shares_are_never_rounded_up_to_all():
    judges = (JudgeFacts("one", votes=300), JudgeFacts("two", votes=300))
    panel = PanelFacts(judges=judges, agreement=((None, 299 / 300), (1.0, None)), common=((0, 300), (300, 0)))
    page = html(Report(Head("x", "pointwise"), panel))
    assert '<td class="num" data-head="Votes">300</td>' in page
    assert re.findall(r'class="brief">(\d+)', page) == ["99", "100"]
    assert '<td class="num">' in page[page.index("Of the panel") :], "a table of two columns stays one"

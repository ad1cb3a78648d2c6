"""A model of rules: it answers extraction and review from the request's text and nothing else.

It reads explicit equations as the offline extractor does, and has the bad habits that the pipeline must
withstand, each a rule about text, none about a paper:

- it trusts the first place where something stands, and looks at the last one only when told it is wrong;
- what it takes for a known constant but cannot find, it fills in from memory, without a quote;
- a number written in words it quotes as if it stood there in digits;
- a number of five or more digits it rounds to three.
"""

from __future__ import annotations

import json
import re
from typing import Any

from curation.document import Document, Equation
from curation.glossary import domains, glossary
from curation.paper import DateVerdict, Paper
from curation.pattern import pattern_relations, sentence
from curation.printed import NUMBER, agree, numbers_in, value_of
from curation.tex_math import symbol_name
from tests.fakes.model_server import Ask

MEMORY = {"acceleration scale": 1.2e-10, "speed of light": 2.998e8, "hubble": 70.0}
WORDS = {"seven tenths": 0.7, "one half": 0.5, "three quarters": 0.75}
_EQUATION = re.compile(r"\$\$ (.*?) \$\$", re.DOTALL)
_ASSIGNED = re.compile(rf"(?P<symbol>\\?[A-Za-z]+(?:_\w|_\{{\w+\}})?)\s*=\s*\(?(?P<number>{NUMBER})")


def answer(ask: Ask) -> str:
    """Return the content of the reply to one request."""
    paper = _between(ask.text, "paper")
    if "<claims>" in ask.text:
        return json.dumps(_review(paper, _between(ask.text, "claims")))
    objections = ask.messages[-1]["content"] if len(ask.messages) > 2 else ""
    return json.dumps(_extract(paper, objections))


def _between(text: str, mark: str) -> str:
    # The prompt speaks of both marks before they occur, so the last opening is the real one.
    return text.rpartition(f"<{mark}>\n")[2].partition(f"\n</{mark}>")[0]


def _document(text: str) -> Document:
    equations = [
        Equation(label="", tex=match[1], start=match.start(1), end=match.end(1))
        for match in _EQUATION.finditer(text)
    ]
    return Document(paper="p", route="tex", text=text, equations=tuple(equations), glossary=glossary(text))


def _extract(text: str, objections: str) -> dict[str, Any]:
    verdict = DateVerdict(outcome="eligible", reason="unknown")
    paper = Paper(key="p", origin="folder", title="", authors=(), verdict=verdict)
    relations = [relation.model_dump() for relation in pattern_relations(paper, _document(text))]
    for relation in relations:
        _fill_from_memory(relation)
        _read_words(relation, text)
        _round(relation)
        _trust_the_first(relation, objections)
    return {"relations": relations, "none_reason": None if relations else "no formula is printed"}


def _constant(item: dict[str, Any], value: float, printed: str, quote: str) -> dict[str, Any]:
    kept = {key: item[key] for key in ("name", "symbol", "unit", "description")}
    number = {"printed": printed, "value": value, "low": None, "high": None, "quote": quote}
    return {**kept, "role": "measured", **number}


def _fill_from_memory(relation: dict[str, Any]) -> None:
    for item in list(relation["inputs"]):
        known = [value for words, value in MEMORY.items() if words in item["description"].casefold()]
        if item["low"] is None and known:
            relation["inputs"].remove(item)
            relation["parameters"].append(_constant(item, known[0], f"{known[0]}", ""))


def _read_words(relation: dict[str, Any], text: str) -> None:
    for item in list(relation["inputs"]):
        place = re.search(rf"\${re.escape(item['symbol'])}\$ is[^.$]*", text)
        said = [value for words, value in WORDS.items() if place and words in place.group()]
        if item["low"] is None and said:
            relation["inputs"].remove(item)
            quote = f"${item['symbol']} = {said[0]}$ is the {item['description']}"
            relation["parameters"].append(_constant(item, said[0], f"{said[0]}", quote))


def _round(relation: dict[str, Any]) -> None:
    for item in relation["parameters"]:
        digits = re.sub(r"\D", "", item["printed"].partition("e")[0].partition("\\")[0]).strip("0")
        if item["value"] is not None and len(digits) >= 5:
            item["value"] = float(f"{item['value']:.3g}")
            item["printed"] = f"{item['value']}"


def _trust_the_first(relation: dict[str, Any], objections: str) -> None:
    conditions = relation["conditions"]
    told = "conditions[0]: contradicted" in objections
    relation["conditions"] = (conditions[-1:] if told else conditions[:1]) or conditions


def _review(text: str, claims: str) -> dict[str, Any]:
    terms = {symbol_name(term.symbol): term for term in glossary(text)}
    verdicts = []
    for line in claims.splitlines():
        field, _, claim = line.partition(": ")
        name = field.split(".")[1] if "." in field else ""
        if field == "relation":
            match = _EQUATION.search(text)
            verdict, quote = ("supported", match[1]) if match else ("absent", "")
        elif field.startswith("conditions"):
            verdict, quote = _condition(text, claim)
        elif field.endswith(".domain"):
            verdict, quote = _domain(text, name, claim)
        elif name in terms:
            quote = sentence(text, terms[name].start, terms[name].end)
            verdict = _unit(terms[name].unit, claim) if field.endswith(".unit") else _value(quote, claim)
        else:
            verdict, quote = "absent", ""
        verdicts.append({"field": field, "verdict": verdict, "quote": quote, "comment": "compared by rule"})
    origin, quote = _origin(text)
    return {"verdicts": verdicts, "originality": origin, "originality_quote": quote}


def _unit(unit: str, claim: str) -> str:
    return "supported" if claim.endswith(f" in {unit or '1'}") else "contradicted"


def _value(quote: str, claim: str) -> str:
    claimed = re.search(rf" is ({NUMBER})", claim)
    value = value_of(claimed[1]) if claimed else None
    found = value is not None and any(agree(number.value, value) for number in numbers_in(quote))
    return "supported" if found else "contradicted"


def _domain(text: str, name: str, claim: str) -> tuple[str, str]:
    for span in domains(text):
        if symbol_name(span.symbol) == name:
            ends = [value_of(span.low), value_of(span.high)]
            claimed = [number.value for number in numbers_in(claim)]
            verdict = "supported" if claimed[-2:] == ends else "contradicted"
            return verdict, sentence(text, span.start, span.end)
    return "absent", ""


def _condition(text: str, claim: str) -> tuple[str, str]:
    """Compare every assignment in a condition with the last one of the same symbol in the paper."""
    last: dict[str, re.Match[str]] = {}
    for match in _ASSIGNED.finditer(text):
        last[symbol_name(match["symbol"])] = match
    for match in _ASSIGNED.finditer(claim):
        final = last.get(symbol_name(match["symbol"]))
        if final is not None and value_of(final["number"]) != value_of(match["number"]):
            return "contradicted", sentence(text, final.start(), final.end())
    bare = "".join(claim.replace("$", "").split())
    for match in re.finditer(r"[^.]+", text):
        quote = sentence(text, match.start() + 2, match.start() + 3)
        if bare == "".join(quote.replace("$", "").split()):
            return "supported", quote
    return "absent", ""


def _origin(text: str) -> tuple[str, str]:
    equation = _EQUATION.search(text)
    before = text[: equation.start()].rstrip() if equation else ""
    lead = sentence(before, len(before) - 1, len(before))
    if re.search(r"\bwe adopt\b|\binput of (?:our|the) [\w ]*model\b", lead):
        return "assumed", lead
    if re.search(r"\bfollowing\b.*\b(?:19|20)\d\d\b|\bwell-known\b", lead):
        return "cited", lead
    return ("new", lead) if re.search(r"\b[Ww]e (?:find|fit|measure)|\bgives\b", lead) else ("unclear", lead)

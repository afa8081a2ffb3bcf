"""Line rules of the user's own: the same language and engine as the built-in formats.

A rule describes one kind of line. ``{name:type}`` is a field, a blank is one blank,
``~`` any number of them, ``[...]`` an optional part; the rest stands for itself.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import InputError, LimitError, RuleError
from ..limits import LIMITS, Limits
from ..units import ns_factor
from ..util.built import shipped_table
from ..util.toml import parse_toml

__all__ = ["Rule", "as_rules", "load_rules", "shipped_rules"]

_BETTER = {"lower": 0, "higher": 1, "none": 2}
_OBSERVATION = {"run": 0, "boot": 1}


class Rule:
    """One kind of line, and which readings it gives.

    Parameters
    ----------
    template : str
        The form of the line, for example ``"fft {n:uint} points: {t:dec} usec"``. For a
        section it is the line that begins it.
    name : str, optional
        ``format.kind``; must be unique. Made from the template if not given.
    value : str, optional
        The field that is the reading, or a sum of fields with integer factors
        (``"60*m+s"``). Short for ``values={metric: value}``.
    metric : str, optional
        Name of the metric that `value` gives; by default the field's own name.
    values : mapping, optional
        ``{metric: field or sum}`` for lines with several readings. Without `value` and
        `values` the line gives records only.
    unit : str, optional
        ``"ns" "us" "ms" "s" "tick" "cycle"`` or any word; ``"{u}"`` takes it from a field.
    context : str or sequence of str, optional
        Names of other rules (``"kind"`` of the same format, or ``"format.kind"``): the fields of
        their last record before a line are labels of its readings, too. They go from the outside
        in: a record of one ends those behind it. Fields that the line has as well must agree.
        The fields of a section's begin line, and of its rows without values, label the rows below
        them without being named.
    before : str, optional
        Name of another rule as in `context`: the fields of its *next* record are labels. This is
        for programs that print the phase behind its lines.
    until : str, optional
        Span: the template of the line that ends the span this one begins. A value is the difference
        of the field in both lines (a stamp, a counter); all other fields that both have must be
        equal, so that spans may interleave.
    count : str, optional
        The line stands for so many readings: a row of a histogram. A ``text`` field is a list,
        one number for each column of the table. A row with a count and no value counts readings
        beyond the last bucket.
    cumulative : str, optional
        Instead of `count`: how many readings lie at the value or below it, rows above included.
    columns : str, optional
        The parts of a column's name, ``"{metric}-{cpu}"``. The names are the words of the
        section's field ``columns``; without it the columns are numbered from 0.
    below, upto : str, optional
        The field in which the range of values of a bucket ends, exclusive or inclusive; a word
        that is no number means that the range has no end.
    total : str, optional
        The field in which the table states the sums of its counts: a difference is a problem.
    grows : str, optional
        The program prints its state again and again: of the lines of one key only the last
        counts, until this field falls (the program was started anew).
    tag : str, optional
        The literal that is looked for; by default the first one of at least three bytes
        without a blank. Name it where that one is common.
    better : {"lower", "higher", "none"}
        Which direction is an improvement.
    unit_of_observation : {"run", "boot"}
        The independent observation in a comparison: a run of the program that
        prints the line, or a boot of the board, whose readings then count as one.
    needs_clock : bool
        True: the values are ticks of the board's clock, and where it is not known the reader says
        how to settle it.
    exponents : mapping, optional
        ``{field: power of ten}`` that the column of a ``dec`` or ``exp`` field keeps: more digits
        are a problem, not a rounded value. Without it up to nine digits are taken as they come,
        and the resolution is that of the digits printed in the file.
    rounded : bool
        True: digits beyond that power of ten are rounded off where at least five stay, for
        programs that print binary fractions whole (``41.333333333333336``).
    all : bool
        True: every match of a line is a record; False: the first.
    soft : bool
        True: the tag is a common word, and a line that has it without being a record is no
        problem.
    end : str, optional
        Section: the template of its last line, ``""`` for a blank line.
    rows : mapping, optional
        Section: ``{kind: template}`` tried on every line between.
    limits : Limits, optional
        How long a template and how many the rows may be.

    Raises
    ------
    RuleError
        The rule is wrong; for a template, `offset` is the column.
    LimitError
        A template is longer than `limits` allow.

    Examples
    --------
    >>> Rule("fft {n:uint} points: {t:dec} usec", value="t", unit="us")
    Rule('fft {n:uint} points: {t:dec} usec', name='user.fft', values={'t': 't'}, unit='us')
    """

    __slots__ = ("_items",)

    def __init__(
        self,
        template: str,
        *,
        name: str | None = None,
        value: str | None = None,
        metric: str | None = None,
        values: Mapping[str, str] | None = None,
        unit: str | None = None,
        context: str | Sequence[str] = (),
        before: str | None = None,
        until: str | None = None,
        count: str | None = None,
        cumulative: str | None = None,
        columns: str | None = None,
        below: str | None = None,
        upto: str | None = None,
        total: str | None = None,
        grows: str | None = None,
        tag: str | None = None,
        better: str = "lower",
        unit_of_observation: str = "run",
        needs_clock: bool = False,
        exponents: Mapping[str, int] | None = None,
        rounded: bool = False,
        all: bool = False,
        soft: bool = False,
        end: str | None = None,
        rows: Mapping[str, str] | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        _check_kinds(values, unit, exponents, rows)
        given = dict(values or {})
        if value is not None:
            given[metric or (value if value.isidentifier() else "value")] = value
        elif metric is not None:
            raise RuleError("metric names what value gives: value is missing")
        if better not in _BETTER:
            raise RuleError(f"better is lower, higher or none, not {better!r}")
        if unit_of_observation not in _OBSERVATION:
            raise RuleError(f"unit_of_observation is run or boot, not {unit_of_observation!r}")
        items: dict[str, Any] = {
            "name": name or _name_of(template),
            "pattern": template,
            "tag": tag,
            "values": ",".join(f"{m}={f}" for m, f in given.items()) or None,
            "unit": unit,
            "context": (context if isinstance(context, str) else ",".join(context)) or None,
            "before": before,
            "until": until,
            "count": count,
            "cumulative": cumulative,
            "columns": columns,
            "below": below,
            "upto": upto,
            "total": total,
            "grows": grows,
            "exponents": ",".join(f"{f}={e:d}" for f, e in (exponents or {}).items()) or None,
            "rounded": bool(rounded),
            "better": _BETTER[better],
            "observation": _OBSERVATION[unit_of_observation],
            "needs_clock": bool(needs_clock),
            "all": bool(all),
            "soft": bool(soft),
            "end": end,
            "rows": tuple(f"{k}={t}" for k, t in rows.items()) if rows else None,
        }
        self._items = items
        _check([self.alone()], limits)

    @property
    def name(self) -> str:
        """Name of the rule: format, dot, kind."""
        return str(self._items["name"])

    @property
    def template(self) -> str:
        """The template as given."""
        return str(self._items["pattern"])

    def definition(self) -> dict[str, Any]:
        """The rule as the core takes it."""
        return dict(self._items)

    def alone(self) -> Rule:
        """The same rule without the other rules that it names."""
        if not self._items["context"] and not self._items["before"]:
            return self
        new = object.__new__(Rule)
        new._items = {**self._items, "context": None, "before": None}
        return new

    def renamed(self, name: str) -> Rule:
        """The same rule under another name."""
        new = object.__new__(Rule)
        new._items = {**self._items, "name": name}
        return new

    def _key(self) -> tuple[Any, ...]:
        return tuple(self._items.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_from_definition, (self.definition(),))

    def __repr__(self) -> str:
        parts = [repr(self.template), f"name={self.name!r}"]
        if self._items["values"]:
            pairs = (p.partition("=") for p in self._items["values"].split(","))
            parts.append(f"values={ {m: f for m, _, f in pairs}!r}")
        parts += [f"{k}={self._items[k]!r}" for k in ("unit", "tag", "end") if self._items[k]]
        return f"Rule({', '.join(parts)})"


def _from_definition(items: dict[str, Any]) -> Rule:
    rule = object.__new__(Rule)
    rule._items = items
    return rule


def _name_of(template: str) -> str:
    """A name from the first word of the template's literals."""
    literals = re.sub(r"\{[^{}]*\}|[\[\]~^$]", " ", template)
    word = re.search(r"[A-Za-z][A-Za-z0-9_]*", literals)
    return f"user.{word.group().lower() if word else 'line'}"


def _check(rules: Sequence[Rule], limits: Limits) -> None:
    """Compile the rules by themselves; an error shows the place in the template."""
    try:
        _core.RuleSet(
            [rule.definition() for rule in rules],
            builtin=False,
            max_rules=limits.rules,
            max_template=limits.template,
        )
    except RuleError as error:
        if len(rules) == 1 and f"{rules[0].name}', column " in error.message:
            _point(error, rules[0].template)
        raise


#: Words for units that are converted under another name.
_OTHER_NAMES = {
    "nanosecond": "ns",
    "microsecond": "us",
    "millisecond": "ms",
    "second": "s",
    "tick": "tick",
    "cycle": "cycle",
}


def _check_kinds(values: Any, unit: Any, exponents: Any, rows: Any) -> None:
    """Refuse a value of another kind than its key takes, in the words of a rule file."""
    if values is not None and not isinstance(values, Mapping):
        field = values if isinstance(values, str) else "field"
        raise RuleError(
            'values is a table, values = { metric = "field" }; for one field write '
            f'value = "{field}"'
        )
    if exponents is not None and not isinstance(exponents, Mapping):
        raise RuleError("exponents is a table, exponents = { field = -3 }")
    if rows is not None and not isinstance(rows, Mapping):
        raise RuleError('rows is a table, rows = { name = "template" }')
    if unit is None:
        return
    if not isinstance(unit, str):
        raise RuleError(f'unit is a word ("us", "tick"), or "{{field}}", not {unit!r}')
    plain = unit.lower().removesuffix("s") if len(unit) > 3 else unit.lower()
    known = _OTHER_NAMES.get(plain) or (plain if ns_factor(plain, 1) is not None else None)
    if known is not None and ns_factor(unit, 1) is None:
        raise RuleError(f'unit "{unit}" is not converted: write "{known}"')


def _point(error: RuleError, template: str) -> None:
    """Add the template with a mark under the column."""
    column = len(template.encode()[: error.offset].decode("utf-8", "replace"))
    if column <= len(template):
        error.message += f"\n  {template}\n  {' ' * column}^"
        error.args = (error.message,)


def as_rules(rules: Any, limits: Limits = LIMITS) -> tuple[Rule, ...]:
    """Rules from the arguments of a user: a Rule, a template, a TOML path, or several of these.

    Two rules of one name get numbers behind it.
    """
    if rules is None:
        return ()
    found: list[Rule] = []
    several = isinstance(rules, Iterable) and not isinstance(rules, (str, os.PathLike))
    for one in rules if several else [rules]:
        if isinstance(one, Rule):
            found.append(one)
        elif isinstance(one, os.PathLike) or (isinstance(one, str) and one.endswith(".toml")):
            found.extend(load_rules(one, limits))
        elif isinstance(one, str):
            found.append(Rule(one, limits=limits))
        else:
            raise RuleError(f"a rule is a Rule, a template or a TOML file, not {one!r}")
    return tuple(_numbered(found))


def _numbered(rules: list[Rule]) -> list[Rule]:
    """The second rule of a name gets a 2 behind it, and so on."""
    seen: dict[str, int] = {}
    out = []
    for rule in rules:
        seen[rule.name] = n = seen.get(rule.name, 0) + 1
        out.append(rule if n == 1 else rule.renamed(f"{rule.name}{n}"))
    return out


@functools.cache
def shipped_rules() -> tuple[Rule, ...]:
    """The rule files that come with the package: dd, cyclictest, systemd-analyze and others.

    They are tried on every source, behind the user's rules and before the built-in formats.
    """
    folder = Path(__file__).with_name("shipped")
    files = sorted(folder.glob("*.toml"))
    return tuple(rule for path in files for rule in _rules_of(shipped_table(path), path, LIMITS))


def with_shipped(rules: Sequence[Rule]) -> list[Rule]:
    """The user's rules, then the shipped ones; names that are taken get a number."""
    return _numbered([*rules, *shipped_rules()])


_KEYS = frozenset(
    {"name", "template", "value", "metric", "values", "unit", "context", "tag", "better"}
    | {"exponents", "all", "soft", "end", "rows", "comment", "before", "until", "count", "columns"}
    | {"cumulative", "below", "upto", "total", "grows"}
    | {"unit_of_observation", "needs_clock", "rounded"}
)


def load_rules(path: str | os.PathLike[str], limits: Limits = LIMITS) -> list[Rule]:
    """Rules from a TOML file.

    Parameters
    ----------
    path : str or path
        The file has one table ``[[rule]]`` a rule with the arguments of `Rule` as keys
        (``template`` is the only one that must be there; ``comment`` is ignored), and
        optionally ``format = "name"`` at the top: the begin of the rules' names, by
        default the file's name.
    limits : Limits, optional
        How many bytes (`whole`) and rules the file may have, and how long a template may be.

    Returns
    -------
    list of Rule

    Raises
    ------
    RuleError
        With `path`, and the rule's name in the message.
    LimitError
        The file has more than `limits` allow.
    OSError
        The file cannot be read.
    """
    path = Path(path)
    try:
        content = parse_toml(_bytes_of(path, limits.whole), str(path))
    except InputError as error:
        raise RuleError(error.message, path=str(path)) from error
    return _rules_of(content, path, limits)


def _rules_of(content: Mapping[str, Any], path: Path, limits: Limits) -> list[Rule]:
    """The rules in the content of a file."""
    prefix = content.get("format", re.sub(r"[^A-Za-z0-9_]+", "_", path.stem))
    tables = content.get("rule", [])
    if not isinstance(tables, list) or not tables:
        raise RuleError("there is no [[rule]] in it", path=str(path))
    if len(tables) > limits.rules:
        text = f"has {len(tables)} rules, more than {limits.rules} (--limit rules=N)"
        raise LimitError(text, path=str(path))
    rules = _numbered(
        [_from_table(table, i, str(prefix), str(path), limits) for i, table in enumerate(tables)]
    )
    try:
        _check(rules, limits)  # together: rules name each other
    except RuleError as error:
        error.path = str(path)
        raise
    return rules


def _bytes_of(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise LimitError(f"has more than {most} bytes (--limit whole=N)", path=str(path))
    return data


def _from_table(table: Any, index: int, prefix: str, path: str, limits: Limits) -> Rule:
    given = dict(table) if isinstance(table, dict) else {}
    unknown = set(given) - _KEYS
    where = f"rule {given.get('name', index + 1)}"
    if unknown:
        raise RuleError(f"{where}: no such key: {', '.join(sorted(unknown))}", path=path)
    if not isinstance(given.get("template"), str):
        raise RuleError(f"{where}: template is missing", path=path)
    given.pop("comment", None)
    if given.get("unit") is None and ("value" in given or "values" in given):
        text = 'unit is missing: a word ("us", "tick"), its field ("{u}"), or "" where unknown'
        raise RuleError(f"{where}: {text}", path=path)
    if given.get("unit") == "":
        del given["unit"]
    name = str(given.pop("name", _name_of(given["template"]).partition(".")[2]))
    full = name if "." in name else f"{prefix}.{name}"
    try:
        return Rule(given.pop("template"), name=full, limits=limits, **given)
    except (RuleError, LimitError) as error:
        error.path = path
        raise
    except (TypeError, AttributeError, ValueError) as error:
        raise RuleError(f"{where}: {error}", path=path) from error

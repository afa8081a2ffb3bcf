"""The medians of boots in the forms of benchstat and pyperf, so that these can disagree with us.

Sources: Go's benchmark data format (golang/proposal, design 14313) and pyperf's JSON (pyperf
documentation, "pyperf JSON").
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .findings import boot_values

__all__ = ["FORMS", "gobench", "pyperf"]


def gobench(data: Any, unit: str = "boot") -> str:
    """Go benchmark text: one line a boot, which benchstat takes as one sample.

    Parameters
    ----------
    data : data set, snapshot or side
    unit : {"boot", "run", "reading"}

    Returns
    -------
    str
        Values in ``ns/op``. Names end in a letter, because benchstat reads ``-4`` as GOMAXPROCS.
    """
    return _gobench(boot_values(data, unit))


def _gobench(values: Mapping[str, Sequence[float]]) -> str:
    lines = ["unit: boot"]
    for key, boots in values.items():
        words = re.sub(r"[^A-Za-z0-9_,.=]+", "/", key).strip("/")
        name = "Benchmark" + words[:1].upper() + words[1:] + "/x"
        lines += [f"{name} 1 {value!r} ns/op" for value in boots]
    return "\n".join(lines) + "\n"


def pyperf(data: Any, unit: str = "boot") -> str:
    """pyperf's JSON: a benchmark a key, a run a boot, in seconds.

    Keys with a value of 0 or below are left out: pyperf takes positive values only.
    """
    return _pyperf(boot_values(data, unit))


def _pyperf(values: Mapping[str, Sequence[float]]) -> str:
    benchmarks = [
        {"runs": [{"metadata": {"name": key}, "values": [value / 1e9]} for value in boots]}
        for key, boots in values.items()
        if boots and min(boots) > 0
    ]
    document = {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": benchmarks}
    return json.dumps(document) + "\n"


#: Each form by the name that ``show --format`` takes.
FORMS: dict[str, Callable[[Any], str]] = {"gobench": gobench, "pyperf": pyperf}

"""Sides for tests: hand-made boots, and releases of the published table."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from tickgauge.comparison.side import Key, Side

PUBLISHED = Path(__file__).parents[2] / "data" / "tfa" / "published.csv.gz"

#: Juno's data sets from v2.9(rc0) on; v2.11 to v2.13 were never published as a table of their own.
JUNO = (
    ("a3077ae1e", "v2.9(rc0)"),
    ("94276a569", "v2.9"),
    ("94276a569", "v2.10"),
    ("9418c9ebe", "v2.14"),
    ("0e4a751f8", "v2.15"),
)


#: All data sets of Juno from v2.9(rc0) on: v2.14 was published three times.
JUNO_ALL = (
    ("a3077ae1e", "v2.9(rc0)"),
    ("94276a569", "v2.9"),
    ("94276a569", "v2.10"),
    ("970203555", "v2.14"),
    ("9418c9ebe", "v2.14"),
    ("0e4a751f8", "v2.14"),
    ("0e4a751f8", "v2.15"),
)


def boots(values, key=None, *, name="", platform=None, build=None, version=None, digest=None):
    """A side of one key or several: ``{key: [[readings of boot 0], [of boot 1], ...]}``."""
    if not isinstance(values, dict):
        values = {key or Key(format="tftf", test="t", metric="m", unit="ns"): values}
    columns = {n: [] for n in ("key", "boot", "value")}
    n_boots = 0
    for k, per_boot in enumerate(values.values()):
        for b, readings in enumerate(per_boot):
            for value in readings if isinstance(readings, (list, tuple)) else [readings]:
                columns["key"].append(k)
                columns["boot"].append(b)
                columns["value"].append(value)
            n_boots = max(n_boots, b + 1)
    key_ids, boot_ids, value = (np.array(columns[n], "i8") for n in ("key", "boot", "value"))
    zero = np.zeros(len(value), "i8")
    state = {"platform": platform, "build": build, "version": version}
    return Side(
        list(values), key_ids, zero, boot_ids, zero, zero, value,
        boots=[dict(state) for _ in range(n_boots)],
        sources=[{"digest": digest or name or "0" * 64, "format": "test", "boots": n_boots}],
        name=name,
    )  # fmt: skip


def exchange_of(test, metric):
    if not test.endswith("_parallel"):
        return "none"
    return "all" if metric == "powerdown" else "cluster"


def release(platform, commit, label):
    """A published release: one boot, each cell a reading of 20 ns resolution."""
    with gzip.open(PUBLISHED, "rt", encoding="utf-8") as file:
        rows = [
            r for r in csv.DictReader(file)
            if (r["platform"], r["commit"], r["release_label"]) == (platform, commit, label)
        ]  # fmt: skip
    assert rows, (platform, commit, label)
    values = {}
    for r in rows:
        test = r["test"].removeprefix("test_rt_instr_")
        cluster, core = int(r["cluster"]), int(r["core"])
        if platform == "n1sdp":  # its labels repeat; the rows are cluster 0, 1 by core
            core, cluster = divmod(int(r["row"]), 2)
        key = Key(
            format="tftf", test=test, metric=r["metric"], unit="ns", cluster=cluster, core=core,
            exchange=exchange_of(test, r["metric"]), resolution=20,
        )  # fmt: skip
        values[key] = [[int(r["value_ns"])]]
    return boots(values, name=label, platform=platform, version=label, digest=commit + label)

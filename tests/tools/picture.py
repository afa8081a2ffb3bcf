"""Draws the picture of README: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt

import tickgauge as tg

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "notebooks" / "data" / "emulated"
OUT = ROOT / "notebooks" / "regression.svg"


def main() -> None:
    """15 boots of one firmware against 15 of another: one distribution, and every key."""
    old, new = tg.read(DATA / "v2.12.log.gz"), tg.read(DATA / "v2.14.log.gz")
    plt.rcParams.update({"svg.hashsalt": "tickgauge", "font.size": 9})
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=(1, 1.25)
    )
    both = tg.Dataset([*old.parts, *new.parts])
    both.plot.ecdf(
        left, by="version", test="susp_deep_serial", metric="cache_flush", core=[1, 2, 3]
    )
    tg.compare(old, new).plot.forest(right, limit=14)
    figure.savefig(OUT, metadata={"Date": None, "Creator": "tickgauge"})
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()

"""``tickgauge axi``: what is printed, exit status, options."""

from __future__ import annotations

import json
import zipfile

import pytest

from tickgauge.cli import main
from zynq_files import DATA, hostile, ila

A, B = str(DATA / "A.csv.xz"), str(DATA / "B.csv.xz")
LITE = "m_arvalid m_arready m_araddr[31:0] m_rvalid m_rready"


@pytest.fixture
def put(tmp_path):
    def write(data, name="capture.csv"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


def run(capsys, *args):
    code = main(["axi", *args])
    return code, *capsys.readouterr()


def test_one_capture(capsys):
    code, out, _ = run(capsys, B, "--clock", "250MHz", "--slowest", "1")
    assert code == 0
    assert "reads blocked while writing: 5888 of 5888 write beats; independent ports: 1032" in out
    assert "0x70106000" in out
    assert "14.124" in out  # 3531 clocks at 250 MHz
    assert "MB/s" in out


def test_what_was_found_comes_first_in_words(capsys):
    """Figures as the README's example and truth.zip have them: 5888 of 8192 clocks, 3531, 2816."""
    _, out, _ = run(capsys, B, "--clock", "250MHz")
    blocked, read, write = (line.strip() for line in out.splitlines()[1:4])
    assert blocked == (
        "Reads are blocked while writes flow. In 5888 of the 5888 clocks with a write beat and a "
        "read open (100.0 %) no read data was offered; that is 71.9 % of the capture's 8192 clocks "
        "(23.552 us), and would be 1032 by chance."
    )
    assert read == (
        "The slowest read at 0x70106000, 4096 bytes: 3531 clocks (14.124 us), x1.46 the median; "
        "asked for at sample 524 (2.096 us); in 2816 of its clocks (79.8 %) a write held it up."
    )
    assert write.startswith("The slowest write at 0x7050")
    assert "271 clocks (1.084 us)" in write
    assert len(out.splitlines()) < 40  # one screen
    free = run(capsys, A)[1].splitlines()[1].strip()
    assert free.startswith("Writes do not hold reads up. In 0 of the 6144 clocks")
    assert " us)" not in free  # without a clock there are no times


def test_the_story_of_a_capture_without_writes(capsys, put):
    path = put(ila(LITE, "1 1 8 0 1", "0 1 8 0 1", "0 1 8 1 1"))
    lines = run(capsys, path)[1].splitlines()
    assert lines[1].strip() == (
        "Nothing can be told about blocking: the W channel is not in the capture."
    )
    assert lines[2].strip().startswith("The slowest read at 0x8")


def test_an_answer_in_the_clock_of_its_command_belongs_to_one_before(capsys, tmp_path):
    """IHI 0022: data and responses come behind the handshake of their command."""
    names = "awvalid awready wvalid wready wlast bvalid bready arvalid arready rvalid rready rlast"
    pins = {name: chr(ord("a") + i) for i, name in enumerate(names.split())}
    text = "".join(f"$var wire 1 {pin} s_axi_{name} $end\n" for name, pin in pins.items())
    text += "$enddefinitions $end\n"
    for at, level in ((0, 0), (3, 1), (4, 0), (10, 1), (11, 0), (20, 0)):
        text += f"#{at}\n" + "".join(f"{level}{pin}\n" for pin in pins.values())
    (tmp_path / "a.vcd").write_text(text)
    code, out, _ = run(capsys, str(tmp_path / "a.vcd"))
    assert code == 0
    assert "The slowest read: at least 7 clocks; asked for at sample 3" in out
    assert "The slowest write: at least 7 clocks; asked for at sample 3" in out


def test_two_captures(capsys):
    code, out, _ = run(capsys, A, B)
    assert code == 0
    assert out.splitlines()[1].strip() == (
        "B: reads stop while writes flow; 2816 of 3531 clocks of the slowest read; A: independent"
    )
    assert "read at 0x70106000, 546 -> 3531 clocks (+546.7 %, x6.47)" in out
    assert "reads and writes are independent" in out
    assert "reads wait for writes" in out


def test_lower_bounds_are_not_compared(capsys, tmp_path):
    with zipfile.ZipFile(DATA / "axi_cases.zip") as archive:
        cut = archive.extract("begins_inside_cut_at_100.vcd", tmp_path)
    code, _, err = run(capsys, A, cut)
    assert code == 3
    assert "all spans are lower bounds" in err


def test_json_keeps_64_bit_numbers_as_strings(capsys):
    code, out, _ = run(capsys, B, "--format", "json", "--addr", "0x70106000")
    document = json.loads(out)
    assert code == 0
    assert [document["schema"], document["command"]] == ["tickgauge", "axi"]
    (row,) = document["rows"]
    assert (row["ax_valid"], row["span"]) == ("524", 3531)
    assert document["figures"]["verdict"] == "blocked"


@pytest.mark.parametrize("form", ["csv", "md", "rst"])
def test_other_forms(capsys, form):
    code, out, _ = run(capsys, A, "--format", form)
    assert code == 0
    assert "0x70106000" in out


def test_nothing_captured_is_3(capsys, put):
    code, out, err = run(capsys, put(hostile("h17_zero_samples.csv")))
    assert (code, out) == (3, "")
    assert "armed, nothing captured" in err


def test_only_incomplete_is_3(capsys, put):
    code, out, _ = run(capsys, put(hostile("h13_ends_mid_read.csv")))
    assert code == 3
    assert "2 not in the statistics" in out


def test_no_interface_is_2(capsys, put):
    code, _, err = run(capsys, put(ila("a b", "0 1")))
    assert code == 2
    assert "no AXI interface" in err


def test_ambiguous_interface_is_2_with_the_list(capsys, put):
    names = " ".join(f"net_slot_{i}_axi_{n}" for i in (0, 1) for n in ("arvalid", "arready"))
    path = put(ila(names, "1 1 0 1"))
    code, _, err = run(capsys, path)
    assert code == 2
    assert "slot 0" in err
    assert "slot 1" in err
    assert run(capsys, path, "--slot", "0")[0] == 3  # chosen; its read has no data channel
    code, out, _ = run(capsys, path, "--interfaces")
    assert code == 0
    assert out.count("AXI4") == 2


def test_map_and_assume(capsys, put):
    path = put(ila("u/v m_arready m_rvalid", "1 1 0", "0 1 1", "0 1 0"))
    code, out, _ = run(capsys, path, "--map", "arvalid=u/v", "--assume", "rready=1")
    assert code == 0
    assert "0 of 1 reads" in out
    assert "1 read has no proven span" in out  # the data came 1 clock after the first sample


@pytest.mark.parametrize(
    "wrong",
    [
        ["--map", "arvalid"],
        ["--map", "foo=bar"],
        ["--assume", "arready=2"],
        ["--assume", "araddr=1"],
        ["--clock", "fast"],
        ["--addr", "zz"],
        ["--addr", "5-1"],
    ],
)
def test_wrong_options_are_2(capsys, put, wrong):
    code, _, err = run(capsys, put(ila(LITE, "1 1 8 0 1", "0 1 8 1 1")), *wrong)
    assert code == 2
    assert err.startswith("tickgauge: ")
    assert "Traceback" not in err


def test_missing_file_and_no_capture_are_2(capsys, put):
    assert run(capsys, "/nonexistent/iladata.csv")[0] == 2
    assert run(capsys, put(b"hello\n"))[0] == 2


def test_control_bytes_never_reach_the_terminal(capsys, put):
    data = ila("\x1b[31mx_arvalid \x1b[31mx_arready", "1 1")
    _, out, err = run(capsys, put(data))
    assert "\x1b" not in out + err


def test_against_the_run_log(capsys):
    log = str(DATA / "v2019.1.log")
    code, out, _ = run(capsys, B, "--clock", "249999998", "--log", log)
    assert code == 0
    assert "100 reads x 3531 clocks at 249.999998 MHz = 1412 us" in out
    assert "measured 1408 us" in out


def test_a_vcd_without_depth_says_so(capsys, put):
    path = put(hostile("h30_base.vcd"), "c.vcd")
    assert "ends at its last change" in run(capsys, path)[1]
    assert "ends at its last change" not in run(capsys, path, "--samples", "24")[1]


def test_captures_stand_on_the_sides_of_compare(capsys):
    code = main(["compare", A, B])
    out, _ = capsys.readouterr()
    assert code == 0
    assert "unit: run (1 v 1)" in out
    (line,) = (line for line in out.splitlines() if line.startswith("axi read span"))
    assert "+372.6 %" in line
    assert "unreplicated" in line

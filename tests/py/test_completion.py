"""Completion scripts and the man page come from the parser, and shells take them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tickgauge.cli import VERBS, main

pytest.importorskip("shtab", reason="the extra 'completion' is not installed")
pytest.importorskip("argparse_manpage", reason="the extra 'completion' is not installed")


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_script_names_every_verb_and_the_shell_reads_it(kind, capsys, tmp_path):
    assert main(["completion", kind]) == 0
    script = capsys.readouterr().out
    for verb in VERBS:
        assert verb in script
    assert "margin" in script and "slowest" in script
    if shutil.which(kind):
        path = tmp_path / "script"
        path.write_text(script)
        subprocess.run([kind, "-n", str(path)], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_verbs_options_and_choices(capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)

    def complete(*words):
        line = " ".join(words)
        code = (
            f"source {path}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1};"
            f"COMP_LINE='{line}'; COMP_POINT={len(line)};"
            "f=$(complete -p tickgauge | sed 's/.*-F \\([^ ]*\\).*/\\1/');"
            f"$f tickgauge '{words[-1]}' '{words[-2]}'; printf '%s\\n' ${{COMPREPLY[@]}}"
        )
        run = ["bash", "-c", code]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()

    assert complete("tickgauge", "sn") == ["snapshot"]
    assert "--slowest" in complete("tickgauge", "axi", "--slo")
    assert set(complete("tickgauge", "show", "--format", "j")) == {"json"}


def test_man_page_has_every_verb_and_installs_where_man_looks(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert main(["completion", "man", "--install"]) == 0
    page = (tmp_path / "man" / "man1" / "tickgauge.1").read_text()
    for verb in VERBS:
        assert re.search(rf"tickgauge\\?f?R? .*{verb}", page)
    assert ".SH NAME" in page
    if shutil.which("man"):
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"} | {"MANWIDTH": "80"}
        run = ["man", "--warnings", "-l", str(tmp_path / "man" / "man1" / "tickgauge.1")]
        done = subprocess.run(run, env=env, capture_output=True, text=True)
        assert done.returncode == 0 and "tickgauge" in done.stdout

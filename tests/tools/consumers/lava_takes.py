"""LAVA's dispatcher itself reads a console: the results that it would store, as JSON.

Usage: lava_takes.py CONSOLE, under a Python that can import `lava_dispatcher`.
"""

import json
import re
import sys
from pathlib import Path

from lava_dispatcher.actions.test.shell import handle_testcase
from lava_dispatcher.connection import SignalMatch

SIGNAL = r"<LAVA_SIGNAL_(\S+) ([^>]+)>"  # as TestShellAction has it

found = []
for name, words in re.findall(SIGNAL, Path(sys.argv[1]).read_text()):
    if name == "TESTCASE":
        found.append(SignalMatch().match(handle_testcase(words.split()), fixupdict={}))
json.dump(found, sys.stdout)

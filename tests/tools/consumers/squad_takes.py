"""SQUAD itself receives metrics and tests: what its database holds afterwards, as JSON.

Usage: squad_takes.py METRICS TESTS, under a Python that has `squad`, with DATABASE set.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

# SQUAD fetches the scripts of its web pages when it is imported; no page is shown here.
subprocess.check_call = lambda *words, **more: 0  # type: ignore[assignment]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "squad.settings")

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from squad.core.models import Group, Metric, Test  # noqa: E402
from squad.core.tasks import ReceiveTestRun  # noqa: E402

call_command("migrate", verbosity=0)
project = Group.objects.create(slug="lab").projects.create(slug="firmware")
metrics, tests = (Path(name).read_text() for name in sys.argv[1:3])
ReceiveTestRun(project, update_project_status=False)(
    "v2", "juno", metrics_file=metrics, tests_file=tests
)
found = {
    "metrics": {
        f"{m.suite.slug}/{m.metadata.name}": [m.measurement_list, m.unit]
        for m in Metric.objects.all()
    },
    "tests": {f"{t.suite.slug}/{t.metadata.name}": t.status for t in Test.objects.all()},
}
json.dump(found, sys.stdout)

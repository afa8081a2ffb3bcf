"""Sphinx configuration: the site is built from a copy of docs/, notebooks/ and the root pages."""

from importlib.metadata import version as _version

project = "tickgauge"
author = copyright = "the tickgauge authors"
release = version = _version("tickgauge")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.viewcode",
]
root_doc = "docs/index"
exclude_patterns = ["docs/examples", "notebooks/data", "README.md", "tests", "csrc", "pyapi"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
templates_path: list[str] = []

# Notebooks run when the site is built: their outputs are never committed.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_in_temp = False
nb_output_stderr = "remove"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc states the types
autodoc_preserve_defaults = True  # LIMITS, not its fields
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_validation_checks: set[str] = set()

html_theme = "alabaster"
html_title = "tickgauge"
html_theme_options = {
    "description": "Latency of firmware and boards, read off their consoles",
    "fixed_sidebar": True,
    "page_width": "72rem",
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
linkcheck_ignore = [r"http://localhost.*"]
suppress_warnings = ["mystnb.unknown_mime_type"]
doctest_global_setup = "import tickgauge as tg\nfrom tickgauge import *"

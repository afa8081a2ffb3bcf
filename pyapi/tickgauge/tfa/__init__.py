"""Release tables of TF-A's runtime instrumentation: published pages in, right tables out.

`published` reads the pages in every form they have had, `delta` holds their rule, `tables` joins
two releases by cpu and prints them, `audit` recomputes the figures of a page.
"""

"""Writes the golden files."""

from tests.golden import files, rendered

for name, file in files().items():
    file.write_text(rendered(name), "utf-8")

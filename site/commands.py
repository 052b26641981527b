"""Joins the pages that cobra makes of each command into one, with the headings of a reference."""

import pathlib
import re
import sys

print("# Commands\n\nThis page is made from the commands themselves: `assay help COMMAND` says the same.\n")
for page in sorted(pathlib.Path(sys.argv[1]).glob("*.md"), key=lambda p: p.stem.split("_")):
    text = page.read_text()
    text = re.sub(r"### SEE ALSO.*", "", text, flags=re.S)
    text = re.sub(r"### Options inherited from parent commands.*?```.*?```\n", "", text, flags=re.S)
    text = re.sub(r"^### (Synopsis|Options|Examples)$", r"**\1**", text, flags=re.M)
    if page.stem.startswith("assay_completion_"):
        continue
    print(text.strip() + "\n")

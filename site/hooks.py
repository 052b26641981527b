"""Hooks of the site: links that leave docs/ go to the repository, and have to exist there."""

import os
import re
import shutil

REPOSITORY = "https://github.com/assay-run/assay/blob/main/"
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    docs = config["docs_dir"]
    root = os.path.dirname(docs)

    def outside(match):
        path = os.path.normpath(os.path.join(docs, os.path.dirname(page.file.src_uri), match.group(2)))
        if path.startswith(docs + os.sep) and not path.startswith(os.path.join(docs, "adr")):
            return match.group(0)
        if not os.path.exists(path):
            raise SystemExit(f"{page.file.src_uri}: {match.group(2)} does not exist")
        return f"{match.group(1)}{REPOSITORY}{os.path.relpath(path, root)}{match.group(3) or ''})"

    return LINK.sub(outside, markdown)


def on_post_build(config):
    shutil.copy(os.path.join(os.path.dirname(__file__), "iframe-worker.js"), os.path.join(config["site_dir"], "assets"))

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_links.py SITE: all that pages of a site refer to is in it, places within pages included, and
nothing is loaded from elsewhere."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The names of a page's places, what it links to, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.places.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag in ("img", "script") and values.get("src"):
            self.loads.append(values["src"])
        elif tag == "link" and values.get("rel") != "canonical" and values.get("href"):
            self.loads.append(values["href"])


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    wrong, links = [], 0
    for file, page in pages.items():
        for url in page.links + page.loads:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme or parts.netloc:
                if url in page.loads:
                    wrong.append(f"{file.relative_to(site)}: loads {url}")
                continue
            links += 1
            base = site if parts.path.startswith("/") else file.parent
            target = (base / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else file
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                wrong.append(f"{file.relative_to(site)}: there is no {url}")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
                wrong.append(f"{file.relative_to(site)}: there is no such place: {url}")
    print("\n".join(sorted(set(wrong))) or f"{len(pages)} pages, {links} links, all good")
    return 1 if wrong or links == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

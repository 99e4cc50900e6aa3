# SPDX-License-Identifier: BSD-3-Clause
"""What the documents need to become a site: they are written to be read as they are."""

import os
import pathlib
import re
import xml.etree.ElementTree

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
BESIDE = "CONTRIBUTING.md", "CHANGELOG.md"  # pages that are not in docs/
HEADERS = pathlib.Path(os.environ["SITE_HEADERS"])  # where Doxygen has put pages of the headers


def on_config(config):
    """The pages, in the order of the table in docs/README.md."""
    table = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    pages = re.findall(r"^\| \[[\w-]+\.md\]\(([\w-]+\.md)\)", table, re.MULTILINE)
    decisions = sorted(f"adr/{file.name}" for file in (ROOT / "docs/adr").glob("*.md"))
    missing = {file.name for file in (ROOT / "docs").glob("*.md")} - set(pages) - {"README.md"}
    if missing:
        raise SystemExit(f"docs/README.md does not list {', '.join(sorted(missing))}")
    config["nav"] = ["README.md", *pages, *BESIDE, {"Decisions": decisions}]
    return config


def header_pages():
    """The page of each header, by the name under which programs include it."""
    tags = xml.etree.ElementTree.parse(HEADERS / "api.tag").getroot()
    return {(file.findtext("path") + file.findtext("name")).split("/include/")[-1]:
            f"api/{file.findtext('filename').removesuffix('.html')}.html"
            for file in tags.iterfind("compound[@kind='file']")}


def on_files(files, config):
    for path in (HEADERS / "api").rglob("*"):
        if path.is_file():
            files.append(File(str(path.relative_to(HEADERS)), str(HEADERS), config["site_dir"],
                              config["use_directory_urls"]))
    for name in BESIDE:
        files.append(File(name, str(ROOT), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_path in BESIDE:
        markdown = re.sub(r"\]\(docs/", "](", markdown)
    markdown = re.sub(r"\]\(\.\./(" + "|".join(map(re.escape, BESIDE)) + ")", r"](\1", markdown)
    if page.file.src_path == "interfaces.md":
        pages = header_pages()
        markdown = re.sub(r"^\| `(.+?)`", lambda row: f"| [{row[1]}]({pages[row[1]]})", markdown,
                          flags=re.MULTILINE)
    # A folder is no page; its first one stands for it.
    first = sorted((ROOT / "docs/adr").glob("*.md"))[0].name
    markdown = markdown.replace("](adr)", f"](adr/{first})")
    # In a table GitHub wants '|' within code escaped, and Python-Markdown does not.
    markdown = re.sub(r"^\|.*$", lambda row: re.sub(r"`[^`]*`", lambda code: code.group().replace("\\|", "|"),
                                                   row.group()), markdown, flags=re.MULTILINE)
    # What docs_test is told behind the language is not for readers.
    return re.sub(r"^```splitc\b.*$", "```c", markdown, flags=re.MULTILINE)

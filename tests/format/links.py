#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links between the project's documents: every relative link leads to a file or folder, and every #anchor to a
heading. Also that the newest version of CHANGELOG.md is the one that CMakeLists.txt gives the project.

Exit status 0, or 1 after a line for each that is wrong; 77 outside a git checkout."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")


def documents():
    try:
        listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], check=True,
                                 capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("links: this is no git checkout, so nothing tells the project's files from others")
        sys.exit(77)
    return [ROOT / name for name in sorted(listing.split("\0")) if name and (ROOT / name).is_file()]


def prose(text):
    """Without code blocks and inline code, whose brackets are no links."""
    return re.sub(r"`[^`\n]*`", "code", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(path):
    """The anchors of a document's headings, as GitHub makes them."""
    without_code = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+)$", without_code, re.MULTILINE)
    found = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', without_code))


def problem_of(document, target):
    """What is wrong with a link, or an empty string."""
    if re.match(r"[a-z]+:", target):
        return ""
    path, _, anchor = target.partition("#")
    file = (document.parent / path).resolve() if path else document
    if not file.exists():
        return f"{target} does not exist"
    if not file.is_relative_to(ROOT):
        return f"{target} lies outside of the project"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{target}: {file.name} has no heading with this anchor"
    return ""


def changelog_problems():
    version = re.search(r"project\(tosa-npu VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    newest = re.search(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if version and newest and version[1] == newest[1]:
        return []
    return [f"CHANGELOG.md: its newest version is {newest and newest[1]}, CMakeLists.txt has {version and version[1]}"]


def main():
    links, problems = 0, changelog_problems()
    for document in documents():
        text = prose(document.read_text(encoding="utf-8"))
        for match in LINK.finditer(text):
            links += 1
            problem = problem_of(document, match[1])
            if problem:
                problems.append(f"{document.relative_to(ROOT)}: {problem}")
    for problem in problems:
        print(problem, file=sys.stderr)
    if links == 0:
        print("links: found no links", file=sys.stderr)
        return 1
    print(f"links: {links} links between documents, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

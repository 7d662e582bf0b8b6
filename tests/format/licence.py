#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file starts with its SPDX licence line, or writes the missing ones.

  licence.py            fails, and names the files, when a line is missing
  licence.py --write    adds the missing lines
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAG = "SPDX-License-Identifier:"
DEFAULT = "Apache-2.0"

# How a line of comment starts (and ends) in files with this suffix or name.
SLASHES, HASH, STARS = ("//", ""), ("#", ""), ("/*", " */")
COMMENTS = {
    ".c": SLASHES, ".cpp": SLASHES, ".h": SLASHES, ".sv": SLASHES, ".svh": SLASHES, ".vlt": SLASHES, ".fbs": SLASHES,
    ".S": HASH, ".inc": HASH, ".py": HASH, ".sh": HASH, ".cmake": HASH, ".yaml": HASH, ".yml": HASH, ".dict": HASH,
    ".toml": HASH, ".map": STARS, ".ld": STARS, "CMakeLists.txt": HASH, "run": HASH, "setup": HASH,
}


def comment_of(path: pathlib.Path):
    name = path.name.removesuffix(".in")
    return COMMENTS.get(name) or COMMENTS.get(pathlib.Path(name).suffix)


def tracked() -> list[pathlib.Path]:
    try:
        listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        sys.exit(77)  # not a git checkout: nothing tells source files from others
    return [ROOT / name for name in sorted(listing.split("\0")) if name and (ROOT / name).is_file()]


def has_line(text: str) -> bool:
    return any(TAG in line for line in text.splitlines()[:3])


def with_line(text: str, comment) -> str:
    begin, end = comment
    line = f"{begin} {TAG} {DEFAULT}{end}\n"
    if text.startswith("#!"):
        first, rest = text.split("\n", 1)
        return f"{first}\n{line}{rest}"
    return line + text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="add the missing lines")
    arguments = parser.parse_args()
    missing, count = [], 0
    for path in tracked():
        comment = comment_of(path)
        if comment is None:
            continue
        count += 1
        text = path.read_text(encoding="utf-8")
        if has_line(text):
            continue
        missing.append(path.relative_to(ROOT))
        if arguments.write:
            path.write_text(with_line(text, comment), encoding="utf-8")
    if missing and not arguments.write:
        print(f"licence: {len(missing)} files have no '{TAG}' line; tests/format/licence.py --write adds it:",
              *missing[:20], sep="\n  ", file=sys.stderr)
        return 1
    if count == 0:
        print("licence: found no source files", file=sys.stderr)
        return 1
    print(f"licence: {count} files have their line" + (f", {len(missing)} of them new" if missing else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())

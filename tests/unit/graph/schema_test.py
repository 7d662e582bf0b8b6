#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares driver/graph/tosa.fbs with the official schema, which tosa-tools ships.

Checks that flatc finds neither to break the other, that both give the same JSON for every file, and that a file which was
read and written again gives the same JSON as the original. Skipped (exit status 77) where the official schema is missing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def to_json(flatc, schema, files, folder):
    """The files as JSON, by file name."""
    folder.mkdir(parents=True)
    subprocess.run([flatc, "--json", "--strict-json", "--raw-binary", "-o", folder, schema, "--", *files], check=True)
    return {file.name: json.loads((folder / f"{file.stem}.json").read_text()) for file in files}


def conform(flatc, old, new):
    result = subprocess.run([flatc, "--conform", old, new], capture_output=True, text=True)
    return result.stdout + result.stderr if result.returncode else ""


def has_opcodes(graph):
    """Whether the file stores operators on variables under their own numbers."""
    names = ("VARIABLE", "VARIABLE_READ", "VARIABLE_WRITE")
    return any(op["op"] in names
               for region in graph["regions"] for block in region["blocks"] for op in block["operators"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flatc", required=True)
    parser.add_argument("--schema", required=True, type=pathlib.Path)
    parser.add_argument("--rewrite", required=True, help="the graph_rewrite program")
    parser.add_argument("--environment", required=True, type=pathlib.Path, help="virtual environment with tosa-tools")
    parser.add_argument("--zoo", type=pathlib.Path, help="folder of real files (optional)")
    arguments = parser.parse_args()

    official = next(iter(sorted(arguments.environment.glob("lib/python3*/site-packages/bin/tosa.fbs"))), None)
    if official is None:
        print(f"needs tosa-tools in {arguments.environment}: run sim/setup.sh python")
        return 77

    failures = []
    for old, new in ((official, arguments.schema), (arguments.schema, official)):
        if complaint := conform(arguments.flatc, old, new):
            failures.append(f"{new} does not conform to {old}: {complaint}")

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "samples").mkdir()
        subprocess.run([arguments.rewrite, "--samples", scratch / "samples"], check=True)
        files = sorted((scratch / "samples").glob("*.tosa"))
        samples = len(files)
        if arguments.zoo:
            # JSON of large files takes long and shows nothing new.
            files += [f for f in sorted(arguments.zoo.glob("*/*.tosa")) if f.stat().st_size < 1 << 20]
        theirs = to_json(arguments.flatc, official, files, scratch / "theirs")
        ours = to_json(arguments.flatc, arguments.schema, files, scratch / "ours")
        (scratch / "again").mkdir()
        again = []
        for file in files:
            again.append(scratch / "again" / file.name)
            form = "opcodes" if has_opcodes(theirs[file.name]) else "identity"
            subprocess.run([arguments.rewrite, file, again[-1], form], check=True)
        written = to_json(arguments.flatc, official, again, scratch / "written")
        for file in files:
            if theirs[file.name] != ours[file.name]:
                failures.append(f"{file}: the two schemas give different JSON")
            if theirs[file.name] != written[file.name]:
                failures.append(f"{file}: written again, it gives different JSON")

    print("\n".join(failures) or f"{samples} samples and {len(files) - samples} real files agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

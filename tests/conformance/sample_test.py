#!/usr/bin/env python3
"""A sample of the official integer tests passes, and fails once a golden is wrong: usage sample_test.py NPU."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Few, since generation takes most of the time; between them types, dynamic operands, regions, shapes, and errors.
OPERATORS = ["avg_pool2d", "clamp", "cond_if", "matmul", "reshape"]
FEWEST = 40  # tests in the sample, so that an empty selection does not pass


def conformance(npu, tests, scratch):
    """Exit status and the JSON report."""
    report = scratch / "results.json"
    result = subprocess.run([npu, "conformance", tests, "--json", report, "--quiet"], check=False)
    return result.returncode, json.loads(report.read_text())


def main(npu):
    generated = subprocess.run([HERE / "generate.py", "--profile", "int", "--sample", "1", "--operators", *OPERATORS],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    print(generated.stderr)
    if "run sim/setup.sh python" in generated.stderr:
        return 77
    if generated.returncode != 0:
        return 1
    tests = Path(generated.stdout.strip())
    with tempfile.TemporaryDirectory(prefix="npu-conformance-") as name:
        scratch = Path(name)
        status, document = conformance(npu, tests, scratch)
        if status != 0 or document["passed"] != document["tests"] or document["tests"] < FEWEST:
            print(f"FAILED: status {status}, {document['passed']} of {document['tests']} tests passed, {FEWEST} wanted")
            return 1
        damaged = scratch / "damaged"
        positive = next(entry for entry in document["results"] if not entry["expected_failure"])
        shutil.copytree(tests / positive["name"], damaged / "test")
        golden = damaged / "test" / json.loads((damaged / "test/desc.json").read_text())["ofm_file"][0]
        data = golden.read_bytes()
        golden.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        status, document = conformance(npu, damaged, scratch)
        if status != 7 or document["failed"] != 1:
            print(f"FAILED: a wrong golden gives status {status} and {document['failed']} failed tests")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

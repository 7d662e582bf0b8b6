#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guide_test.py FOLDER: the code of write-a-driver.md is the example that the tests compile and run."""

import re
import sys
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    guide = (folder / "write-a-driver.md").read_text(encoding="utf-8")
    code = (folder / "examples/small_driver.c").read_text(encoding="utf-8")
    blocks = re.findall(r"^```c\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    if code not in blocks:
        print("write-a-driver.md does not hold examples/small_driver.c as one of its code blocks; copy it there")
        return 1
    print(f"the guide holds the {code.count(chr(10))} lines of small_driver.c")
    return 0


if __name__ == "__main__":
    sys.exit(main())

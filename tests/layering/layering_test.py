#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: the arrows between the rooms (folders) of the project never point back.

Reads every #include of the C and C++ files below the repository's rooms. Exit status 0, or 1 after one line per
violation, per permission that nothing uses, and per row of the table of rooms in docs/architecture/overview.md that says
something else; --write writes that column of the table anew. The test first plants violations in a scratch tree and fails
unless it finds each of them."""

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Room -> rooms whose headers, or single headers that, it may include, besides its own and the contract's. A folder below a room belongs to it.
MAY_INCLUDE = {
    "hw/contract": [],
    "hw/presets": ["hw/timing"],
    "hw/timing": [],
    "hw/engine": ["hw/timing"],
    "hw/model": ["hw/timing", "hw/engine"],
    "rtl/verilated": [],
    "driver/graph": [],
    "driver/compiler": ["driver/graph", "hw/timing"],
    "driver/runtime": ["driver/graph", "driver/compiler/program.h", "driver/compiler/dram_needs.h", "driver/compiler/size_table.h",
                       "driver/compiler/size_check.h", "firmware/image.h"],
    "driver/program_file": ["driver/graph", "driver/compiler/program.h", "driver/compiler/size_check.h"],
    "driver/specialise": ["driver/graph", "driver/compiler", "driver/runtime/runtime.h", "driver/runtime/sizes.h"],
    "driver/capi": ["driver/graph", "driver/compiler", "driver/program_file", "driver/runtime", "driver/specialise/bounded_programs.h"],
    "firmware": [],
    "sim/reference": ["driver/graph"],
    "sim/cosim": ["hw/engine", "hw/timing", "rtl/verilated", "driver/graph/file.h"],
    # The module with the simulator of the control CPU stands alone: it links a GPL library (NOTICE).
    "sim/platform/iss": ["hw/model/iss.h", "hw/model/iss_module.h"],
    "sim/platform": ["hw/presets", "hw/timing", "hw/engine", "hw/model", "driver/runtime/hal.h"],
    "sim/capi": ["hw/presets", "sim/platform", "driver/capi/npu.h", "driver/capi/hal_bridge.h"],
    "sim/report": ["hw/presets", "hw/timing", "driver/graph", "driver/compiler/program.h", "driver/runtime"],
    "sim/tool": ["hw/presets", "driver/graph"],
    "sim/importer": ["driver/graph", "sim/tool"],
    "sim/generator": ["driver/graph", "sim/cosim/random.h"],
    "sim/workload": ["driver/graph", "driver/program_file", "driver/runtime/snapshot.h", "sim/reference", "sim/report", "sim/tool", "sim/generator"],
    "sim/inspect": ["hw/presets", "driver/graph", "driver/compiler/compile.h", "driver/compiler/explanation.h", "driver/compiler/program.h",
                    "driver/compiler/support.h",
                    "sim/reference", "sim/report", "sim/generator", "sim/workload"],
    "sim/conformance": ["driver/graph", "sim/reference", "sim/report", "sim/tool", "sim/workload"],
    "sim/regression": ["hw/presets", "driver/graph", "driver/compiler/compile.h", "sim/cosim", "sim/report", "sim/tool", "sim/generator",
                       "sim/workload"],
    "sim/cli": ["hw/presets", "driver/graph", "driver/compiler", "driver/program_file", "driver/runtime", "driver/specialise", "firmware/image.h",
                "sim/reference", "sim/cosim", "sim/platform", "sim/report", "sim/tool", "sim/importer", "sim/workload", "sim/inspect",
                "sim/conformance", "sim/regression"],
    "tests": ["hw/presets", "hw/timing", "hw/engine", "hw/model", "rtl/verilated", "driver/graph", "driver/compiler",
              "driver/program_file", "driver/runtime", "driver/specialise", "driver/capi", "firmware", "sim/reference", "sim/cosim", "sim/platform", "sim/capi",
              "sim/report", "sim/tool", "sim/importer", "sim/generator", "sim/workload", "sim/inspect",
              "sim/conformance", "sim/regression"],
    "docs": ["driver/capi/npu.h", "sim/capi/npu_sim.h"],
}
# Headers of the C API, which its users include by name as behind an installation.
PUBLIC = {"npu.h": "driver/capi/npu.h", "npu_sim.h": "sim/capi/npu_sim.h"}
OVERVIEW = "docs/architecture/overview.md"
TREES = ["hw", "rtl", "driver", "firmware", "sim", "tests", "docs"]
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".in"}

# Foreign headers that only some rooms may see.
RESTRICTED = [
    (re.compile(r"systemc|tlm\b|tlm_|sysc/"), "SystemC", ["hw/model", "sim/platform", "tests"]),
    (re.compile(r"unicorn/"), "Unicorn", ["sim/platform/iss"]),
    (re.compile(r"verilated|V[a-z]\w*\.h$"), "Verilator", ["rtl/verilated"]),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path: str) -> str:
    """The room that a repo-rooted path lies in, or an empty string."""
    for room in MAY_INCLUDE:
        if path.startswith(room + "/"):
            return room
    return ""


def violations(root: Path) -> list:
    """One message per include that breaks a rule."""
    found = []
    for tree in TREES:
        for file in sorted((root / tree).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                found += file_violations(root, file)
    return found


def includes(file: Path) -> list:
    """What a file includes: bracket, path with the API's headers in their places, line."""
    text = file.read_text(encoding="utf-8", errors="replace")
    found = []
    for match in INCLUDE.finditer(text):
        bracket, target = match.groups()
        target = PUBLIC.get(target, target) if bracket == "<" else target
        found.append((bracket, target, text.count("\n", 0, match.start(2)) + 1))
    return found


def unused_permissions(root: Path) -> list:
    """One message per permission that no include needs."""
    left = {(room, permission) for room, permissions in MAY_INCLUDE.items() for permission in permissions}
    for tree in TREES:
        for file in (root / tree).rglob("*"):
            if file.suffix in SUFFIXES and file.is_file():
                room = room_of(file.relative_to(root).as_posix())
                for _, target, _ in includes(file):
                    left -= {(room, target), (room, room_of(target))}
    return [f"{room} may include {permission}, but nothing in it does: take the permission away" for room, permission in sorted(left)]


def allowed_text(room: str) -> str:
    """The rooms and headers that a room may include, as the overview names them."""
    if {room, *MAY_INCLUDE[room]} >= set(MAY_INCLUDE) - {"hw/contract", "sim/platform/iss", "sim/cli", "docs"}:
        return "everything but `sim/cli`"
    return ", ".join(f"`{permission}`" for permission in MAY_INCLUDE[room]) or "-"


def with_allowed(text: str) -> str:
    """The overview with the column of what each room may include as it is."""
    lines = []
    for line in text.split("\n"):
        cells = line.split(" | ")
        room = cells[0].removeprefix("| ").strip("`")
        if len(cells) == 3 and room in MAY_INCLUDE:
            line = " | ".join([cells[0], allowed_text(room), cells[2]])
        lines.append(line)
    return "\n".join(lines)


def overview_problems(root: Path) -> list:
    text = (root / OVERVIEW).read_text(encoding="utf-8")
    pairs = zip(text.split("\n"), with_allowed(text).split("\n"))
    wrong = [f"{OVERVIEW}:{number}: must be '{want}'; --write does it" for number, (have, want) in enumerate(pairs, 1) if have != want]
    missing = [f"{OVERVIEW}: has no row of {room}" for room in MAY_INCLUDE if f"| `{room}` |" not in text and room != "docs"]
    return wrong + missing


def file_violations(root: Path, file: Path) -> list:
    name = file.relative_to(root).as_posix()
    room = room_of(name)
    if not room:
        return [f"{name}: lies in no known room (rooms: {', '.join(MAY_INCLUDE)})"]
    found = []
    for bracket, target, line in includes(file):
        problem = include_problem(room, bracket, target)
        if problem:
            found.append(f"{name}:{line}: {problem}")
    return found


def include_problem(room: str, bracket: str, target: str) -> str:
    """What is wrong with the include, or an empty string."""
    target_room = room_of(target)
    if target_room:
        if target_room not in (room, "hw/contract") and not {target_room, target} & set(MAY_INCLUDE[room]):
            return f"{room} must not include {target_room} ({target})"
        return ""
    for pattern, what, rooms in RESTRICTED:
        if pattern.match(target) and room not in rooms:
            return f"{room} must not include {what} ({target})"
    if bracket == '"':
        return f'the include "{target}" is not repo-rooted, as "hw/model/dma.h" is'
    return ""


# File, its text, and a part of the message that it must cause; None: it must cause none.
PLANTED = [
    ("driver/compiler/a.cpp", '#include "hw/model/dma.h"\n', "driver/compiler must not include hw/model"),
    ("driver/runtime/a.cpp", '#include "sim/platform/system.h"\n', "driver/runtime must not include sim/platform"),
    ("driver/runtime/b.cpp", '#include "hw/presets/preset.h"\n', "driver/runtime must not include hw/presets"),
    ("driver/runtime/c.cpp", '#include "driver/compiler/lower.h"\n', "driver/runtime must not include driver/compiler"),
    ("driver/runtime/ok.cpp", '#include "driver/compiler/program.h"\n', None),
    ("driver/runtime/f.cpp", '#include "firmware/image.h"\n', None),
    ("driver/runtime/g.cpp", '#include "firmware/ring.h"\n', "driver/runtime must not include firmware (firmware/ring.h)"),
    ("firmware/a.c", '#include "hw/model/npu.h"\n', "firmware must not include hw/model"),
    ("firmware/ok.c", '#include "firmware/ring.h"\n#include "hw/contract/gen/npu_contract.h"\n', None),
    ("driver/graph/a.h", '#include "driver/compiler/program.h"\n', "driver/graph must not include driver/compiler"),
    ("hw/model/a.cpp", '#include "driver/runtime/hal.h"\n', "hw/model must not include driver/runtime"),
    ("hw/model/b.cpp", '#include "sim/reference/reference.h"\n', "hw/model must not include sim/reference"),
    ("hw/engine/a.cpp", "#  include <systemc>\n", "hw/engine must not include SystemC"),
    ("hw/engine/b.cpp", "#include <tlm_utils/simple_target_socket.h>\n", "hw/engine must not include SystemC"),
    ("driver/graph/b.cpp", '#include "../../hw/timing/mxu.h"\n', "not repo-rooted"),
    ("driver/graph/deep/c.cpp", '\n\n#include "hw/timing/mxu.h"\n', "c.cpp:3: driver/graph must not include hw/timing"),
    ("hw/contract/a.h", '#include "hw/presets/preset.h"\n', "hw/contract must not include hw/presets"),
    ("sim/report/a.cpp", '#include "tests/unit/util.h"\n', "sim/report must not include tests"),
    ("sim/cli/a.cpp", '#include "Vnpu_mxu.h"\n', "sim/cli must not include Verilator"),
    ("sim/new_room/a.cpp", "#include <vector>\n", "lies in no known room"),
    ("sim/platform/c.cpp", "#include <unicorn/unicorn.h>\n", "sim/platform must not include Unicorn"),
    ("sim/platform/d.cpp", '#include "sim/platform/iss/decode.h"\n', "must not include sim/platform/iss"),
    ("sim/platform/iss/a.cpp", '#include "sim/platform/dram.h"\n', "sim/platform/iss must not include sim/platform"),
    ("sim/platform/iss/ok.cpp", '#include <unicorn/unicorn.h>\n#include "hw/model/iss.h"\n', None),
    ("hw/model/ok.cpp", '#include <systemc>\n#include "hw/engine/engine.h"\n#include <vector>\n', None),
    ("driver/compiler/ok.cpp", '#include "hw/timing/mxu.h"\n#include "hw/contract/gen/commands.h"\n', None),
    ("tests/unit/ok.cpp", '#include "sim/workload/data.h"\n#include "hw/model/dma.h"\n', None),
    ("tests/unit/a.cpp", '#include "sim/cli/options.h"\n', "tests must not include sim/cli"),
    ("sim/tool/a.cpp", '#include "sim/cli/options.h"\n', "sim/tool must not include sim/cli"),
    ("sim/importer/a.cpp", '#include "sim/workload/network.h"\n', "sim/importer must not include sim/workload"),
    ("sim/workload/a.cpp", '#include "sim/regression/case.h"\n', "sim/workload must not include sim/regression"),
    ("sim/cli/b.cpp", "#include <systemc>\n", "sim/cli must not include SystemC"),
    ("driver/runtime/d.cpp", "#include <npu.h>\n", "driver/runtime must not include driver/capi"),
    ("sim/platform/a.cpp", '#include "driver/capi/npu.h"\n', "sim/platform must not include driver/capi"),
    ("sim/capi/a.cpp", '#include "driver/capi/handles.h"\n', "sim/capi must not include driver/capi"),
    ("sim/capi/ok.h", '#include <npu.h>\n#include "sim/platform/platform.h"\n', None),
    ("driver/capi/a.cpp", "#include <npu_sim.h>\n", "driver/capi must not include sim/capi"),
    ("docs/guide/examples/ok.c", "#include <npu.h>\n#include <npu_sim.h>\n", None),
    ("driver/graph/ok.cpp", '// #include "hw/model/dma.h"\nconst char* x = "#include <systemc>";\n', None),
]


def self_test() -> list:
    """Names of planted files whose verdict is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text, _ in PLANTED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found, unused = violations(root), unused_permissions(root)
    wrong = []
    # The planted files use this permission, and not that one.
    for permission, used in (("driver/runtime may include firmware/image.h,", True), ("driver/graph", True), ("sim/cosim may include hw/engine,", False)):
        if any(message.startswith(permission) for message in unused) == used:
            wrong.append(f"self-test: '{permission}' is {'' if used else 'not '}told as unused")
    for name, _, expected in PLANTED:
        own = [message for message in found if message.startswith(name + ":")]
        if (expected is None) != (not own) or (expected and expected not in own[0]):
            wrong.append(f"self-test: {name}: expected {expected!r}, found {own}")
    return wrong


def main() -> int:
    if sys.argv[1:] == ["--write"]:
        overview = ROOT / OVERVIEW
        overview.write_text(with_allowed(overview.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    problems = self_test() or violations(ROOT) + unused_permissions(ROOT) + overview_problems(ROOT)
    for problem in problems:
        print(problem)
    print(f"layering: {len(problems)} problems" if problems else "layering: every include is allowed, and each permission used")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

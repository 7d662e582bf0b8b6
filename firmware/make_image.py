#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the image of a firmware from its ELF file: firmware_header of the contract, then what goes to the code memory.

Writes its symbols as well: a line "ADDRESS NAME" for each function. Prints the sizes. Exit status 0, or 1 after one
sentence on stderr, when the file is none that the control CPU could run."""

import argparse
import re
import struct
import subprocess
import sys
from pathlib import Path

MAGIC = 0x4655504E
PT_LOAD = 1
EM_RISCV = 243


def fail(message: str):
    sys.exit(f"make_image: {message}")


def contract_numbers(path: Path) -> dict:
    """The numbers that the contract's C header defines."""
    pattern = re.compile(r"^#define (NPU_\w+) (0x[0-9a-f]+|\d+)u\b", re.MULTILINE)
    return {name: int(value, 0) for name, value in pattern.findall(path.read_text(encoding="utf-8"))}


def load_segments(elf: bytes) -> list:
    """(virtual address, physical address, file bytes, memory size) of each segment that is loaded."""
    if elf[:6] != b"\x7fELF\x01\x01" or struct.unpack_from("<H", elf, 18)[0] != EM_RISCV:
        fail("the ELF file is not one of a 32-bit little-endian RISC-V program")
    offset, entry_bytes, count = *struct.unpack_from("<I", elf, 28), *struct.unpack_from("<HH", elf, 42)
    segments = []
    for i in range(count):
        kind, start, virtual, physical, stored, size, _, _ = struct.unpack_from("<8I", elf, offset + i * entry_bytes)
        if kind == PT_LOAD:
            segments.append((virtual, physical, elf[start : start + stored], size))
    return segments


def code_of(segments: list, base: int, limit: int) -> bytes:
    """What goes to the code memory: segments by their physical address, without gaps that are not zero."""
    code = bytearray()
    for _, physical, data, _ in segments:
        if not data:
            continue
        start = physical - base
        if start < len(code) or start + len(data) > limit:
            fail(f"{len(data)} bytes at {physical:#x} do not fit into the {limit} bytes of the code memory")
        code += bytes(start - len(code)) + data
    if not code:
        fail("the ELF file holds no code")
    return bytes(code) + bytes(-len(code) % 4)


def data_bytes(segments: list, base: int, limit: int) -> int:
    """Bytes of the data memory from its start to the last one used."""
    used = max((v + size - base for v, _, _, size in segments if base <= v < base + limit), default=0)
    if used > limit:
        fail(f"{used} bytes of data and stacks do not fit into the {limit} bytes of the data memory")
    return used


def fnv1a(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def symbol_lines(nm: str, elf: Path) -> str:
    """Functions by address."""
    listing = subprocess.run([nm, "--numeric-sort", str(elf)], capture_output=True, text=True, check=True).stdout
    functions = re.findall(r"^([0-9a-f]+) [tT] (\w+)$", listing, re.MULTILINE)
    return "".join(f"{address} {name}\n" for address, name in functions)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("contract", "elf", "image", "symbols"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--nm", required=True)
    options = parser.parse_args()

    numbers = contract_numbers(options.contract)
    segments = load_segments(options.elf.read_bytes())
    code_limit, data_limit = numbers["NPU_CPU_CODE_BYTES"], numbers["NPU_CPU_DATA_BYTES"]
    code = code_of(segments, numbers["NPU_CPU_CODE_BASE"], code_limit)
    data = data_bytes(segments, numbers["NPU_CPU_DATA_BASE"], data_limit)
    header = struct.pack(
        "<IHHIII12x", MAGIC, numbers["NPU_CONTRACT_MINOR"], numbers["NPU_CONTRACT_MAJOR"], len(code), fnv1a(code), data
    )
    options.image.write_bytes(header + code)
    options.symbols.write_text(symbol_lines(options.nm, options.elf), encoding="utf-8")
    print(f"{options.elf.name}: code {len(code)} of {code_limit} bytes, data and stacks {data} of {data_limit} bytes")


if __name__ == "__main__":
    main()

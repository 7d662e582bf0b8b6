#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install_test.py CMAKE BUILD SOURCE MAKE_NETWORKS LIBDIR: installs into a folder of the build, moves the installation, and
builds the guide's driver against it with pkg-config and with CMake, from outside of the tree."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(outside C)
find_package(tosa-npu 1 REQUIRED)
add_executable(driver small_driver.c)
target_link_libraries(driver PRIVATE tosa-npu::npu_sim tosa-npu::npu)
set_target_properties(driver PROPERTIES C_STANDARD 11)
"""


def run(*command, **options) -> str:
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def check_paths(prefix: Path, build: Path) -> None:
    """Nothing installed looks for libraries in the build folder."""
    checked = 0
    for file in sorted(prefix.rglob("*")):
        if file.is_symlink() or not file.is_file() or file.suffix == ".elf":
            continue
        if file.read_bytes()[:4] != b"\x7fELF":
            continue
        dynamic = run("readelf", "-d", "-W", file)
        paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
        checked += 1
        for path in ":".join(paths).split(":"):
            if path and not path.startswith("$ORIGIN"):
                raise RuntimeError(f"{file} looks for libraries in {path}")
    if checked < 4:
        raise RuntimeError(f"only {checked} programs and libraries are installed")
    for text in list(prefix.rglob("*.pc")) + list(prefix.rglob("*.cmake")):
        if str(build) in text.read_text(encoding="utf-8"):
            raise RuntimeError(f"{text} names the build folder")


def main() -> int:
    cmake, build, source, make_networks, libdir = sys.argv[1:]
    with tempfile.TemporaryDirectory(dir=build, prefix="install-test-") as name:
        folder = Path(name)
        run(cmake, "--install", build, "--prefix", folder / "first")
        prefix = folder / "moved"
        shutil.move(folder / "first", prefix)
        check_paths(prefix, Path(build))
        for file in ["bin/npu", "include/tosa-npu/npu.h", "include/tosa-npu/npu_sim.h", "include/tosa-npu/npu_contract.h",
                     "share/tosa-npu/npu_firmware.bin", f"{libdir}/libnpu_iss.so"]:
            if not (prefix / file).exists():
                raise RuntimeError(f"{file} is not installed")

        outside = folder / "outside"
        outside.mkdir()
        shutil.copy(Path(source) / "docs/guide/examples/small_driver.c", outside)
        run(make_networks, outside)
        lib = prefix / libdir
        environment = dict(os.environ, PKG_CONFIG_PATH=str(lib / "pkgconfig"))
        environment.pop("LD_LIBRARY_PATH", None)
        outputs = []
        if shutil.which("pkg-config"):
            flags = run("pkg-config", "--cflags", "--libs", "npu_sim", env=environment).split()
            run("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "small_driver.c", "-o", "driver", *flags,
                f"-Wl,-rpath,{lib}", cwd=outside)
            outputs.append(run("./driver", "running_sum.tosa", cwd=outside, env=environment))
        else:
            print("pkg-config is not installed: its files are not tried")
        (outside / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        run(cmake, "-S", outside, "-B", outside / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        run(cmake, "--build", outside / "build")
        outputs.append(run("build/driver", "running_sum.tosa", cwd=outside, env=environment))
        if any("y INT8: 1 3 5 7" not in text for text in outputs):
            raise RuntimeError(f"the driver computed something else:\n{outputs}")
        run(prefix / "bin/npu", "--version", env=environment)
    print("installed, moved, and built against")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(error)
        sys.exit(1)

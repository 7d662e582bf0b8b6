#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package_test.py CMAKE BUILD SOURCE MAKE_NETWORKS LIBDIR: uses the project from outside: installed, with each component of its
CMake package and with some of it missing; and as a part of another project, by add_subdirectory and by FetchContent."""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failure(Exception):
    pass


def run(*command, status: int = 0, **options) -> str:
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)
    output = result.stdout + result.stderr
    if result.returncode != status:
        raise Failure(f"{' '.join(map(str, command))}: exit status {result.returncode}, not {status}\n{output}")
    return output


def expect(text: str, output: str) -> None:
    # CMake breaks its messages into lines.
    if text not in " ".join(output.split()):
        raise Failure(f"'{text}' is not in:\n{output}")


class Test:
    def __init__(self, cmake: str, build: str, source: str, make_networks: str, libdir: str, folder: Path) -> None:
        self.cmake, self.build, self.source, self.folder = cmake, Path(build), Path(source), folder
        self.prefix = folder / "prefix"
        self.lib = self.prefix / libdir
        run(make_networks, folder)

    def installed_components(self) -> None:
        run(self.cmake, "--install", self.build, "--prefix", self.prefix)
        for file in ["share/tosa-npu/machines/edge.yaml", "share/tosa-npu/examples/small_driver.c",
                     "share/doc/tosa-npu/docs/reference/npu.md"]:
            if not (self.prefix / file).is_file():
                raise Failure(f"{file} is not installed")
        outside = self.folder / "installed"
        self.find("c;cxx;tlm", outside)
        run(self.cmake, "--build", outside)
        expect("y INT8: 1 3 5 7", run(outside / "driver", self.folder / "running_sum.tosa"))
        expect("words of commands", run(outside / "compile_network", self.folder / "running_sum.tosa"))
        expect("id 0x544e5055 after 1 us", run(outside / "board"))

    def find(self, wanted: str, binary: Path, status: int = 0) -> str:
        return run(self.cmake, "-S", HERE / "installed", "-B", binary, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DWANTED={wanted}", f"-DEXAMPLES={self.prefix}/share/tosa-npu/examples", status=status)

    def missing_parts(self) -> None:
        """A library that was not built when the rest was installed is named, to those that ask for its component only."""
        (self.lib / "libnpu_model.a").unlink()
        expect("the component tlm is not installed whole: libnpu_model.a is missing",
               self.find("tlm", self.folder / "without-tlm", status=1))
        self.find("c;cxx", self.folder / "without-model")
        expect("the component rtl is not part of this installation", self.find("rtl", self.folder / "unknown", status=1))

    def partial_build(self) -> None:
        """An installation script of a build folder in which almost nothing is built."""
        half = self.folder / "half"
        run(self.cmake, "-S", self.source, "-B", half, "-G", "Ninja", "-DNPU_WITH_RTL=OFF", "-DNPU_BUILD_TESTS=OFF")
        expect(f"Nothing is built that could be installed: run cmake --build {half}",
               run(self.cmake, "--install", half, "--prefix", self.folder / "none", status=1))
        run(self.cmake, "--build", half, "--target", "npu_contract")
        output = run(self.cmake, "--install", half, "--prefix", self.folder / "few")
        expect("Left out because it is not built: npu libnpu libnpu_sim npu_iss", output)
        if (self.folder / "few/bin/npu").exists():
            raise Failure("a program that was not built is installed")

    def part(self, how: str, build: bool) -> None:
        binary = self.folder / how
        log = run(self.cmake, "-S", HERE / "part", "-B", binary, "-G", "Ninja", f"-DHOW={how}", f"-DNPU_SOURCE={self.source}")
        cache = (binary / "CMakeCache.txt").read_text(encoding="utf-8")
        for option in ["NPU_BUILD_TESTS", "NPU_INSTALL", "NPU_WARNINGS_AS_ERRORS", "NPU_WITH_RTL"]:
            expect(f"{option}:BOOL=OFF", cache)
        if "CMake Warning" in log:
            raise Failure(log)
        if build:
            run(self.cmake, "--build", binary, "--target", "whole")
            expect("nano, firmware of", run(binary / "whole"))
        # Nothing of the part is installed with the whole.
        run(self.cmake, "--install", binary, "--prefix", self.folder / "whole-installed")
        if (self.folder / "whole-installed").exists():
            raise Failure(f"{how}: the part was installed")


def main() -> int:
    with tempfile.TemporaryDirectory(dir=sys.argv[2], prefix="package-test-") as name:
        test = Test(*sys.argv[1:], Path(name))
        test.installed_components()
        test.missing_parts()
        test.partial_build()
        test.part("add_subdirectory", build=True)
        test.part("FetchContent", build=False)
    print("installed with its components, and used as a part")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as error:
        print(error)
        sys.exit(1)

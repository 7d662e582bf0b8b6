#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands never overwrite what they read, nor devices and pipes: usage files_test.py NPU MAKE_NETWORKS."""

import os
import resource
import signal
import stat
import subprocess
import time
from pathlib import Path

import harness
from harness import NpuTest, listing, read_npy


class Files(NpuTest):
    def setUp(self):
        self.network = self.save_as("net.tosa", (self.dir / "running_sum.tosa").read_bytes())
        self.frames = self.save_as("in.npy", (self.dir / "frames.npy").read_bytes())
        self.out = self.dir / "o1"
        self.out.mkdir(exist_ok=True)
        self.data = (self.network, "--input", self.frames, "--sequence")
        self.state = self.dir / "k"
        self.good("reference", *self.data, "--save-state", self.state)

    def save_as(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def contents(self):
        return {p: p.read_bytes() for p in self.dir.rglob("*") if p.is_file()}

    def refused(self, status, code, fragment, *arguments, **options):
        """Nothing changes."""
        before, paths = self.contents(), listing(self.dir)
        with self.subTest(arguments):
            self.bad(status, code, fragment, *arguments, **options)
            self.assertEqual(listing(self.dir), paths)
            self.assertEqual(self.contents(), before)

    def same(self, *arguments, **options):
        self.refused(64, "bad_option", "are the same file", *arguments, **options)

    def test_what_is_read_is_not_written(self):
        link = self.dir / "link"
        link.symlink_to(self.frames)
        self.addCleanup(link.unlink)
        stream = f"{self.network}={self.frames}"
        for command in ("run", "reference"):
            for read in (self.network, self.frames, link, os.path.relpath(self.frames)):
                self.same(command, *self.data, "--save-state", read)
            self.same(command, self.network, f"x={link}", "--sequence", "--save-state", self.frames)
            self.same(command, self.network, "--input", self.save_as("o1/y.npy", self.frames.read_bytes()), "--sequence", "-o",
                      self.out)
        for read in (self.network, self.frames, link):
            for option in ("--json", "--csv", "--trace"):
                self.same("run", *self.data, option, read)
            self.same("stream", stream, "--json", read)
        mlir, to_mlir = self.save_as("net.mlir", b"module {}"), self.dir / "to_mlir"
        to_mlir.symlink_to("net.mlir")
        self.addCleanup(to_mlir.unlink)
        for target in (mlir, to_mlir, os.path.relpath(mlir)):
            self.same("import", mlir, "-o", target)
            self.same("import", to_mlir, "-o", target)
        folder = self.dir / "streams/net"
        folder.mkdir(parents=True)
        (folder / "y.npy").write_bytes(self.frames.read_bytes())
        self.same("stream", f"{self.network}={folder / 'y.npy'}", "-o", self.dir / "streams")
        self.same("stream", stream, "-o", self.dir / "streams", "--json", folder / "y.npy")

    def test_the_name_of_a_machine_is_no_file(self):
        work = self.dir / "machines"
        work.mkdir()
        for option in ("--json", "--csv", "--trace", "--save-state"):
            self.good("run", *self.data, option, "edge", cwd=work)
            self.good("run", *self.data, "-c", "nano", option, "nano", cwd=work)
        self.good("stream", f"{self.network}={self.frames}", "--json", "edge", cwd=work)
        self.assertEqual(sorted(os.listdir(work)), ["edge", "nano"])
        self.same("run", *self.data, "-c", "./edge", "--json", "edge", cwd=work)

    def test_nothing_is_written_twice(self):
        target = self.out / "y.npy"
        for command in ("run", "reference"):
            self.same(command, *self.data, "-o", self.out, "--save-state", target)
            self.same(command, *self.data, "-o", "o1", "--save-state", "./o1/../o1/y.npy", cwd=self.dir)
        for option in ("--json", "--csv", "--trace"):
            self.same("run", *self.data, "-o", self.out, option, target)

    def test_resume_and_save_state_may_be_one_file_and_no_other(self):
        link = self.dir / "same"
        link.symlink_to("k")
        self.addCleanup(link.unlink)
        for command in ("run", "reference"):
            for save in ("k", "./k", self.state, "same"):
                before = self.state.read_bytes()
                self.good(command, *self.data, "--resume", "k", "--save-state", save, cwd=self.dir)
                self.assertNotEqual(self.state.read_bytes(), before)
        self.assertTrue(link.is_symlink())
        for option in ("--json", "--csv", "--trace"):
            for save in ("k", "./k"):
                self.same("run", *self.data, "--resume", "k", "--save-state", save, option, "k", cwd=self.dir)
            self.same("run", *self.data, "--resume", "k", option, "./k", cwd=self.dir)
        inside = self.save_as("o1/y.npy", self.state.read_bytes())
        for command in ("run", "reference"):
            self.same(command, *self.data, "--resume", inside, "--save-state", inside, "-o", self.out)

    def test_what_is_no_regular_file_is_not_replaced(self):
        fifo, link = self.dir / "fifo", self.dir / "to_fifo"
        os.mkfifo(fifo)
        link.symlink_to(fifo)
        self.addCleanup(fifo.unlink)
        self.addCleanup(link.unlink)
        for place in (fifo, link):
            for command in ("run", "reference"):
                self.refused_node(place, command, *self.data, "--save-state", place)
            for option in ("--json", "--csv", "--trace"):
                self.refused_node(place, "run", *self.data, option, place)
            self.refused_node(place, "stream", f"{self.network}={self.frames}", "--json", place)
            self.refused_node(place, "state", "clear", self.state, "-o", place)
            self.refused_node(place, "import", self.save_as("net.mlir", b"module {}"), "-o", place)
        inside = self.out / "y.npy"
        inside.unlink(missing_ok=True)
        os.mkfifo(inside)
        self.addCleanup(inside.unlink)
        for command in ("run", "reference"):
            self.refused_node(inside, command, *self.data, "-o", self.out, "--save-state", self.dir / "not_made")

    def refused_node(self, place, *arguments):
        self.refused(66, "cannot_write", "no regular file", *arguments)
        self.assertTrue(stat.S_ISFIFO(place.stat().st_mode))

    def test_a_link_is_written_through(self):
        elsewhere = self.dir / "elsewhere"
        elsewhere.mkdir()
        for command, option, name in (("run", "--save-state", "s"), ("reference", "--save-state", "r"), ("run", "--json", "j"),
                                      ("run", "--csv", "c"), ("run", "--trace", "t"), ("stream", "--json", "m")):
            link = self.dir / ("link_" + name)
            link.symlink_to(f"elsewhere/{name}")  # to nothing yet, then to a file
            arguments = (f"{self.network}={self.frames}",) if command == "stream" else self.data
            self.good(command, *arguments, option, link)
            (elsewhere / name).write_bytes(b"old")
            self.good(command, *arguments, option, link)
            self.assertTrue(link.is_symlink())
            self.assertNotIn((elsewhere / name).read_bytes(), (b"", b"old"))
        self.assertEqual(sorted(os.listdir(elsewhere)), sorted("srjctm"))
        circle = self.dir / "circle"
        circle.symlink_to("circle")
        self.addCleanup(circle.unlink)
        self.bad(66, "cannot_write", "circle", "run", *self.data, "--json", circle)
        self.assertTrue(circle.is_symlink())
        (self.out / "y.npy").unlink(missing_ok=True)
        (self.out / "y.npy").symlink_to(elsewhere / "y")
        self.addCleanup((self.out / "y.npy").unlink)
        self.good("run", *self.data, "-o", self.out)
        self.assertEqual(read_npy(elsewhere / "y")[1], (5, 1, 4))
        self.assertTrue((self.out / "y.npy").is_symlink())

    def outputs(self, folder):
        """Every command that writes, into a folder, where old files may stand."""
        stream = f"{self.network}={self.frames}"
        for command, *option in (("run", "--save-state", "s"), ("run", "--json", "j"), ("run", "--csv", "c"), ("run", "--trace", "t"),
                                 ("run", "-o", ""), ("reference", "--save-state", "s"), ("reference", "-o", "")):
            yield command, *self.data, option[0], folder / option[1]
        yield "stream", stream, "--json", folder / "m"
        yield "stream", stream, "-o", folder
        yield "state", "clear", folder / "s"
        yield "state", "clear", self.state, "-o", folder / "s"

    def old_files(self, name):
        folder = self.dir / name
        (folder / "net").mkdir(parents=True)
        for file in ("j", "c", "t", "y.npy", "net/y.npy", "m"):
            (folder / file).write_bytes(b"old")
        (folder / "s").write_bytes(self.state.read_bytes())
        return folder

    def test_a_full_disk_loses_nothing(self):
        # No file may get larger than that, which fails as a disk does that is full.
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))

        for arguments in self.outputs(self.old_files("full")):
            self.refused(66, "cannot_write", ": File too large", *arguments, preexec_fn=small_disk)

    def test_a_limit_on_the_size_of_files_ends_no_run_by_a_signal(self):
        folder = self.dir / "limited"
        folder.mkdir()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))

        for arguments in self.outputs(folder):
            if arguments[:3] != ("state", "clear", folder / "s"):
                self.refused(66, "cannot_write", ": File too large", *arguments, preexec_fn=limit, restore_signals=True)

    def test_a_replaced_file_keeps_its_permissions(self):
        for mode in (0o600, 0o640, 0o666):
            folder = self.old_files(f"mode_{mode:o}")
            for path in folder.rglob("*"):
                if path.is_file():
                    path.chmod(mode)
            for arguments in self.outputs(folder):
                self.good(*arguments)
            for path in folder.rglob("*"):
                if path.is_file():
                    self.assertNotEqual(path.read_bytes(), b"old")
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, path)

    def test_what_is_protected_is_not_touched(self):
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        for path in (self.dir, *self.dir.rglob("*")):
            path.chmod(0o755)
        try:
            harness.run("--version", user=user)
        except PermissionError:
            self.skipTest("another user cannot run this program")
        folder = self.old_files("protected")
        for path in folder.rglob("*"):
            path.chmod(0o777 if path.is_dir() else 0o444)
        folder.chmod(0o777)
        for arguments in self.outputs(folder):
            self.refused(66, "cannot_write", "it is there and write-protected", *arguments, user=user)
        folder.chmod(0o555)
        (folder / "net").chmod(0o555)
        for file in folder.rglob("*"):
            if file.is_file():
                file.unlink()
        for arguments in self.outputs(folder):
            if arguments[:2] != ("state", "clear"):
                self.refused(66, "cannot_write", "writable", *arguments, user=user)
        folder.chmod(0o700)
        (folder / "s").write_bytes(self.state.read_bytes())
        if os.geteuid() == 0:  # else it is its owner's
            for arguments in (("state", "list", folder / "s"), ("run", *self.data, "--resume", folder / "s")):
                self.refused(66, "cannot_read", "s': Permission denied", *arguments, user=user)

    def test_nothing_stays_of_a_trace_whose_run_was_killed(self):
        long = self.save("long.npy", "|i1", (100000, 1, 4), [0] * 400000)
        folder = self.dir / "killed"
        folder.mkdir()
        process = subprocess.Popen([harness.NPU, "run", self.network, "--input", long, "--sequence", "--trace", folder / "t"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def opened():
            links = [os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir() if link.is_symlink()]
            return any(link.startswith(str(folder)) for link in links)

        while process.poll() is None and not opened():
            time.sleep(0.01)
        process.kill()
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertEqual(listing(folder), [])

    def test_empty_names_are_refused(self):
        shared = ("--resume", "--save-state", "--outputs", "-o")
        for command, options in (("run", (*shared, "--json", "--csv", "--trace")), ("reference", shared)):
            for option in options:
                self.refused(64, "bad_option", "", command, *self.data, option, "")
        for option in ("--resume", "--csv"):
            self.refused(64, "bad_option", f"{option} needs a name", "run", *self.data, option, "")
        for option in ("--json", "--outputs", "-o"):
            self.refused(64, "bad_option", "", "stream", f"{self.network}={self.frames}", option, "")
        self.refused(64, "bad_option", "", "state", "clear", self.state, "-o", "")


if __name__ == "__main__":
    harness.main()

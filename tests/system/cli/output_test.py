#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where `npu` says things and leaves files: closed, full and read-only descriptors, "-", signals, and files that are read.

usage: output_test.py NPU MAKER"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import harness
from harness import NpuTest, listing

CODES = (0, 1, 2, 3, 4, 5, 6, 7, 64, 66)


class OutputTest(NpuTest):
    def network(self):
        return [self.dir / "running_sum.tosa", "--input", self.dir / "frames.npy", "--sequence"]

    def folder(self):
        """A new one with the test's name."""
        path = self.dir / self.id().rsplit(".", maxsplit=1)[-1]
        path.mkdir()
        return path

    def shell(self, redirection, *arguments):
        """Exit status of npu under a shell's redirections, and what was left for standard output and error."""
        result = subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", harness.NPU, *map(str, arguments)],
                                capture_output=True, timeout=harness.TIMEOUT, check=False, text=True)
        return result.returncode, result.stdout, result.stderr


class Descriptors(OutputTest):
    def commands(self):
        """Each with the status that it deserves."""
        return [(0, ["--help"]), (64, []), (64, ["none"]), (0, ["info", self.dir / "running_sum.tosa"]), (0, ["doctor", "--json"]),
                (66, ["info", self.dir / "missing.tosa"]), (0, ["run", *self.network()]), (0, ["reference", *self.network()]),
                (64, ["run", *self.network(), "--mode", "none"]), (0, ["operators"]), (0, ["machine", "edge"])]

    def test_closed_or_read_only_ones_change_no_status(self):
        redirections = ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2</dev/null", "2>/dev/full", "2>&- </dev/null"]
        for status, arguments in self.commands():
            for redirection in redirections:
                with self.subTest(f"{arguments} {redirection}"):
                    got = self.shell(redirection, *arguments)[0]
                    if arguments[:1] == ["doctor"]:
                        self.assertIn(got, CODES)
                    else:
                        self.assertEqual(got, status)

    def test_a_full_standard_output_is_66_unless_worse_happened(self):
        for status, arguments in self.commands():
            for redirection in (">/dev/full", "1</dev/null"):
                with self.subTest(f"{arguments} {redirection}"):
                    got, _, err = self.shell(redirection, *arguments)
                    self.assertIn(got, {status or 66, 66})
                    if status == 0:
                        self.assertIn("npu: error: cannot write to the standard output [cannot_write]", err)

    def test_a_reader_that_goes_away_is_no_failure(self):
        for status, arguments in self.commands():
            if status == 0 and arguments[0] != "doctor":
                with self.subTest(arguments):
                    got = self.shell("| true; exit ${PIPESTATUS[0]}", *arguments)
                    self.assertEqual(got, (0, "", ""))

    def test_a_reader_that_goes_away_before_a_note_is_no_failure(self):
        # The note comes behind text that is still in a buffer.
        status, _, err = self.shell("| true; exit ${PIPESTATUS[0]}", "run", *self.network(), "--faults", "hang mxu@9999")
        self.assertEqual(status, 0, err)
        self.assertIn("npu: note: --faults", err)

    def test_no_file_gets_a_standard_descriptor(self):
        folder = self.folder()
        for redirection in (">&-", "2>&-", "<&- >&- 2>&-"):
            files = {option: folder / option.strip("-") for option in ("--json", "--csv", "--trace", "--save-state")}
            options = [str(part) for option in files.items() for part in option]
            self.assertEqual(self.shell(redirection, "run", *self.network(), "--outputs", folder / "out", *options)[0], 0)
            closed = {path.name: path.read_bytes() for path in files.values()}
            self.assertEqual(self.shell("", "run", *self.network(), "--outputs", folder / "out", *options)[0], 0)
            self.assertEqual(closed, {path.name: path.read_bytes() for path in files.values()}, redirection)

    def test_reports_are_there_whatever_happens_to_the_text(self):
        folder = self.folder()
        for redirection in (">/dev/full", "| true; exit ${PIPESTATUS[0]}", ">&-", "2>/dev/full"):
            report = folder / "report.json"
            self.shell(redirection, "run", *self.network(), "--json", report)
            self.assertEqual(json.loads(report.read_text())["network"]["file"].rsplit("/")[-1], "running_sum.tosa", redirection)
            report.unlink()


class StandardOutput(OutputTest):
    def test_dash_gets_the_file_and_the_text_goes_to_standard_error(self):
        report = self.dir / "report.json"
        text = self.good("run", *self.network(), "--json", report).out
        result = self.good("run", *self.network(), "--json", "-")
        self.assertEqual(json.loads(result.out).keys(), json.loads(report.read_text()).keys())
        self.assertEqual(result.err, text)
        rows = self.good("run", *self.network(), "--csv", "-").out.splitlines()
        self.assertGreater(len(rows), 1)
        self.assertFalse((Path.cwd() / "-").exists())

    def test_dash_of_stream_and_conformance(self):
        result = self.good("stream", f"{self.dir / 'running_sum.tosa'}={self.dir / 'frames.npy'}", "--json", "-", "--quiet")
        self.assertIn("networks", json.loads(result.out))
        self.assertIn("running_sum", result.err)
        folder = self.folder()
        (folder / "desc.json").write_text("{}")
        result = harness.run("conformance", folder, "--json", "-", cwd=folder)
        self.assertNotIn("would lie in the folder", result.err)

    def test_json_is_json_whatever_the_names_are(self):
        odd = self.dir / os.fsdecode("a\x7f\u0085\u202e\u061cb.tosa".encode())
        shutil.copy(self.dir / "hostile_names.tosa", odd)
        for arguments in (["info", odd, "--json"], ["operators", "--json"], ["doctor", "--json"]):
            json.loads(harness.run(*arguments).out)
        odd.unlink()

    def test_one_file_has_it(self):
        self.bad(64, "bad_option", "are the same file, '-'", "run", *self.network(), "--json", "-", "--csv", "-")
        self.bad(64, "bad_option", "--trace needs the name of a file", "run", *self.network(), "--trace", "-")

    def test_what_is_no_file_is_refused_before_the_run(self):
        for target in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            for option in ("--json", "--csv", "--trace", "--save-state"):
                result = harness.run("run", *self.network(), option, target)
                self.assertEqual((result.returncode, result.out), (66, ""), result.err)
        status, out, err = self.shell("--json >(cat)", "run", *self.network())
        self.assertEqual((status, out), (66, ""), err)


class JsonOption(OutputTest):
    """--json FILE of the commands that may leave out FILE."""

    def commands(self):
        """Each with the arguments that it has to have."""
        state = self.dir / "option.state"
        self.good("run", *self.network(), "--save-state", state)
        return [("info", [self.dir / "running_sum.tosa"]), ("operators", []), ("state list", [state]), ("state diff", [state, state]), ("doctor", [])]

    def ended(self, command, *arguments):
        result = harness.run(*command.split(), *arguments)
        self.assertIn(result.returncode, (0, 66) if command == "doctor" else (0,), result.err)
        return result.out

    def test_a_file_gets_the_json_and_the_text_stays(self):
        folder = self.folder()
        for command, needed in self.commands():
            text = self.ended(command, *needed)
            printed = self.ended(command, *needed, "--json")
            json.loads(printed)
            self.assertEqual(self.ended(command, "--json", *needed), printed)
            for dash in (["--json", "-"], ["--json=-"]):
                self.assertEqual(self.ended(command, *needed, *dash), printed)
            for i, line in enumerate(([*needed, "--json", "FILE"], [*needed, "--json=FILE"], ["--json=FILE", *needed])):
                with self.subTest(f"{command} {i}"):
                    path = folder / f"{command} {i}.json"
                    self.assertEqual(self.ended(command, *(str(word).replace("FILE", str(path)) for word in line)), text)
                    self.assertEqual(path.read_text(), printed)

    def test_one_word_too_many(self):
        folder = self.folder()
        for command, needed in self.commands():
            path = folder / "o.json"
            for line in ([*needed, path], ["--json", *needed, path], [*needed, path, "--json"], [*needed, "--json", path, path],
                         [f"--json={path}", *needed, path], [*needed, "--json", "-", path]):
                if command in ("operators", "doctor") and line == ["--json", path]:
                    continue
                self.bad(64, "bad_option", f"too many words that are no options; see npu {command} --help", *command.split(), *line)
        self.assertEqual(listing(folder), [])

    def test_what_is_read_is_not_written(self):
        for command, needed in self.commands():
            for place in needed:
                before = place.read_bytes()
                self.bad(64, "bad_option", "are the same file", *command.split(), *needed, "--json", place)
                self.assertEqual(place.read_bytes(), before)
            self.bad(66, "cannot_write", "/proc/npu.json", *command.split(), *needed, "--json=/proc/npu.json")
            self.bad(64, "bad_option", "needs a name, not ''", *command.split(), *needed, "--json", "")
        machine = self.folder() / "m.yaml"
        machine.write_text("base: edge\n")
        self.bad(64, "bad_option", "are the same file", "info", self.dir / "running_sum.tosa", "--config", machine, "--json", machine)
        self.bad(64, "bad_option", "are the same file", "operators", "--config", machine, "--json", machine)


class ManyFiles(OutputTest):
    def test_more_outputs_than_files_may_be_open_at_first(self):
        folder, x = self.folder(), self.save("x.npy", "|i1", (1, 4), [1, 2, 3, 4])
        status, _, err = self.shell(f"--outputs {folder}/out 2>&1", "run", self.dir / "many_outputs.tosa", "--input", x)
        self.assertEqual(status, 0, err)
        limited = subprocess.run(["bash", "-c", 'ulimit -Sn 64; "$@"', "bash", harness.NPU, "run", self.dir / "many_outputs.tosa",
                                  "--input", x, "--outputs", folder / "limited"], capture_output=True, check=False, text=True)
        self.assertEqual(limited.returncode, 0, limited.stderr)
        self.assertEqual(len(list((folder / "limited").iterdir())), 100)

    def test_folders_that_were_made_go_when_one_cannot_be(self):
        folder = self.folder()
        self.bad(66, "cannot_write", "cannot make the folder", "run", *self.network(), "--outputs", folder / "new" / ("x" * 300))
        self.assertEqual(listing(folder), [])


class Signals(OutputTest):
    def test_nothing_stays(self):
        frames = self.save("long.npy", "|i1", (60000, 1, 4), [0] * 240000)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = self.dir / f"stopped_{number}"
            folder.mkdir()
            process = subprocess.Popen(
                [harness.NPU, "run", self.dir / "running_sum.tosa", "--input", frames, "--sequence", "--trace", folder / "t",
                 "--outputs", folder / "a/b", "--save-state", folder / "s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
            time.sleep(0.5)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=harness.TIMEOUT), -number)
            self.assertEqual(listing(folder), [])


class ReadFiles(OutputTest):
    def test_a_list_is_no_report(self):
        folder = self.folder()
        text = "presets: [nano]\nseeds: [1]\ntrials:\n  - {block: dma, count: 1}\n"
        (folder / "l.yaml").write_text(text)
        (folder / "link").symlink_to("l.yaml")
        for option in ("--json", "--junit", "--markdown"):
            for name in ("l.yaml", "link", "./l.yaml"):
                self.bad(64, "bad_option", "are the same file", "cosim", folder / "l.yaml", option, folder / name)
        self.assertEqual((folder / "l.yaml").read_text(), text)

    def test_a_test_is_no_report(self):
        folder = self.folder()
        (folder / "t").mkdir()
        (folder / "t/desc.json").write_text("{}")
        for option in ("--json", "--junit"):
            for name in ("desc.json", "new.json", "../t/desc.json"):
                self.bad(64, "bad_option", "in the folder of a test", "conformance", folder, option, folder / "t" / name)
        self.assertEqual((folder / "t/desc.json").read_text(), "{}")


class Names(OutputTest):
    def test_a_path_may_have_an_equals_sign(self):
        folder = self.dir / "a=b"
        folder.mkdir()
        for name in ("two_inputs.tosa", "running_sum.tosa"):
            if (self.dir / name).exists():
                shutil.copy(self.dir / name, folder)
        frames = folder / "x=y.npy"
        shutil.copy(self.dir / "frames.npy", frames)
        network = folder / "running_sum.tosa"
        self.good("run", network, "--input", frames, "--sequence")
        name = json.loads(self.good("info", network, "--json").out)["inputs"][0]["name"]
        self.good("run", network, "--input", f"{name}={frames}", "--sequence")
        self.good("stream", f"{network}={frames}")
        self.bad(64, "bad_input", f"the network has no input '{name}x'", "run", network, "--input", f"{name}x={self.dir / 'frames.npy'}")

    def test_what_is_read_through_such_a_path_is_not_written(self):
        frames = self.dir / "p=q.npy"
        shutil.copy(self.dir / "frames.npy", frames)
        before = frames.read_bytes()
        self.bad(64, "bad_option", "are the same file", "run", self.dir / "running_sum.tosa", "--input", frames, "--sequence",
                 "--json", frames)
        self.assertEqual(frames.read_bytes(), before)

    def test_controls_and_bytes_that_are_no_text_are_escaped(self):
        for name, shown in ((b"a\xc2\x9b31m", "a\\xc2\\x9b31m"), (b"a\xff\xfe", "a\\xff\\xfe"), (b"\xe2\x80\xaecod", "\\xe2\\x80\\xaecod"),
                            (b"\xd8\x9ca", "\\xd8\\x9ca"),
                            ("é語😀".encode(), "é語😀"), (b"a\xe2\x82", "a\\xe2\\x82"), (b"\xed\xa0\x80", "\\xed\\xa0\\x80")):
            path = os.path.join(os.fsencode(self.dir), name + b".tosa")
            result = subprocess.run([harness.NPU, "info", path], capture_output=True, check=False)
            self.assertEqual(result.returncode, 66)
            self.assertIn(shown, result.stderr.decode())
            shutil.copy(os.fsencode(self.dir / "running_sum.tosa"), path)
            for arguments in (["info", path], ["run", path, "--random-inputs", "1"]):
                result = subprocess.run([harness.NPU, *arguments], capture_output=True, check=False)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(shown, result.stdout.decode())
            os.remove(path)


class Ignored(OutputTest):
    def test_options_that_need_time_are_refused_without_it(self):
        for options in (("--jitter", "1:100"), ("--trace", self.dir / "t")):
            self.bad(64, "bad_option", f"{options[0]} has no meaning with --mode functional", "run", *self.network(), "--mode",
                     "functional", *options)


if __name__ == "__main__":
    harness.main()

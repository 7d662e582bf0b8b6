# SPDX-License-Identifier: Apache-2.0
"""What is tried: each attack makes its tries from a seed and a number, so that one can be repeated alone."""

import collections
import json
import random
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import judge  # which knows the way to the other tests
from firmware_image import HEADER, sealed


class Attack:
    """`name` and `what` are for the table; `holds` says what must hold beside what holds for each run (judge.py)."""

    name = what = holds = ""

    def __init__(self, tools, folder, seed):
        self.tools, self.folder, self.seed = tools, Path(folder), seed
        self.folder.mkdir(parents=True)
        self.endings = collections.Counter()  # exit statuses of all runs

    def random(self, number):
        return random.Random(f"{self.name} {self.seed} {number}")

    def npu(self, *arguments, allowed=judge.DOCUMENTED):
        return self.ended(judge.run(self.tools.npu, arguments, self.folder, allowed))

    def ended(self, answer):
        self.endings[answer.status] += 1
        return answer

    def attempt(self, number):
        """Complaints about one try."""
        raise NotImplementedError


def _differing(answer):
    """Complaints about a run with --check reference."""
    if answer.status == 7:
        return ["the device and the reference differ"]
    if answer.status == 0 and "0 differing of" not in answer.out:
        return ["says nothing of elements compared"]
    return []


def legal_but_for_values(description, run):
    """Whether only a value that an operand of EXT-DYNAMIC gets while it runs can be what `npu run` calls illegal."""
    return description is not None and "EXT-DYNAMIC" in description.get("extensions", []) and run.code == "bad_argument"


def lacks_sizes(run):
    """Whether the file leaves sizes open: `npu run` asks for them before it looks at the rules that need them, and `npu info` needs none."""
    return run.code == "bad_input"


class Networks(Attack):
    name = "networks"
    what = "`.tosa` files: legal graphs with shapes, types, data, attributes, operands and regions changed; bytes changed; two files spliced"
    holds = "`npu info` and `npu run` call the same files illegal, but for values that an operand gets at run time; the device gives the reference's bits"

    def attempt(self, number):
        subprocess.run([self.tools.networks, self.folder, str(self.seed), str(number), "1"], check=True)
        choice, file = self.random(number), self.folder / f"{number}.tosa"
        machine = choice.choice(["nano", "edge"])
        info = self.npu("info", file, "--config", machine, "--json", allowed={0, 1, 2, 3, 4, 66})
        # A loop without end reaches the usual limit in two minutes.
        run = self.npu("run", file, "--config", machine, "--mode", choice.choice(["functional", "timed"]), "--most-iterations", 1_000_000,
                       "--check", "reference", "--random-inputs", choice.randrange(1000), allowed={0, 1, 2, 3, 4, 6, 64})
        complaints = info.complaints + run.complaints + _differing(run)
        description = json.loads(info.out) if info.status == 0 else None
        if (info.status == 2) != (run.status == 2) and not legal_but_for_values(description, run) and not lacks_sizes(run):
            complaints.append(f"info ends with {info.status}, run with {run.status} [{run.code}]")
        file.unlink()
        return complaints


class Machines(Attack):
    name = "machines"
    what = "machines in YAML: keys at and beyond their bounds, of wrong types, missing, twice, unknown; sizes that do not fit each other"
    holds = "a machine is refused, or runs each network with the reference's bits, or refuses it by name"

    ODD = ["-1", "0", "1", "3", "4294967295", "4294967296", "99999999999999999999", "1.5", "'8'", "[]", "{}", "~", "true", "x", "0x10",
           "1e3", ".nan", "\"\\u0000\"", "*a", "&a 8", "!!binary 8"]

    def attempt(self, number):
        choice = self.random(number)
        text = self.tools.machine(choice.choice(["nano", "edge"]))
        lines = text.splitlines()
        numbers = [i for i, line in enumerate(lines) if ":" in line and line.split(":")[1].strip().isdigit()]
        for _ in range(choice.randrange(1, 5)):
            i = numbers.pop(choice.randrange(len(numbers)))
            key, value = lines[i].split(":")
            how = choice.randrange(10)
            if how < 6:
                value = int(value)
                value = choice.choice([value * 2, value // 2, value * 4, value // 4, value + 1, value - 1, value * 1024, 1, 0])
                lines[i] = f"{key}: {value}"
            elif how < 8:
                lines[i] = f"{key}: {choice.choice(self.ODD)}"
            elif how == 8:
                lines[i] = choice.choice(["", lines[i] + "\n" + lines[i], f"{key}x: {value}", f"  {lines[i]}", key, "- " + key])
            else:
                at = choice.randrange(len(lines[i]) + 1)
                lines[i] = lines[i][:at] + choice.choice("\t:#&*!|>'\"%@`{}[],?-") + lines[i][at:]
        file = self.folder / f"{number}.yaml"
        file.write_text("\n".join(lines) + "\n")
        network = choice.choice(self.tools.samples)
        run = self.npu("run", network, "--config", file, "--check", "reference", "--invocations", 2, allowed={0, 3, 4, 64, 66})
        info = self.npu("info", network, "--config", file, allowed={0, 3, 4, 64, 66})
        complaints = info.complaints + run.complaints + _differing(run)
        if (info.status == 64) != (run.status == 64):
            complaints.append(f"info ends with {info.status}, run with {run.status}")
        file.unlink()
        return complaints


def damage(choice, data, start=0, end=None):
    """One to eight changes of bytes, or of 32-bit numbers, between `start` and `end`."""
    data, end = bytearray(data), len(data) if end is None else end
    for _ in range(choice.randrange(1, 9)):
        at = choice.randrange(start, end)
        if choice.randrange(2):
            data[at] = choice.choice([0, 1, 0x7f, 0x80, 0xff, choice.randrange(256), data[at] ^ 1 << choice.randrange(8)])
        elif end - start >= 4:
            at = choice.randrange(start, end - 3)
            struct.pack_into("<I", data, at, choice.choice([0, 1, 0x7fffffff, 0x80000000, 0xffffffff, choice.randrange(1 << 32)]))
    return bytes(data)


class States(Attack):
    name = "states"
    what = "saved variables: bytes changed, cut off or longer, with the checksum made right again"
    holds = "the file is refused, or device and reference go on from it alike"

    HEADER, CHECKSUM = 24, 4

    def attempt(self, number):
        choice = self.random(number)
        network, state = choice.choice(self.tools.states)
        payload = state[self.HEADER:-self.CHECKSUM]
        how = choice.randrange(10)
        if how == 0:
            payload = payload[:choice.randrange(len(payload))]
        elif how == 1:
            payload += bytes(choice.randrange(256) for _ in range(choice.randrange(1, 40)))
        else:
            payload = damage(choice, payload)
        header = state[:16] + struct.pack("<Q", len(payload))
        if choice.randrange(10) == 0:
            header = damage(choice, header)
        body = header + payload
        file = self.folder / f"{number}.state"
        file.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
        answers = [self.npu("state", "list", file, allowed={0, 2, 6, 64, 66}),
                   self.npu("state", "diff", file, file, allowed={0, 2, 6, 64, 66}),
                   self.npu("state", "check", file, network, allowed={0, 2, 6, 64, 66}),
                   self.npu("run", network, "--resume", file, "--random-inputs", number, "--check", "reference",
                            allowed={0, 1, 2, 4, 6, 64, 66})]
        complaints = sum((answer.complaints for answer in answers), []) + _differing(answers[3])
        if (answers[0].status == 0) != (answers[1].status == 0):
            complaints.append(f"list ends with {answers[0].status}, diff with {answers[1].status}")
        file.unlink()
        return complaints


class Firmware(Attack):
    name = "firmware"
    what = "images of the firmware: instructions and data changed, with the checksum made right again; headers changed"
    holds = "the image is refused, or the job ends: with the right bits, with wrong ones that `--check` finds, or with a fault"

    def attempt(self, number):
        choice = self.random(number)
        image = self.tools.firmware
        if choice.randrange(10) == 0:
            image = damage(choice, image, 0, HEADER.size)
        else:
            image = sealed(damage(choice, image, HEADER.size))
        file = self.folder / f"{number}.bin"
        file.write_bytes(image)
        run = self.npu("run", choice.choice(self.tools.samples), "--firmware", file, "--check", "reference", "--invocations", 2,
                       allowed={0, 1, 2, 3, 4, 5, 6, 7, 64})  # 1: faults of variables, too
        file.unlink()
        return run.complaints


class Bundles(Attack):
    name = "replay bundles"
    what = "bundles of a tile: numbers, types and keys of `tile.json`, words of the command, bytes and lengths of the memories changed; files missing"
    holds = "the bundle is refused, or model and RTL say the same, or `npu replay` names what differs"

    ODD = [None, True, -1, 0, 1, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63, 2 ** 64, 1.5, "", "x", [], {}, [1], {"a": 1}]

    def attempt(self, number):
        choice = self.random(number)
        bundle = dict(choice.choice(self.tools.bundles))
        for _ in range(choice.randrange(1, 4)):
            self.change(choice, bundle)
        here = self.folder / str(number)
        here.mkdir()
        for name, data in bundle.items():
            (here / name).write_bytes(data)
        answer = self.npu("replay", here, "--no-waveform", allowed={0, 3, 6, 7, 64, 66})
        complaints = list(answer.complaints)
        if {file.name for file in here.iterdir()} != set(bundle):
            complaints.append("the folder has other files than before")
        if answer.status == 0 and not re.search(r"now +equal in all of [1-9]", answer.out):
            complaints.append("says nothing of elements compared")
        shutil.rmtree(here)
        return complaints

    def change(self, choice, bundle):
        name = choice.choice(["tile.json"] * 3 + sorted(bundle))
        if name not in bundle:
            return
        how = choice.randrange(10)
        if how == 0:
            bundle[name] = bundle[name][:choice.randrange(len(bundle[name]) + 1)]
        elif how == 1:
            del bundle[name]
        elif name == "tile.json" and how < 9:
            bundle[name] = self.changed_tile(choice, bundle[name])
        elif bundle[name]:
            bundle[name] = damage(choice, bundle[name])

    def changed_tile(self, choice, text):
        try:
            tile = json.loads(text)
        except ValueError:  # changed before
            return text
        if not isinstance(tile, dict) or not tile:
            return text
        part, key = tile, choice.choice(["command", "command", "memory", "machine", *tile])
        while key in part if isinstance(part, dict) else True:  # down to a number or a word
            below = part[key]
            if not isinstance(below, (dict, list)) or not below:
                break
            part, key = below, choice.choice(sorted(below)) if isinstance(below, dict) else choice.randrange(len(below))
        if isinstance(part, dict) and key not in part:
            return text
        if isinstance(part[key], int) and choice.randrange(3):
            part[key] = choice.choice([part[key] ^ 1 << choice.randrange(32), part[key] + 1, part[key] * 2, part[key] // 2])
        elif isinstance(part, dict) and choice.randrange(4) == 0:
            del part[key]
        else:
            part[key] = choice.choice(self.ODD)
        return json.dumps(tile).encode()


class CommandLines(Attack):
    name = "command lines"
    what = "commands with options left out, given twice, with values of other options, of odd characters and numbers"
    holds = "what holds for each run"

    VALUES = ["", "-", "--", "0", "1", "-1", "18446744073709551616", "1e9", "nano", "edge", "functional", "timed", "reference", "a=b", "=",
              "x=", "=x", ".", "/", "/dev/null", "missing", "\x1b[31m", "\xff", "é", "%s", "a" * 300, "1:2", "mxu@1", "mxu", "8k", "none"]

    def attempt(self, number):
        choice = self.random(number)
        command = choice.choice(sorted(set(self.tools.options) - {"conformance", "cosim"}))
        words = [command]
        for _ in range(choice.randrange(6)):
            kind = choice.randrange(4)
            if kind == 0:
                words.append(choice.choice(self.tools.samples).name)
            elif kind == 1:
                words.append(choice.choice(self.VALUES))
            else:
                words.append(choice.choice(self.tools.options[command] or ["--help"]))
                if choice.randrange(2):
                    words.append(choice.choice(self.VALUES))
        # These wait for others, or write to where the values say.
        words = [word for word in words if not word.startswith(("--gdb", "-o", "--out", "--keep", "--networks"))]
        here = self.folder / str(number)
        here.mkdir()
        for sample in self.tools.samples:  # of its own, since the words may ask to write over one
            shutil.copy(sample, here)
        answer = self.ended(judge.run(self.tools.npu, words, here))
        unfinished = [file.name for file in here.rglob(".npu*")]
        shutil.rmtree(here)
        return answer.complaints + [f"left behind: {name}" for name in unfinished]


ATTACKS = [Networks, Machines, States, Firmware, Bundles, CommandLines]


class Tools:
    """The programs, and what the attacks start from."""

    def __init__(self, arguments, folder):
        self.npu, self.networks = arguments.npu.resolve(), arguments.networks.resolve()
        self.firmware = arguments.firmware.read_bytes()
        folder.mkdir()
        subprocess.run([arguments.maker, folder], check=True)
        self.samples = [folder / f"{name}.tosa" for name in ("convolution", "division", "residual", "running_sum", "two_sums")]
        self._machines = {}
        self.states = []
        for network in sorted(folder.glob("*.tosa")):
            state = folder / "one.state"
            result = self._run("run", network, "--invocations", 2, "--save-state", state, "--mode", "functional")
            if result.returncode == 0 and json.loads(self._run("state", "list", state, "--json").stdout)["variables"]:
                self.states.append((network, state.read_bytes()))
        self.bundles = self._bundles(arguments, folder / "cosim")
        self.options = {}
        for line in self._run("--help").stdout.splitlines():
            words = line.split()
            if line.startswith("  ") and words and words[0].isalpha() and len(line) > 14 and line[2] != " " and line[14] != " ":
                text = self._run(words[0], "--help").stdout
                self.options[words[0]] = [word for row in text.splitlines() for word in row.split()[:4] if word.startswith("--")]

    # Of tiles for which a wrong block of RTL has other results than the model.
    def _bundles(self, arguments, folder):
        if not arguments.wrong:
            return []
        folder.mkdir()
        subprocess.run([arguments.wrong_networks, folder], check=True)
        bundles = []
        for network, engine in [("two_layers", "mxu"), ("clamped", "vpu"), ("wide", "vpu")]:
            kept = folder / f"{engine}-{network}"
            subprocess.run([arguments.wrong, "run", folder / f"{network}.tosa", "--config", "nano", "--random-inputs", "1", "--lockstep",
                            "--rtl", engine, "--keep-bundle", kept], capture_output=True, check=False)
            bundles.append([(file.name, file.read_bytes()) for file in sorted(kept.iterdir())])
        return bundles

    def _run(self, *arguments):
        return subprocess.run([self.npu, *map(str, arguments)], capture_output=True, text=True, check=False)

    def machine(self, name):
        if name not in self._machines:
            self._machines[name] = self._run("machine", name).stdout
        return self._machines[name]

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds words and phrases that hide who acts, in documents, help, messages and comments: every text file of the project.

  words.py            fails, with file, line and the way to say it, when one is found
  words.py --list     prints the words

Exit status 0, 1 when one is found, 77 outside a git checkout. The test first looks for each of them in a sentence of its own.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).resolve()

# Phrase -> what to write in its place. A space is any white space, and what starts a line of a comment.
PHRASES = {
    "whoever": "name the one who acts: the caller, the owner, the user",
    "whomever": "name the one: the caller, the owner, the user",
    "nobody": "name the one who does not act, or say 'not': 'a variable that was never written'",
    "no one": "name the one who does not act, or say 'not'",
    "such that there is": "say it in a sentence of its own",
    "such that there are": "say it in a sentence of its own",
    "what is no": "name the thing: 'an argument that is not a file'",
    "what are no": "name the things",
    "what has no": "name the thing: 'a network without inputs'",
    "what have no": "name the things",
}
GAP = r"(?:\s|//|#|\*|\"\s*\n\s*[uLR]*\")+"


def pattern(phrase):
    return re.compile(r"(?<![\w-])" + GAP.join(map(re.escape, phrase.split())) + r"(?![\w-])", re.IGNORECASE)


PATTERNS = {phrase: pattern(phrase) for phrase in PHRASES}


def findings(text):
    """Line and phrase of each hit."""
    return sorted((text.count("\n", 0, match.start()) + 1, phrase) for phrase, wanted in PATTERNS.items() for match in wanted.finditer(text))


def self_test():
    """Phrases that would not be found."""
    wrong = []
    for phrase in PHRASES:
        first, _, rest = phrase.partition(" ")
        samples = [f"Then {phrase} reads it.", f"{phrase.capitalize()} reads it."]
        samples += [f"// Then {first}\n  // {rest} reads it.", f'"then {first} "\n    "{rest} reads it"'] if rest else []
        wrong += [sample for sample in samples if phrase not in [found for _, found in findings(sample)]]
    return wrong + [text for text in ("AFaultHarmsNobodyElse", "kNobody", "what is not read", "no one-sided") if findings(text)]


def texts():
    try:
        listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                                 capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("words: this is no git checkout, so nothing tells the project's files from others")
        sys.exit(77)
    for name in sorted(listing.split("\0")):
        file = ROOT / name
        if not name or file == OWN or name == "LICENSE" or not file.is_file():
            continue
        try:
            yield name, file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # data


def main():
    if sys.argv[1:] == ["--list"]:
        print(*(f"{phrase}: {advice}" for phrase, advice in PHRASES.items()), sep="\n")
        return 0
    wrong = self_test()
    if wrong:
        print("words: the check itself is wrong about:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    files = hits = 0
    for name, text in texts():
        files += 1
        for line, phrase in findings(text):
            hits += 1
            print(f"{name}:{line}: '{phrase}': {PHRASES[phrase]}", file=sys.stderr)
    print(f"words: {files} files, {hits} of {len(PHRASES)} phrases found" if hits else f"words: {files} files have none of {len(PHRASES)} phrases")
    return 1 if hits or not files else 0


if __name__ == "__main__":
    sys.exit(main())

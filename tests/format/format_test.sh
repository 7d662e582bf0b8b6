#!/usr/bin/env bash
# Fails when a C or C++ file is not as clang-format (first argument) writes it. Generated files are left out by the
# .clang-format of their folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -d '' files < <(find hw driver sim tests -type f \( -name '*.h' -o -name '*.c' -o -name '*.cpp' \) -print0 | sort -z)
[[ ${#files[@]} -gt 0 ]] || { echo "format: found no files" >&2; exit 1; }
"$1" --dry-run -Werror "${files[@]}"
echo "format: ${#files[@]} files are formatted"

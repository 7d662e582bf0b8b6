#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a C or C++ file is not as clang-format (first argument) writes it. Generated files are left out by the
# .clang-format of their folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mapfile -d '' files < <(find docs driver firmware hw rtl sim tests -type f \( -name '*.h' -o -name '*.c' -o -name '*.cpp' \) -print0 | sort -z)
if [[ ${#files[@]} -eq 0 ]]; then
  echo "format: found no files" >&2
  exit 1
fi
if ! report=$("$1" --dry-run -Werror "${files[@]}" 2>&1); then
  mapfile -t wrong < <(sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: .*/\1/p' <<<"$report" | uniq)
  echo "format: to do: $1 -i ${wrong[*]:-($report)}" >&2
  exit 1
fi
echo "format: ${#files[@]} files are formatted"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# linkage_test.sh READELF MODULE FILE...: of these ELF files only the module contains Unicorn, whose core is GPL. The
# module exports nothing but its two symbols. Exit status 0, or 1 after one line per violation.
set -euo pipefail

readelf=$1 module=$2
shift 2
status=0
complain() {
  echo "linkage: $*"
  status=1
}
needs_unicorn() { "$readelf" --wide -d "$1" | grep -q 'NEEDED.*libunicorn'; }
mentions_unicorn() { "$readelf" --wide --syms "$1" | grep ' uc_[a-z]' >/dev/null; }

mentions_unicorn "$module" || complain "$module has nothing of Unicorn: is this the module?"
exported=$("$readelf" --wide --dyn-syms "$module" | awk '$7 != "UND" && $8 ~ /./ && $4 != "Type" { print $8 }' | sort | xargs)
[[ $exported == "npu_iss_create npu_iss_version" ]] || complain "$module exports $exported"
[[ $# -gt 0 ]] || complain "nothing to compare with"
for file in "$@"; do
  ! needs_unicorn "$file" || complain "$file needs Unicorn"
  ! mentions_unicorn "$file" || complain "$file uses symbols of Unicorn"
done
exit $status

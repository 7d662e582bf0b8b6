# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=... -DLIST=... -DOUT=... -P source_version.cmake: a C++ file with a hash of the files that LIST names, a path below ROOT
# in each line. It is the same in each clone.
file(STRINGS "${LIST}" files)
set(text "")
foreach(file IN LISTS files)
  file(SHA256 "${ROOT}/${file}" hash)
  string(APPEND text "${hash} ${file}\n")
endforeach()
string(SHA256 version "${text}")
string(SUBSTRING "${version}" 0 16 version)
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[// Written by cmake/source_version.cmake.
#include "rtl/verilated/module.h"

std::string_view npu::rtl::source_version() { return "@version@"; }
]])

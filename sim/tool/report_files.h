// SPDX-License-Identifier: Apache-2.0
// The files that reports go to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/tool/file_places.h"

namespace npu::tool {

// Options and the files they name; empty: none. `read`: what the command reads. Throws Error: kCannotWrite for a place
// where no file can be made, and kBadOption for a file that is read or that two options name.
void check_report_files(const std::vector<std::pair<std::string_view, std::string>>& files, FilePlaces read = {});

}  // namespace npu::tool

// SPDX-License-Identifier: Apache-2.0
#include "sim/report/cause.h"

namespace npu::report {
namespace {

struct Words {
  std::string_view name, words;
};

constexpr std::array<Words, kCauseCount> kCauses = {{
    {"mxu_compute", "compute"},
    {"vpu_compute", "compute"},
    {"fill_drain", "fill and drain"},
    {"bank_conflicts", "bank conflicts"},
    {"weight_load_first", "first constants"},
    {"weight_load_room", "constants, no room earlier"},
    {"weight_load_dram", "constants"},
    {"weight_load_port", "weights"},
    {"weight_load_latency", "constants"},
    {"dram_read", "read"},
    {"dram_write", "write"},
    {"dram_latency", "DRAM"},
    {"state", "state"},
    {"on_chip_copy", "copy"},
    {"tokens", "tokens"},
    {"variable_table", "variable table"},
    {"command_fetch", "commands"},
    {"command_issue", ""},
}};

constexpr std::array<Words, kResourceCount> kResources = {{
    {"mxu", "MXU"},
    {"vpu", "VPU"},
    {"dram", "DRAM"},
    {"scratchpad_port", "scratchpad port"},
    {"dma", "DMA"},
    {"latency", "latency"},
    {"command_issue", "command issue"},
}};

}  // namespace

std::string_view name(Cause cause) { return kCauses[static_cast<size_t>(cause)].name; }
std::string_view words(Cause cause) { return kCauses[static_cast<size_t>(cause)].words; }
std::string_view name(Resource resource) { return kResources[static_cast<size_t>(resource)].name; }
std::string_view words(Resource resource) { return kResources[static_cast<size_t>(resource)].words; }

}  // namespace npu::report

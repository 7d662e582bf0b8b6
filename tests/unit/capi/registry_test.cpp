// SPDX-License-Identifier: Apache-2.0
// The numbers of npu.h are those of the contract: none missing, none surplus, none different.
#include <gtest/gtest.h>
#include <npu.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <string>

#include "driver/graph/graph.h"
#include "hw/contract/gen/commands.h"
#include "hw/contract/gen/errors.h"
#include "hw/contract/gen/registers.h"

namespace npu {
namespace {

using Numbers = std::map<std::string, uint32_t>;

// The constants NPU_<prefix>_<NAME> of the header, by lower-case name.
Numbers constants(const std::string& prefix) {
  std::ifstream file(NPU_SOURCE_DIR "/driver/capi/npu.h");
  const std::string start = "NPU_" + prefix + "_", assigns = " = ";
  Numbers found;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(start), last = line.find(assigns);
    if (first == std::string::npos || last == std::string::npos || last < first) continue;
    std::string name = line.substr(first + start.size(), last - first - start.size());
    const auto belongs = [](unsigned char c) { return std::isupper(c) || std::isdigit(c) || c == '_'; };
    const char digit = line[last + assigns.size()];
    if (name.empty() || !std::all_of(name.begin(), name.end(), belongs) || digit < '0' || digit > '9') continue;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    found[name] = static_cast<uint32_t>(std::stoul(line.substr(last + assigns.size()), nullptr, 0));
  }
  return found;
}

// Every value below `end` that the contract has a name for.
template <typename Enum>
Numbers registry(uint32_t end) {
  Numbers found;
  for (uint32_t i = 0; i < end; ++i) {
    const std::string_view text = contract::name(static_cast<Enum>(i));
    if (text != "?") found[std::string(text)] = i;
  }
  return found;
}

TEST(Registry, Statuses) {
  Numbers wanted = registry<contract::ErrorCode>(0x10000);
  ASSERT_GT(wanted.size(), 50u);
  wanted.erase("ok");
  EXPECT_EQ(constants("STATUS"), wanted);
  EXPECT_EQ(NPU_OK, 0);
}

TEST(Registry, NamesAndClasses) {
  const Numbers statuses = constants("STATUS"), classes = constants("CLASS");
  for (const auto& [name, number] : statuses) {
    const auto status = static_cast<npu_status>(number);
    EXPECT_EQ(npu_status_name(status), name);
    EXPECT_EQ(npu_status_class(status), contract::exit_status(static_cast<contract::ErrorCode>(number)));
    EXPECT_STRNE(npu_class_name(npu_status_class(status)), "?") << name;
    EXPECT_EQ(npu_status_describe(status), contract::describe(static_cast<contract::ErrorCode>(number)));
  }
  EXPECT_EQ(classes.size(), 11u);
  for (const auto& [name, number] : classes) EXPECT_EQ(npu_class_name(static_cast<npu_class>(number)), name);
  EXPECT_STREQ(npu_status_name(NPU_OK), "ok");
  EXPECT_STREQ(npu_status_name(0x5ff), "?");
  EXPECT_STREQ(npu_status_name(-1), "?");
  EXPECT_EQ(npu_status_class(-1), NPU_CLASS_INTERNAL);
  EXPECT_STREQ(npu_class_name(8), "?");
  EXPECT_EQ(npu_status_class(NPU_STATUS_JOB_CANCELLED), NPU_CLASS_DEVICE_FAULT);
}

TEST(Registry, QueuesAndCounters) {
  Numbers queues = registry<contract::Queue>(256);
  queues["all"] = NPU_JOB_QUEUE_ALL;
  EXPECT_EQ(constants("JOB_QUEUE"), queues);
  for (const auto& [name, number] : queues) EXPECT_EQ(npu_queue_name(number), name);
  EXPECT_STREQ(npu_queue_name(12), "?");
  const Numbers counters = registry<contract::Counter>(256);
  EXPECT_EQ(counters.size(), contract::kCounterCount);
  EXPECT_EQ(constants("JOB_COUNTER"), counters);
  for (const auto& [name, number] : counters) EXPECT_EQ(npu_counter_name(number), name);
  EXPECT_STREQ(npu_counter_name(200), "?");
}

TEST(Registry, Types) {
  for (const auto& [name, number] : constants("DTYPE")) {
    if (number == NPU_DTYPE_UNKNOWN) continue;
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    EXPECT_EQ(npu_dtype_name(number), upper);
    EXPECT_EQ(graph::name(static_cast<graph::DType>(number)), upper);
  }
  EXPECT_STREQ(npu_dtype_name(NPU_DTYPE_UNKNOWN), "?");
  EXPECT_STREQ(npu_dtype_name(12345), "?");
}

TEST(Registry, PowerAndVersion) {
  EXPECT_EQ(static_cast<uint32_t>(contract::PowerState::kActive), NPU_POWER_ON + 0u);
  EXPECT_EQ(static_cast<uint32_t>(contract::PowerState::kSleep), NPU_POWER_SLEEP + 0u);
  EXPECT_EQ(npu_api_version(), NPU_API_VERSION);
}

}  // namespace
}  // namespace npu

// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/junit.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>

namespace npu::tool {
namespace {

using Result = JunitCase::Result;

// An attribute, behind a space.
std::string time_attribute(const std::optional<double>& seconds) {
  return seconds ? fmt::format(" time=\"{:.6f}\"", *seconds) : "";
}

// How many cases had which result.
struct JunitCounts {
  std::array<uint64_t, 4> of{};

  std::optional<double> seconds{};

  void add(const JunitCase& one) {
    ++of[static_cast<size_t>(one.result)];
    if (one.seconds) seconds = seconds.value_or(0) + *one.seconds;
  }
  [[nodiscard]] std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}", of[0] + of[1] + of[2] + of[3],
                       of[1], of[2], of[3], time_attribute(seconds));
  }
};

struct Suite {
  JunitCounts counts;
  std::string cases;
};

// Text of an XML attribute.
std::string xml(const std::string& text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string element(const JunitCase& one) {
  const std::string start = fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", xml(one.suite), xml(one.name),
                                        time_attribute(one.seconds));
  if (one.result == Result::kPassed) return start + "/>\n";
  if (one.result == Result::kSkipped) {
    return fmt::format("{}><skipped message=\"{}\"/></testcase>\n", start, xml(one.message));
  }
  return fmt::format("{}><{} type=\"{}\" message=\"{}\"/></testcase>\n", start,
                     one.result == Result::kError ? "error" : "failure", xml(one.type), xml(one.message));
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

std::string junit(std::string_view name, const std::vector<JunitCase>& cases) {
  std::map<std::string, Suite> suites;
  JunitCounts all;
  for (const JunitCase& one : cases) {
    Suite& suite = suites[one.suite];
    suite.counts.add(one);
    suite.cases += element(one);
    all.add(one);
  }
  std::string text = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n",
                                 xml(std::string(name)), all.attributes());
  for (const auto& [title, suite] : suites) {
    text += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", xml(title), suite.counts.attributes(),
                        suite.cases);
  }
  return text + "</testsuites>\n";
}

}  // namespace npu::tool

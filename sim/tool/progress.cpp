// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "sim/tool/say.h"

namespace npu::tool {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Shorter runs end before anybody reads.
constexpr auto kFirst = milliseconds(500);
constexpr auto kFirstInAFile = seconds(2);
constexpr auto kInterval = milliseconds(250);
constexpr auto kIntervalInAFile = seconds(10);

std::string left(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(int64_t total, std::string what, bool quiet)
    : total_(total),
      what_(std::move(what)),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (printed_ && terminal_) say_error_text("\r\033[K");
}

void Progress::step() {
  ++done_;
  if (done_ < total_) update(static_cast<double>(done_));
}

void Progress::part(double fraction) { update(static_cast<double>(done_) + fraction); }

void Progress::update(double done) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  const bool first = !printed_;
  const auto wait = terminal_ ? (first ? Clock::duration(kFirst) : Clock::duration(kInterval))
                              : (first ? Clock::duration(kFirstInAFile) : Clock::duration(kIntervalInAFile));
  if (now - last_ >= wait) print(done, now);
}

void Progress::print(double done, Clock::time_point now) {
  last_ = now;
  printed_ = true;
  const double elapsed = duration<double>(now - start_).count();
  const double whole = static_cast<double>(total_);
  const std::string time =
      done <= 0 ? "" : fmt::format(", {:.3g} a second, {} left", done / elapsed, left(elapsed * (whole - done) / done));
  if (terminal_) say_error_text("\r\033[K");
  say_error("{} {} of {} ({:.0f} %){}{}", what_, std::min(done_ + 1, total_), total_, 100 * done / whole, time,
            terminal_ ? "" : "\n");
}

}  // namespace npu::tool

// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/slow_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

// What is slow, in cycles over those of a program for the sizes alone, and what is worth a program.
constexpr double kSlow = 1.12;
constexpr double kWorthwhile = 0.97;  // of the cycles that it had before
// Each costs a compilation.
constexpr size_t kMostOfGrid = 100;
constexpr size_t kMostLevels = 16;
constexpr size_t kMostAttempts = 64;

using Sizes = std::vector<int64_t>;

// Of a range as many as are wanted, about a factor apart, the largest first. Both ends are among them.
std::vector<int64_t> levels(const SizeRange& range, size_t count) {
  std::vector<int64_t> all;
  const double factor = static_cast<double>(range.least) / static_cast<double>(range.most);
  for (size_t i = 0; i < count; ++i) {
    const double part = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const int64_t level = std::llround(static_cast<double>(range.most) * std::pow(factor, part));
    if (all.empty() || all.back() != level) all.push_back(level);
  }
  return all;
}

// How far apart sizes are, in factors.
double distance(const Sizes& a, const Sizes& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(std::log(static_cast<double>(a[i]) / static_cast<double>(b[i])));
  }
  return sum;
}

std::vector<SizeRange> bounds_of(const Program& program) {
  std::vector<SizeRange> bounds;
  for (const SizeTable::Symbol& symbol : program.sizes.symbols) bounds.push_back({symbol.least, symbol.most});
  return bounds;
}

class SlowSizes {
 public:
  SlowSizes(const SizeChoices& choices, const SlowSizesOptions& options, std::vector<Program>& programs)
      : choices_(choices.choices()), options_(options), programs_(programs) {
    find_probes(choices.ranges());
  }

  void run() {
    look_at_probes();
    add_programs();
    say(probes_.size() + kMostAttempts);
  }

 private:
  // A choice that stands for those near it.
  struct Probe {
    size_t choice = 0;
    uint64_t alone = 0, cycles = 0;
    bool given_up = false;
    [[nodiscard]] double times() const {
      return given_up ? 0 : static_cast<double>(cycles) / static_cast<double>(std::max<uint64_t>(alone, 1));
    }
  };

  void add_programs() {
    for (size_t attempts = 0; programs_.size() < options_.most_programs && attempts < kMostAttempts;) {
      const auto slowest = std::max_element(probes_.begin(), probes_.end(),
                                            [](const Probe& a, const Probe& b) { return a.times() < b.times(); });
      if (slowest == probes_.end() || slowest->times() <= kSlow) return;
      slowest->given_up = true;  // until another program is for it
      help(*slowest, attempts);
      say(probes_.size() + attempts);
    }
  }

  void say(size_t done) const {
    if (options_.progress) options_.progress(done, probes_.size() + kMostAttempts + 1);
  }

  // A grid over the choices.
  void find_probes(const std::vector<SizeRange>& ranges) {
    std::vector<std::vector<int64_t>> grid;
    for (size_t count = kMostLevels; grid.empty() || points_of(grid) > kMostOfGrid; --count) {
      grid.clear();
      for (const SizeRange& range : ranges) grid.push_back(levels(range, count));
    }
    std::set<size_t> found;
    std::vector<size_t> at(grid.size(), 0);
    for (size_t i = 0; i < at.size();) {
      Sizes sizes;
      for (size_t d = 0; d < grid.size(); ++d) sizes.push_back(grid[d][at[d]]);
      found.insert(nearest(sizes));
      for (i = 0; i < at.size() && ++at[i] == grid[i].size(); ++i) at[i] = 0;
    }
    for (const Program& program : programs_) add_corners(bounds_of(program), found);
    for (const size_t choice : found) probes_.push_back({choice, 0, 0, false});
  }

  // Of a box those that are small in one dimension, or in all.
  void add_corners(const std::vector<SizeRange>& box, std::set<size_t>& found) const {
    Sizes least, most;
    for (const SizeRange& range : box) {
      least.push_back(range.least);
      most.push_back(range.most);
    }
    found.insert(nearest(least));
    for (size_t d = 0; d < box.size(); ++d) {
      Sizes corner = most;
      corner[d] = least[d];
      found.insert(nearest(corner));
    }
  }

  static size_t points_of(const std::vector<std::vector<int64_t>>& grid) {
    size_t points = 1;
    for (const std::vector<int64_t>& one : grid) points *= one.size();
    return points;
  }

  [[nodiscard]] size_t nearest(const Sizes& sizes) const {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < choices_.size(); ++c) {
      const double far = distance(choices_[c], sizes);
      if (far < least) best = c;
      least = std::min(least, far);
    }
    return best;
  }

  void look_at_probes() {
    for (size_t i = 0; i < probes_.size(); ++i) {
      say(i);
      look_at(probes_[i]);
    }
  }

  void look_at(Probe& probe) const {
    probe.alone = options_.cycles_alone(probe.choice);
    probe.cycles = options_.cycles(*program_of(probe.choice), probe.choice);
  }

  [[nodiscard]] std::vector<Program>::iterator program_of(size_t choice) const {
    const auto found = std::find_if(programs_.begin(), programs_.end(),
                                    [&](const Program& one) { return is_within(choices_[choice], one.sizes); });
    NPU_CHECK(found != programs_.end());
    return found;
  }

  // Adds a program that the probe is faster in, if one is found.
  void help(Probe probe, size_t& attempts) {
    const std::vector<SizeRange> box = bounds_of(*program_of(probe.choice));
    for (const std::vector<SizeRange>& part : parts_of(box, choices_[probe.choice])) {
      if (attempts == kMostAttempts) return;
      std::vector<size_t> choices;
      for (size_t c = 0; c < choices_.size(); ++c) {
        if (is_within(choices_[c], part)) choices.push_back(c);
      }
      ++attempts;
      std::optional<Program> added = compiled(std::move(choices));
      if (!added || !is_within(choices_[probe.choice], added->sizes)) continue;
      const uint64_t cycles = options_.cycles(*added, probe.choice);
      if (static_cast<double>(cycles) > kWorthwhile * static_cast<double>(probe.cycles)) continue;
      if (bytes_of_all() + options_.bytes(*added) > options_.most_bytes) return;
      const Sizes sizes = choices_[probe.choice];
      const std::vector<SizeRange> taken = bounds_of(*added);
      add(*std::move(added), program_of(probe.choice));
      look_beyond(taken, sizes);
      return;
    }
  }

  // Nullopt where these sizes cannot have a layout of their own: they have a program without it.
  [[nodiscard]] std::optional<Program> compiled(std::vector<size_t> choices) const {
    try {
      return options_.compile(std::move(choices));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] uint64_t bytes_of_all() const {
    uint64_t bytes = 0;
    for (const Program& one : programs_) bytes += options_.bytes(one);
    return bytes;
  }

  // The sizes next to a part that has got another program are now the smallest of theirs.
  void look_beyond(const std::vector<SizeRange>& part, const Sizes& sizes) {
    for (size_t d = 0; d < part.size(); ++d) {
      Sizes next = sizes;
      next[d] = part[d].most + 1;
      const size_t choice = nearest(next);
      const bool known =
          std::any_of(probes_.begin(), probes_.end(), [&](const Probe& one) { return one.choice == choice; });
      if (known || choices_[choice] != next) continue;
      probes_.push_back({choice, 0, 0, false});
      look_at(probes_.back());
    }
  }

  // Parts of a box with these sizes whose largest ones are nearer to them: half of one dimension, in factors, those
  // first that make the largest step. Of the largest sizes themselves those that are about as large.
  static std::vector<std::vector<SizeRange>> parts_of(const std::vector<SizeRange>& box, const Sizes& sizes) {
    std::vector<std::pair<double, std::vector<SizeRange>>> parts;
    std::vector<SizeRange> near = box;
    for (size_t d = 0; d < box.size(); ++d) {
      const auto most = static_cast<double>(box[d].most), own = static_cast<double>(sizes[d]);
      near[d].least = std::max(box[d].least, (box[d].most + 1) / 2);
      if (sizes[d] == box[d].most) continue;
      std::vector<SizeRange> part = box;
      part[d].most = std::clamp<int64_t>(std::llround(std::sqrt(most * own)), sizes[d], box[d].most - 1);
      parts.emplace_back(most / own, std::move(part));
    }
    if (parts.empty()) return {near};
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::vector<SizeRange>> ordered;
    for (auto& [step, part] : parts) ordered.push_back(std::move(part));
    return ordered;
  }

  // In front of the one that these sizes took before, and behind those that others take.
  void add(Program&& added, std::vector<Program>::iterator before) {
    const auto position = programs_.insert(before, std::move(added));
    for (Probe& probe : probes_) {
      if (program_of(probe.choice) != position) continue;
      probe.cycles = options_.cycles(*position, probe.choice);
      probe.given_up = false;
    }
  }

  const std::vector<Sizes>& choices_;
  const SlowSizesOptions& options_;
  std::vector<Program>& programs_;
  std::vector<Probe> probes_;
};

}  // namespace

void add_programs_for_slow_sizes(const SizeChoices& choices, const SlowSizesOptions& options,
                                 std::vector<Program>& programs) {
  SlowSizes(choices, options, programs).run();
}

}  // namespace npu::compiler

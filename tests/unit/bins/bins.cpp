// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/bins/bins.h"

#include <algorithm>
#include <ostream>
#include <stdexcept>

namespace npu::test {
namespace {

constexpr size_t kRarest = 3;  // bins that are printed beside the listed ones
constexpr std::string_view kAnd = " & ";

}  // namespace

Bins::Bins(std::string family, std::vector<std::string_view> facts, const Listed& want_bins)
    : family_(std::move(family)), facts_(std::move(facts)) {
  if (facts_.size() > 64) throw std::invalid_argument(family_ + ": more than 64 facts");
  for (const std::string_view text : want_bins.impossible) impossible_.push_back(parse(text));
  for (const std::string_view text : want_bins.listed) wanted_.push_back(parse(text));
  listed_ = wanted_.size();
  uint64_t paired = 0;
  for (const std::string_view name : want_bins.paired) paired |= parse(name).about;
  for (size_t i = 0; i < facts_.size(); ++i) {
    const uint64_t one = uint64_t{1} << i;
    for (const uint64_t holding : {uint64_t{0}, one}) want({one, holding});
    for (size_t k = 0; k < i; ++k) {
      const uint64_t other = uint64_t{1} << k, both = one | other;
      if ((paired & both) != both) continue;
      for (const uint64_t holding : {uint64_t{0}, one, other, both}) want({both, holding});
    }
  }
}

void Bins::want(const Bin& bin) {
  if (possible(bin) && std::find(wanted_.begin(), wanted_.end(), bin) == wanted_.end()) wanted_.push_back(bin);
}

bool Bins::possible(const Bin& bin) const {
  return std::none_of(impossible_.begin(), impossible_.end(), [&](const Bin& never) {
    return (bin.about & never.about) == never.about && (bin.holding & never.about) == never.holding;
  });
}

Bins::Bin Bins::parse(std::string_view text) const {
  Bin bin;
  while (!text.empty()) {
    const size_t end = std::min(text.find(kAnd), text.size());
    std::string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + kAnd.size(), text.size()));
    const bool fails = name.starts_with('!');
    if (fails) name.remove_prefix(1);
    const auto fact = std::find(facts_.begin(), facts_.end(), name);
    if (fact == facts_.end()) throw std::invalid_argument(family_ + " has no fact '" + std::string(name) + "'");
    const uint64_t bit = uint64_t{1} << (fact - facts_.begin());
    bin.about |= bit;
    if (!fails) bin.holding |= bit;
  }
  return bin;
}

std::string Bins::text(const Bin& bin) const {
  std::string text;
  for (size_t i = 0; i < facts_.size(); ++i) {
    if ((bin.about >> i & 1) == 0) continue;
    if (!text.empty()) text += kAnd;
    if ((bin.holding >> i & 1) == 0) text += '!';
    text += facts_[i];
  }
  return text;
}

uint64_t Bins::count(const Bin& bin) const {
  uint64_t sum = 0;
  for (const auto& [facts, times] : seen_) {
    if ((facts & bin.about) == bin.holding) sum += times;
  }
  return sum;
}

std::vector<std::string> Bins::missed() const {
  std::vector<std::string> missed;
  for (const Bin& bin : wanted_) {
    if (count(bin) == 0) missed.push_back(family_ + ": " + text(bin));
  }
  return missed;
}

void Bins::print(std::ostream& out) const {
  std::vector<std::pair<uint64_t, const Bin*>> counts;
  for (const Bin& bin : wanted_) counts.emplace_back(count(bin), &bin);
  const auto hit = std::count_if(counts.begin(), counts.end(), [](const auto& entry) { return entry.first > 0; });
  out << family_ << ": " << count(Bin{}) << " drawn, " << hit << " of " << wanted_.size() << " bins hit\n";
  const auto rest = counts.begin() + static_cast<std::ptrdiff_t>(listed_);
  std::stable_sort(rest, counts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  counts.resize(std::min(counts.size(), listed_ + kRarest));
  for (const auto& [times, bin] : counts) out << "  " << times << "  " << text(*bin) << "\n";
}

}  // namespace npu::test

// SPDX-License-Identifier: Apache-2.0
// Counts what a random generator draws. A family of things (convolutions, say) has facts that hold of one of them or
// not, such as "batch > 1". A bin is a few facts that hold and fail together, as text: "batch > 1 & !height > 1". A
// test prints how often its fixed seeds hit each bin, and fails where a listed bin was never hit: nothing was checked
// there.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::test {

template <class Thing>
struct Fact {
  std::string_view name;
  bool (*holds)(const Thing&);
};

// Which bins of a family have to be hit: those of `listed`, and of `paired` facts each two, in all four combinations
// of holding and failing; of the others each, holding and failing. What contains a bin of `impossible` does not exist.
struct Listed {
  std::span<const std::string_view> listed = {}, paired = {}, impossible = {};
};

class Bins {
 public:
  // Throws std::invalid_argument where a bin names a fact that is not among `facts`, of which there are at most 64.
  Bins(std::string family, std::vector<std::string_view> facts, const Listed& want);

  // One thing: bit i says whether fact i holds.
  void add(uint64_t facts) { ++seen_[facts]; }
  template <class Thing>
  void add(std::span<const Fact<Thing>> facts, const Thing& thing) {
    uint64_t holding = 0;
    for (size_t i = 0; i < facts.size(); ++i) holding |= uint64_t{facts[i].holds(thing)} << i;
    add(holding);
  }

  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] uint64_t count(std::string_view bin) const { return count(parse(bin)); }
  // The bins that have to be hit and were not, "family: bin" each.
  [[nodiscard]] std::vector<std::string> missed() const;
  // How many were added and how many bins they hit; then each listed bin with its count, and what was hit least.
  void print(std::ostream& out) const;

 private:
  // The facts that it is about, and those of them that hold.
  struct Bin {
    uint64_t about = 0, holding = 0;
    bool operator==(const Bin&) const = default;
  };
  [[nodiscard]] Bin parse(std::string_view text) const;
  [[nodiscard]] std::string text(const Bin& bin) const;
  [[nodiscard]] uint64_t count(const Bin& bin) const;
  [[nodiscard]] bool possible(const Bin& bin) const;
  void want(const Bin& bin);

  std::string family_;
  std::vector<std::string_view> facts_;
  std::vector<Bin> impossible_, wanted_;
  size_t listed_ = 0;  // the first ones of wanted_
  std::map<uint64_t, uint64_t> seen_;
};

// The names of a table of facts.
template <class Thing>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const Fact<Thing>> facts) {
  std::vector<std::string_view> names;
  for (const Fact<Thing>& fact : facts) names.push_back(fact.name);
  return names;
}

}  // namespace npu::test

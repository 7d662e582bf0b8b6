// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/size_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::Symbol;
using graph::SymbolId;

// The symbol that a value is, without anything done to it.
std::optional<SymbolId> same_as(const graph::Dim& value) {
  const std::set<SymbolId> symbols = value.symbols();
  if (symbols.size() != 1 || !(value == graph::Dim::symbol(*symbols.begin()))) return std::nullopt;
  return *symbols.begin();
}

void narrow(std::optional<SizeRange>& range, SizeRange by) {
  if (!range) {
    range = by;
  } else {
    range->least = std::max(range->least, by.least);
    range->most = std::min(range->most, by.most);
  }
}

// A size that the network decides has no bounds but that size.
void require_decided(const SizeBounds& bound, int64_t size) {
  if (bound.least == size && bound.most == size) return;
  const bool inside = bound.least <= size && size <= bound.most;
  throw Error(inside ? ErrorCode::kBadOption : ErrorCode::kSizeMismatch,
              fmt::format("size '{}' is {} in this network, whatever the other sizes are, not {}..{}: leave its bounds "
                          "out",
                          bound.name, size, bound.least, bound.most));
}

// Of two sizes that are equal.
void require_overlap(const SizeBounds& a, const SizeBounds& b) {
  if (std::max(a.least, b.least) <= std::min(a.most, b.most)) return;
  throw Error(ErrorCode::kSizeMismatch,
              fmt::format("sizes '{}' and '{}' are equal in this network, but no size is in both {}..{} and {}..{}",
                          a.name, b.name, a.least, a.most, b.least, b.most));
}

// Beyond the constants of a table of sizes.
bool has_large_number(const SizeDemand& demand) {
  const auto large = [](const graph::Dim& dim) {
    return dim.is_number() && std::abs(*dim.number()) > std::numeric_limits<int32_t>::max();
  };
  return large(demand.left) || large(demand.right);
}

}  // namespace

bool is_within(std::span<const int64_t> sizes, std::span<const SizeRange> box) {
  for (size_t i = 0; i < box.size(); ++i) {
    if (sizes[i] < box[i].least || sizes[i] > box[i].most) return false;
  }
  return true;
}

SizeChoices::SizeChoices(const graph::Graph& graph, const graph::Inference& inference,
                         std::span<const SizeBounds> bounds)
    : inference_(inference), bounds_(inference.open.symbols().size()) {
  take_bounds(bounds);
  take_symbols();
  take_demands(graph);
  enumerate();
}

void SizeChoices::take_bounds(std::span<const SizeBounds> bounds) {
  const std::vector<Symbol>& symbols = inference_.open.symbols();
  std::map<std::string, SymbolId> names;
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    if (symbols[id].of == Symbol::Of::kInput) names.emplace(symbols[id].name, id);
  }
  std::set<std::string> seen;
  std::map<SymbolId, std::vector<SizeBounds>> of_equal;  // by the symbol that sizes are equal to
  for (const SizeBounds& bound : bounds) {
    const auto name = names.find(bound.name);
    if (name == names.end()) {
      std::string all;
      for (const auto& [known, id] : names) all += (all.empty() ? "" : ", ") + known;
      throw Error(ErrorCode::kBadOption,
                  fmt::format("the network leaves no size '{}' of an input open; those that it does: {}", bound.name,
                              all.empty() ? "none" : all));
    }
    if (!seen.insert(bound.name).second) {
      throw Error(ErrorCode::kBadOption, fmt::format("size '{}' has bounds twice", bound.name));
    }
    if (bound.least < 1 || bound.most < bound.least || bound.most > graph::kMostSize) {
      throw Error(ErrorCode::kBadOption, fmt::format("{}..{} are no bounds for size '{}'; a size is 1 to {}",
                                                     bound.least, bound.most, bound.name, graph::kMostSize));
    }
    const SizeRange range{bound.least, bound.most};
    narrow(bounds_[name->second], range);
    const std::optional<graph::Dim>& value = symbols[name->second].value;
    if (value && value->is_number()) require_decided(bound, *value->number());
    const std::optional<SymbolId> same = value ? same_as(*value) : name->second;
    if (!same) continue;
    if (*same != name->second) narrow(bounds_[*same], range);
    for (const SizeBounds& other : of_equal[*same]) require_overlap(other, bound);
    of_equal[*same].push_back(bound);
  }
}

void SizeChoices::take_symbols() {
  const std::vector<Symbol>& symbols = inference_.open.symbols();
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    const Symbol& symbol = symbols[id];
    if (symbol.value) continue;
    if (symbol.of != Symbol::Of::kInput) {
      throw Error(
          ErrorCode::kFeatureUnsupported,
          fmt::format(
              "size '{}' follows from no size of an input, so a job cannot bring it; give it in the file, or fix "
              "all sizes with npu resolve, whose --shape takes variables, too",
              symbol.name));
    }
    if (!bounds_[id]) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("the network leaves size '{}' open; give bounds for it", symbol.name));
    }
    SizeRange range{std::max(bounds_[id]->least, symbol.low), std::min(bounds_[id]->most, symbol.high)};
    if (range.least > range.most) {
      throw Error(ErrorCode::kSizeMismatch,
                  fmt::format("no size '{}' from {} to {} fits the network, which takes {} to {}", symbol.name,
                              bounds_[id]->least, bounds_[id]->most, symbol.low, symbol.high));
    }
    symbols_.push_back(id);
    ranges_.push_back(range);
  }
  if (symbols_.empty()) {
    throw Error(ErrorCode::kBadOption, "the network leaves no size open; compile it without bounds");
  }
  if (symbols_.size() > contract::kMostSymbols) {
    throw Error(ErrorCode::kArgumentUnsupported,
                fmt::format("the network leaves {} sizes open, and a job brings at most {}", symbols_.size(),
                            contract::kMostSymbols));
  }
}

void SizeChoices::take_demands(const graph::Graph& graph) {
  const graph::OpenSizes& open = inference_.open;
  for (const graph::Condition& condition : open.conditions()) {
    const graph::Block& block = graph.regions[condition.place.region].blocks.front();
    demands_.push_back(
        {condition.relation, condition.left, condition.right,
         fmt::format("{}: {}", graph::describe(block.operators[condition.place.position], condition.place.position),
                     open.text(condition))});
  }
  for (SymbolId id = 0; id < open.symbols().size(); ++id) {
    const Symbol& symbol = open.symbols()[id];
    if (!symbol.value) continue;
    std::optional<SizeRange> range = SizeRange{symbol.least, symbol.most};
    if (bounds_[id]) narrow(range, *bounds_[id]);
    const std::string text = fmt::format("size '{}', which is {}, must be {} to {}", symbol.name,
                                         open.text(*symbol.value), range->least, range->most);
    demands_.push_back({contract::SizeRelation::kAtLeast, *symbol.value, range->least, text});
    demands_.push_back({contract::SizeRelation::kAtLeast, range->most, *symbol.value, text});
  }
}

void SizeChoices::look_at(const std::vector<int64_t>& sizes) {
  const std::vector<Symbol>& symbols = inference_.open.symbols();
  std::vector<int64_t> values(symbols.size(), 1);
  for (size_t i = 0; i < symbols_.size(); ++i) values[symbols_[i]] = sizes[i];
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    if (symbols[id].value) values[id] = symbols[id].value->evaluate(values).value_or(0);  // a demand then is broken
  }
  std::vector<uint32_t> broken;
  for (uint32_t i = 0; i < demands_.size(); ++i) {
    const SizeDemand& demand = demands_[i];
    if (!holds(graph::Condition{demand.relation, demand.left, demand.right, {}, {}}, values)) broken.push_back(i);
  }
  if (!broken.empty()) {
    refused_.push_back({sizes, std::move(broken)});
  } else {
    choices_.push_back(sizes);
    filled_.push_back(std::move(values));
  }
}

std::vector<std::vector<int64_t>> SizeChoices::refused() const {
  std::vector<std::vector<int64_t>> all;
  for (const Refused& one : refused_) all.push_back(one.sizes);
  return all;
}

std::vector<SizeDemand> SizeChoices::demands(std::span<const SizeRange> box) const {
  std::set<uint32_t> broken;
  std::vector<const Refused*> inside;
  for (const Refused& refused : refused_) {
    if (!is_within(refused.sizes, box)) continue;
    broken.insert(refused.broken.begin(), refused.broken.end());
    inside.push_back(&refused);
  }
  // An expression without a value breaks every demand that it is in. One demand that all of these sizes break is
  // enough, and tables cannot say some of them.
  std::vector<uint32_t> order(broken.begin(), broken.end());
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool large_a = has_large_number(demands_[a]), large_b = has_large_number(demands_[b]);
    return large_a != large_b ? large_a : a > b;
  });
  for (const uint32_t number : order) {
    const bool needed = std::any_of(inside.begin(), inside.end(), [&](const Refused* refused) {
      const std::vector<uint32_t>& all = refused->broken;
      return std::binary_search(all.begin(), all.end(), number) &&
             std::none_of(all.begin(), all.end(), [&](uint32_t one) { return one != number && broken.contains(one); });
    });
    if (!needed) broken.erase(number);
  }
  std::vector<SizeDemand> demands;
  for (const uint32_t number : broken) demands.push_back(demands_[number]);
  return demands;
}

void SizeChoices::enumerate() {
  double all = 1;
  for (const SizeRange& range : ranges_) all *= static_cast<double>(range.most - range.least + 1);
  if (all > static_cast<double>(kMostChoices)) {
    throw Error(ErrorCode::kBudgetExceeded,
                fmt::format("the bounds allow {:.0f} choices of sizes, and one compilation makes sure of at most {}; "
                            "narrow them",
                            all, kMostChoices));
  }
  std::vector<int64_t> sizes;
  for (const SizeRange& range : ranges_) sizes.push_back(range.most);
  for (bool more = true; more;) {
    look_at(sizes);
    more = false;
    for (size_t i = sizes.size(); i-- > 0 && !more;) {
      more = --sizes[i] >= ranges_[i].least;
      if (!more) sizes[i] = ranges_[i].most;
    }
  }
  if (choices_.empty()) {
    throw Error(ErrorCode::kSizeMismatch, "no sizes within the bounds fit the network; npu info says what must hold");
  }
}

std::optional<int64_t> SizeChoices::evaluate(const graph::Dim& dim, size_t choice) const {
  return dim.evaluate(filled_[choice]);
}

std::vector<SizeRange> box_of(const std::vector<std::vector<int64_t>>& choices, size_t largest,
                              std::vector<bool>& taken) {
  std::vector<SizeRange> box;
  for (const int64_t size : choices[largest]) box.push_back({size, size});
  for (size_t c = 0; c < choices.size(); ++c) {
    for (size_t i = 0; taken[c] && i < box.size(); ++i) {
      box[i].least = std::min(box[i].least, choices[c][i]);
      box[i].most = std::max(box[i].most, choices[c][i]);
    }
  }
  for (size_t c = 0; c < choices.size(); ++c) {
    if (taken[c] || !is_within(choices[c], box)) continue;
    // The cut that leaves most of the box.
    size_t best = 0;
    SizeRange cut;
    double most = -1;
    for (size_t i = 0; i < box.size(); ++i) {
      if (choices[c][i] == choices[largest][i]) continue;
      const bool below = choices[c][i] < choices[largest][i];
      const SizeRange rest =
          below ? SizeRange{choices[c][i] + 1, box[i].most} : SizeRange{box[i].least, choices[c][i] - 1};
      const double part =
          static_cast<double>(rest.most - rest.least + 1) / static_cast<double>(box[i].most - box[i].least + 1);
      if (part <= most) continue;
      most = part;
      best = i;
      cut = rest;
    }
    box[best] = cut;
  }
  for (size_t c = 0; c < choices.size(); ++c) taken[c] = taken[c] && is_within(choices[c], box);
  return box;
}

}  // namespace npu::compiler

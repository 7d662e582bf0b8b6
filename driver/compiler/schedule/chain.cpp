// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/chain.h"

#include <algorithm>
#include <array>

#include "driver/compiler/schedule/dma.h"
#include "hw/contract/error.h"

namespace npu::compiler::backend {
namespace {

// The operand of `to` that reads the result of `from`; -1: none or several.
int find_source(const TiledStep& from, const TiledStep& to) {
  int found = -1;
  BufferId buffer = 0;
  for (const Operand& o : from.operands()) {
    if (o.result) buffer = o.view->buffer;
  }
  for (size_t i = 0; i < to.operands().size(); ++i) {
    const Operand& o = to.operands()[i];
    if (o.view == nullptr || o.view->buffer != buffer) continue;
    if (o.result || found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

int find_result(const TiledStep& step) {
  int found = -1;
  for (size_t i = 0; i < step.operands().size(); ++i) {
    if (!step.operands()[i].result) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

class Chain : public TiledStep {
 public:
  Chain(std::vector<const TiledStep*> steps, const std::vector<ChainLink>& links)
      : TiledStep(steps.back()->engine()), steps_(std::move(steps)) {
    const size_t last = steps_.size() - 1;
    completes_write_ = steps_[last]->completes_write();
    for (const TiledStep* step : steps_) row_axes_.push_back(*step->row_axis());
    axes_ = {{row_axes_[last].rows, 1, 0, true, "rows"}};
    ends_.resize(steps_.size());
    sources_.resize(steps_.size());
    for (size_t i = 0; i < last; ++i) {
      Link& link = links_.emplace_back();
      link.rows = row_axes_[i].rows;
      link.row_bytes = links[i].bytes / link.rows;
      link.result = static_cast<size_t>(find_result(*steps_[i]));
      link.stored = links[i].stored;
      for (size_t reader = i + 1; reader < steps_.size(); ++reader) {
        const int source = find_source(*steps_[i], *steps_[reader]);
        if (source < 0) continue;
        link.readers.push_back({reader, static_cast<size_t>(source)});
        sources_[reader].push_back({i, static_cast<size_t>(source)});
      }
    }
    for (int64_t row = 0; row <= axes_[0].extent; ++row) ends_[last].push_back(row);
    for (size_t i = last; i-- > 0;) measure(i);
    make_operands();
  }

  bool idle(size_t index, const Tile& tile) const override {
    return operands_[index].axes != 0 && rows_of(inner_[index].step, tile[0]).count == 0;
  }

  void box_of(size_t index, const Tile& tile, Box& box) const override {
    steps_[inner_[index].step]->box_of(inner_[index].operand, inner_tile(index, tile), box);
  }

  int64_t bytes(size_t index, const Tile& tile) const override {
    if (idle(index, tile)) return 0;
    return steps_[inner_[index].step]->bytes(inner_[index].operand, inner_tile(index, tile));
  }

  int64_t largest_bytes(size_t index, std::span<const int64_t> size) const override {
    const size_t i = inner_[index].step;
    if (operands_[index].scratch) return slot_bytes(i, size[0]) * copies(i);
    std::vector<int64_t> inner;
    inner_size(i, size[0], inner);
    return steps_[i]->largest_bytes(inner_[index].operand, inner);
  }

  // Rows of a stripe, bytes of a slot, and slots.
  std::vector<int64_t> scratch_parts(size_t index, std::span<const int64_t> size) const override {
    if (!operands_[index].scratch) return {};
    const size_t i = inner_[index].step;
    return {size[0], slot_bytes(i, size[0]), copies(i)};
  }

  void make(size_t index, const Tile& tile, uint8_t* out) const override {
    steps_[inner_[index].step]->make(inner_[index].operand, inner_tile(index, tile), out);
  }

  double cycles(std::span<const int64_t> size) const override {
    double sum = 0;
    std::vector<int64_t> inner;
    for (size_t i = 0; i < steps_.size(); ++i) {
      inner_size(i, size[0], inner);
      sum += steps_[i]->cycles(inner);
    }
    return sum;
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Range rows = rows_of(i, tile[0]);
      if (i > 0) keep_rows(i - 1, tile[0], placed, out);
      if (rows.count == 0) continue;
      const Tile inner = row_tile(i, rows);
      std::vector<Placed> operands(steps_[i]->operands().size());
      for (size_t k = 0; k < inner_.size(); ++k) {
        if (inner_[k].step == i && !operands_[k].scratch && !operands_[k].direct) {
          operands[inner_[k].operand] = placed[k];
        }
      }
      if (i < links_.size())
        operands[links_[i].result] = between(i, *steps_[i], links_[i].result, inner, tile[0], placed);
      for (const Source& source : sources_[i]) {
        operands[source.operand] = between(source.link, *steps_[i], source.operand, inner, tile[0], placed);
      }
      const size_t first = out.size();
      steps_[i]->commands(inner, operands, out);
      if (i < links_.size() && links_[i].stored) store_rows(i, tile[0], placed, out);
      for (size_t c = first; c < out.size(); ++c) header_of(out[c]).layer = static_cast<uint32_t>(i);
    }
  }

 private:
  struct Inner {
    size_t step, operand;
  };
  // The result of a step but the last.
  struct Link {
    int64_t rows = 0, row_bytes = 0;
    size_t result = 0;            // operand of the step
    std::vector<Inner> readers;   // ascending
    bool stored = false;          // for steps behind the chain
    size_t store = 0;             // then: operand of the chain
    std::vector<int64_t> starts;  // the first row still needed once so many rows of the chain's result are made
    bool keeps = false;           // rows made for one stripe are needed for the next
    mutable std::vector<int64_t> slot_bytes;  // by rows of a stripe; 0: not known yet
  };
  // A link that a step reads, and the operand that does.
  struct Source {
    size_t link, operand;
  };

  [[nodiscard]] bool is_linked(size_t i, size_t operand) const {
    if (i < links_.size() && operand == links_[i].result) return true;
    return std::any_of(sources_[i].begin(), sources_[i].end(), [&](const Source& s) { return s.operand == operand; });
  }

  void add_operand(Operand o, size_t i, size_t operand) {
    o.part = static_cast<uint32_t>(i);
    operands_.push_back(o);
    inner_.push_back({i, operand});
  }

  void make_operands() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (size_t k = 0; k < steps_[i]->operands().size(); ++k) {
        if (is_linked(i, k)) continue;
        Operand o = steps_[i]->operands()[k];
        o.axes = fixed(i, k) ? 0 : 1;
        add_operand(o, i, k);
      }
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].stored) continue;
      links_[i].store = operands_.size();
      Operand o = steps_[i]->operands()[links_[i].result];
      o.axes = 1;
      o.direct = true;
      add_operand(o, i, links_[i].result);
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      Operand o;
      o.scratch = true;
      add_operand(o, i, links_[i].result);
    }
  }

  // The tile of step `i` that makes these rows of its result.
  [[nodiscard]] Tile row_tile(size_t i, Range rows) const {
    const RowAxis axis = row_axes_[i];
    Tile tile;
    for (const Axis& a : steps_[i]->axes()) tile.push_back({0, a.extent});
    tile[axis.axis] = {rows.start * axis.unit, rows.count * axis.unit};
    return tile;
  }

  // The tile of an operand's step; all rows when the operand does not depend on them.
  [[nodiscard]] Tile inner_tile(size_t index, const Tile& tile) const {
    const size_t i = inner_[index].step;
    return row_tile(i, operands_[index].axes == 0 ? Range{0, row_axes_[i].rows} : rows_of(i, tile[0]));
  }

  // Rows of the buffer of link `i` that a reader of it needs for one of its own rows.
  [[nodiscard]] Range input_rows(size_t i, const Inner& reader, int64_t row) const {
    const TiledStep& step = *steps_[reader.step];
    const View& view = *step.operands()[reader.operand].view;
    const Box box = step.box(reader.operand, row_tile(reader.step, {row, 1}));
    const int64_t low = offset_of(view, box);
    int64_t high = low + element_size(view);
    for (size_t d = 0; d < box.size(); ++d) high += (box[d].count - 1) * view.strides[d];
    const int64_t first = low / links_[i].row_bytes;
    return {first, ceil_div(high, links_[i].row_bytes) - first};
  }

  // How many rows of step `i` each number of rows of the chain's result needs, and which of them are done with.
  void measure(size_t i) {
    Link& link = links_[i];
    const size_t counts = ends_.back().size();
    ends_[i].assign(counts, 0);
    link.starts.assign(counts, link.rows);
    for (const Inner& reader : link.readers) {
      const int64_t rows = row_axes_[reader.step].rows;
      std::vector<int64_t> first_input, last_input{0};  // of each row of the reader; before the first one: none
      for (int64_t row = 0; row < rows; ++row) {
        const Range in = input_rows(i, reader, row);
        first_input.push_back(in.start);
        last_input.push_back(std::max(last_input.back(), in.start + in.count));
      }
      first_input.push_back(link.rows);  // behind the last one: none
      for (size_t at = first_input.size() - 1; at-- > 0;) {
        first_input[at] = std::min(first_input[at], first_input[at + 1]);
      }
      for (size_t made = 0; made < counts; ++made) {
        const auto at = static_cast<size_t>(ends_[reader.step][made]);
        ends_[i][made] = std::max(ends_[i][made], last_input[at]);
        link.starts[made] = std::min(link.starts[made], first_input[at]);
      }
    }
    if (link.stored) ends_[i].back() = link.rows;  // those that no step of the chain needs, too
    for (size_t made = 0; made < counts; ++made) {
      link.starts[made] = std::min(link.starts[made], ends_[i][made]);
      link.keeps |= link.starts[made] < ends_[i][made];
    }
    link.slot_bytes.assign(counts, 0);
  }

  // New rows that step `i` makes for a stripe.
  [[nodiscard]] Range rows_of(size_t i, Range stripe) const {
    const int64_t first = ends_[i][static_cast<size_t>(stripe.start)];
    return {first, ends_[i][static_cast<size_t>(stripe.start + stripe.count)] - first};
  }
  // Rows of link `i` that are in memory while a stripe is made.
  [[nodiscard]] Range window(size_t i, Range stripe) const {
    const int64_t first = links_[i].starts[static_cast<size_t>(stripe.start)];
    return {first, ends_[i][static_cast<size_t>(stripe.start + stripe.count)] - first};
  }

  [[nodiscard]] int64_t slot_bytes(size_t i, int64_t stripe) const {
    int64_t& bytes = links_[i].slot_bytes[static_cast<size_t>(stripe)];
    if (bytes > 0) return bytes;
    int64_t rows = 1;
    for (int64_t at = 0; at < axes_[0].extent; at += stripe) {
      rows = std::max(rows, window(i, {at, std::min(stripe, axes_[0].extent - at)}).count);
    }
    bytes = round_up(rows * links_[i].row_bytes, kSlot);
    return bytes;
  }
  // Two slots in turn where rows are kept from one stripe to the next, or where two engines can work at once.
  [[nodiscard]] int64_t copies(size_t i) const {
    const Link& link = links_[i];
    const bool beside = std::any_of(link.readers.begin(), link.readers.end(), [&](const Inner& reader) {
      return steps_[reader.step]->engine() != steps_[i]->engine();
    });
    return link.keeps || link.stored || beside ? 2 : 1;
  }

  // Address of row 0 of link `i`, as if it were there, while the stripe is made.
  [[nodiscard]] int64_t origin(size_t i, Range stripe, bool before, std::span<const Placed> placed) const {
    const Placed& scratch = placed[operands_.size() - links_.size() + i];
    // Stripes are of one size but for the last.
    const int64_t rows = scratch.strides[0], slot_size = scratch.strides[1], slots = scratch.strides[2];
    const int64_t number = stripe.start / rows - (before ? 1 : 0);
    const Range at = before ? Range{stripe.start - rows, rows} : stripe;
    const int64_t slot = number % slots * slot_size;
    return scratch.address.offset + slot - window(i, at).start * links_[i].row_bytes;
  }

  [[nodiscard]] Placed between(size_t i, const TiledStep& step, size_t operand, const Tile& inner, Range stripe,
                               std::span<const Placed> placed) const {
    const View& view = *step.operands()[operand].view;
    const int64_t address = origin(i, stripe, false, placed) + offset_of(view, step.box(operand, inner));
    NPU_CHECK(address >= 0);
    return {{static_cast<uint32_t>(address), contract::Region::kScratchpad, 0}, view.strides};
  }

  // Brings the rows that the stripe before has made, and this one needs again, into this one's slot.
  void keep_rows(size_t i, Range stripe, std::span<const Placed> placed, std::vector<Body>& out) const {
    const Range now = window(i, stripe);
    const int64_t bytes = (rows_of(i, stripe).start - now.start) * links_[i].row_bytes;
    if (stripe.start == 0 || bytes <= 0) return;
    const int64_t shift = now.start * links_[i].row_bytes;
    const auto at = [&](bool before) {
      return Placed{
          {static_cast<uint32_t>(origin(i, stripe, before, placed) + shift), contract::Region::kScratchpad, 0}, {1}};
    };
    std::vector<contract::DmaCommand> moves;
    dma_copy(std::array{bytes}, at(true), at(false), 1, moves);
    for (contract::DmaCommand& move : moves) {
      move.header.layer = static_cast<uint32_t>(i + 1);
      out.emplace_back(move);
    }
  }

  // Stores what the stripe has made of link `i`.
  void store_rows(size_t i, Range stripe, std::span<const Placed> placed, std::vector<Body>& out) const {
    const Range rows = rows_of(i, stripe);
    const int64_t from = origin(i, stripe, false, placed) + rows.start * links_[i].row_bytes;
    std::vector<contract::DmaCommand> moves;
    dma_copy(std::array{rows.count * links_[i].row_bytes},
             {{static_cast<uint32_t>(from), contract::Region::kScratchpad, 0}, {1}},
             {placed[links_[i].store].address, {1}}, 1, moves);
    for (contract::DmaCommand& move : moves) out.emplace_back(move);
  }

  // Tile sizes of step `i` for a stripe in the middle.
  void inner_size(size_t i, int64_t stripe, std::vector<int64_t>& size) const {
    const int64_t rows = axes_[0].extent;
    const int64_t start = rows / 2 / stripe * stripe;
    const RowAxis axis = row_axes_[i];
    size.clear();
    for (const Axis& a : steps_[i]->axes()) size.push_back(a.extent);
    int64_t largest = rows_of(i, {start, std::min(stripe, rows - start)}).count;
    largest = std::max({largest, rows_of(i, {0, std::min(stripe, rows)}).count, int64_t{1}});
    size[axis.axis] = largest * axis.unit;
  }

  // Whether all stripes use the same box of an operand.
  [[nodiscard]] bool fixed(size_t i, size_t operand) const {
    const Operand& o = steps_[i]->operands()[operand];
    return (o.axes >> row_axes_[i].axis & 1) == 0;
  }

  static constexpr int64_t kSlot = 64;

  std::vector<const TiledStep*> steps_;
  std::vector<RowAxis> row_axes_;             // one a step
  std::vector<Link> links_;                   // one a step but the last
  std::vector<Inner> inner_;                  // one an operand: whose it is
  std::vector<std::vector<Source>> sources_;  // by step
  std::vector<std::vector<int64_t>> ends_;    // by step: rows made once so many rows of the chain's result are made
};

// A chain keeps some words a row, and is weighed row by row. The largest dimension of level 8K; element-wise steps
// whose dimensions all lie in one have as many rows as elements.
constexpr int64_t kMostRows = 1 << 13;

}  // namespace

bool touches_result(const TiledStep& step, const TiledStep& other) {
  return std::any_of(step.operands().begin(), step.operands().end(), [&](const Operand& o) {
    return o.view != nullptr && std::any_of(other.operands().begin(), other.operands().end(), [&](const Operand& r) {
             return r.result && r.view->buffer == o.view->buffer;
           });
  });
}

bool can_chain(const TiledStep& step, const TiledStep& next, int64_t buffer_bytes) {
  const std::optional<RowAxis> rows = step.row_axis(), next_rows = next.row_axis();
  const int result = find_result(step);
  if (!rows || !next_rows || rows->rows < 2 || next_rows->rows < 2 || result < 0 || find_result(next) < 0) return false;
  if (std::max(rows->rows, next_rows->rows) > kMostRows) return false;
  const int source = find_source(step, next);
  if (source < 0) return false;
  const Operand& out = step.operands()[static_cast<size_t>(result)];
  const Operand& in = next.operands()[static_cast<size_t>(source)];
  for (const Operand* o : {&out, &in}) {
    if (!o->walkable || !covers(*o->view, buffer_bytes)) return false;
  }
  return buffer_bytes % rows->rows == 0;
}

std::unique_ptr<TiledStep> make_chain(std::vector<const TiledStep*> steps, const std::vector<ChainLink>& links) {
  return std::make_unique<Chain>(std::move(steps), links);
}

}  // namespace npu::compiler::backend

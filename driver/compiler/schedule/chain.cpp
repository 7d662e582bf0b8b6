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

// Those of a tile of a chain: several images only with all of their rows.
struct Stripe {
  Range images, rows;
};

// The tile of a step that makes these of its result.
Tile tile_of(const TiledStep& step, const RowAxis& axis, const Stripe& stripe) {
  Tile tile;
  for (const Axis& a : step.axes()) tile.push_back({0, a.extent});
  Range rows = stripe.rows;
  if (axis.image_axis) {
    tile[*axis.image_axis] = stripe.images;
  } else {
    rows.start += stripe.images.start * axis.rows;
    rows.count += (stripe.images.count - 1) * axis.rows;
  }
  tile[axis.axis] = {rows.start * axis.unit, rows.count * axis.unit};
  return tile;
}

// Bytes of its buffer that an operand's box touches, gaps included.
ByteSpan span_of_box(const TiledStep& step, size_t operand, const Tile& tile) {
  const View& view = *step.operands()[operand].view;
  const Box box = step.box(operand, tile);
  const int64_t low = offset_of(view, box);
  int64_t high = low + element_size(view);
  for (size_t d = 0; d < box.size(); ++d) high += (box[d].count - 1) * view.strides[d];
  return {low, high};
}

// A chain keeps some words a row, and is weighed row by row. The largest dimension of level 8K; element-wise steps
// whose dimensions all lie in one have as many rows as elements.
constexpr int64_t kMostRows = 1 << 13;

class Chain : public TiledStep {
 public:
  Chain(std::vector<const TiledStep*> steps, const std::vector<ChainLink>& links)
      : TiledStep(steps.back()->engine()), steps_(std::move(steps)) {
    const size_t last = steps_.size() - 1;
    completes_write_ = steps_[last]->completes_write();
    row_axes_ = rows_of_chain(steps_);
    NPU_CHECK(row_axes_.size() == steps_.size());
    if (row_axes_[last].images > 1) axes_.push_back({row_axes_[last].images, 1, 0, true, "images"});
    axes_.push_back({row_axes_[last].rows, 1, 0, true, "rows"});
    ends_.resize(steps_.size());
    sources_.resize(steps_.size());
    for (size_t i = 0; i < last; ++i) {
      Link& link = links_.emplace_back();
      link.rows = row_axes_[i].rows;
      link.row_bytes = links[i].bytes / (row_axes_[i].images * link.rows);
      link.result = static_cast<size_t>(find_result(*steps_[i]));
      link.stored = links[i].stored;
      for (size_t reader = i + 1; reader < steps_.size(); ++reader) {
        const int source = find_source(*steps_[i], *steps_[reader]);
        if (source < 0) continue;
        link.readers.push_back({reader, static_cast<size_t>(source)});
        sources_[reader].push_back({i, static_cast<size_t>(source)});
      }
    }
    for (int64_t row = 0; row <= row_axes_[last].rows; ++row) ends_[last].push_back(row);
    for (size_t i = last; i-- > 0;) measure(i);
    most_new_rows_.assign(steps_.size(), std::vector<int64_t>(ends_[last].size()));
    make_operands();
  }

  bool idle(size_t index, const Tile& tile) const override {
    return (operands_[index].axes & rows_bit()) != 0 && rows_of(inner_[index].step, rows_in(tile)).count == 0;
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
    if (operands_[index].scratch) return slot_bytes(i, size) * copies(i);
    std::vector<int64_t> inner;
    inner_size(i, images_in(size), most_new_rows(i, size.back()), inner);
    return steps_[i]->largest_bytes(inner_[index].operand, inner);
  }

  std::vector<int64_t> scratch_parts(size_t index, std::span<const int64_t> size) const override {
    if (!operands_[index].scratch) return {};
    const size_t i = inner_[index].step;
    std::vector<int64_t> parts(kParts);
    parts[kImages] = images_in(size);
    parts[kRows] = size.back();
    parts[kStripes] = ceil_div(axes_.back().extent, size.back());
    parts[kSlotBytes] = slot_bytes(i, size);
    parts[kSlots] = copies(i);
    return parts;
  }

  void make(size_t index, const Tile& tile, uint8_t* out) const override {
    steps_[inner_[index].step]->make(inner_[index].operand, inner_tile(index, tile), out);
  }

  double cycles(std::span<const int64_t> size) const override {
    double sum = 0;
    std::vector<int64_t> inner;
    for (size_t i = 0; i < steps_.size(); ++i) {
      inner_size(i, images_in(size), usual_rows(i, size.back()), inner);
      sum += steps_[i]->cycles(inner);
    }
    return sum;
  }

  void commands(const Tile& tile, std::span<const Placed> placed, std::vector<Body>& out) const override {
    const Stripe stripe = stripe_of(tile);
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Range rows = rows_of(i, stripe.rows);
      if (i > 0) keep_rows(i - 1, stripe, placed, out);
      if (rows.count == 0) continue;
      const Tile inner = tile_of(*steps_[i], row_axes_[i], {stripe.images, rows});
      std::vector<Placed> operands(steps_[i]->operands().size());
      for (size_t k = 0; k < inner_.size(); ++k) {
        if (inner_[k].step == i && !operands_[k].scratch && !operands_[k].direct) {
          operands[inner_[k].operand] = placed[k];
        }
      }
      if (i < links_.size())
        operands[links_[i].result] = between(i, *steps_[i], links_[i].result, inner, stripe, placed);
      for (const Source& source : sources_[i]) {
        operands[source.operand] = between(source.link, *steps_[i], source.operand, inner, stripe, placed);
      }
      const size_t first = out.size();
      steps_[i]->commands(inner, operands, out);
      if (i < links_.size() && links_[i].stored) store_rows(i, stripe, placed, out);
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
    mutable std::vector<int64_t> most_rows;  // in memory, as most_of() knows them
  };
  // A link that a step reads, and the operand that does.
  struct Source {
    size_t link, operand;
  };

  // What scratch_parts() says, of a tile: images, rows; stripes of an image; and of the memory: bytes of a slot, slots.
  enum Part : size_t { kImages, kRows, kStripes, kSlotBytes, kSlots, kParts };

  // Of the chain's operands' axes.
  [[nodiscard]] uint32_t rows_bit() const { return 1u << (axes_.size() - 1); }
  [[nodiscard]] uint32_t images_bit() const { return axes_.size() > 1 ? 1 : 0; }
  [[nodiscard]] static Range rows_in(const Tile& tile) { return tile.back(); }
  [[nodiscard]] static Stripe stripe_of(const Tile& tile) {
    return {tile.size() > 1 ? tile.front() : Range{}, tile.back()};
  }
  [[nodiscard]] static int64_t images_in(std::span<const int64_t> size) { return size.size() > 1 ? size.front() : 1; }

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
        o.axes = axes_of(i, k);
        add_operand(o, i, k);
      }
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i].stored) continue;
      links_[i].store = operands_.size();
      Operand o = steps_[i]->operands()[links_[i].result];
      o.axes = rows_bit() | images_bit();
      o.direct = true;
      add_operand(o, i, links_[i].result);
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      Operand o;
      o.scratch = true;
      add_operand(o, i, links_[i].result);
    }
  }

  // The tile of an operand's step; all rows when the operand does not depend on them.
  [[nodiscard]] Tile inner_tile(size_t index, const Tile& tile) const {
    const size_t i = inner_[index].step;
    const Stripe stripe = stripe_of(tile);
    const bool all = (operands_[index].axes & rows_bit()) == 0;
    return tile_of(*steps_[i], row_axes_[i],
                   {stripe.images, all ? Range{0, row_axes_[i].rows} : rows_of(i, stripe.rows)});
  }

  // Rows of the buffer of link `i` that a reader of it needs for one of its own rows; of each image the same.
  [[nodiscard]] Range input_rows(size_t i, const Inner& reader, int64_t row) const {
    const TiledStep& step = *steps_[reader.step];
    const Tile tile = tile_of(step, row_axes_[reader.step], {{}, {row, 1}});
    const ByteSpan bytes = span_of_box(step, reader.operand, tile);
    const int64_t first = bytes.low / links_[i].row_bytes;
    return {first, ceil_div(bytes.high, links_[i].row_bytes) - first};
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
    // Those that no step of the chain needs, too.
    const bool several = row_axes_[i].images > 1;
    if (link.stored || several) ends_[i].back() = link.rows;
    if (several) link.starts.front() = 0;
    for (size_t made = 0; made < counts; ++made) {
      link.starts[made] = std::min(link.starts[made], ends_[i][made]);
      link.keeps |= link.starts[made] < ends_[i][made];
    }
    link.most_rows.assign(counts, 0);
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

  // Of tiles of this size.
  [[nodiscard]] int64_t slot_bytes(size_t i, std::span<const int64_t> size) const {
    return round_up(images_in(size) * most_rows(i, size.back()) * links_[i].row_bytes, kSlot);
  }
  [[nodiscard]] int64_t most_rows(size_t i, int64_t stripe) const {
    return most_of(stripe, links_[i].most_rows, [&](Range rows) { return window(i, rows).count; });
  }
  // Two slots in turn where rows are kept from one stripe to the next, or where two engines can work at once.
  [[nodiscard]] int64_t copies(size_t i) const {
    const Link& link = links_[i];
    const bool beside = std::any_of(link.readers.begin(), link.readers.end(), [&](const Inner& reader) {
      return steps_[reader.step]->engine() != steps_[i]->engine();
    });
    return link.keeps || link.stored || beside ? 2 : 1;
  }

  // Address of row 0 of image 0 of link `i`, as if it were there, while the stripe is made, or the one before of the
  // same image.
  [[nodiscard]] int64_t origin(size_t i, const Stripe& stripe, bool before, std::span<const Placed> placed) const {
    const Placed& scratch = placed[operands_.size() - links_.size() + i];
    const std::vector<int64_t>& parts = scratch.strides;
    // Stripes are of one size but for the last of an image.
    const int64_t number =
        stripe.images.start / parts[kImages] * parts[kStripes] + stripe.rows.start / parts[kRows] - (before ? 1 : 0);
    const Range rows = before ? Range{stripe.rows.start - parts[kRows], parts[kRows]} : stripe.rows;
    const int64_t first = stripe.images.start * links_[i].rows + window(i, rows).start;
    return scratch.address.offset + number % parts[kSlots] * parts[kSlotBytes] - first * links_[i].row_bytes;
  }

  [[nodiscard]] Placed between(size_t i, const TiledStep& step, size_t operand, const Tile& inner, const Stripe& stripe,
                               std::span<const Placed> placed) const {
    const View& view = *step.operands()[operand].view;
    const int64_t address = origin(i, stripe, false, placed) + offset_of(view, step.box(operand, inner));
    NPU_CHECK(address >= 0);
    return {{static_cast<uint32_t>(address), contract::Region::kScratchpad, 0}, view.strides};
  }

  // Brings the rows that the stripe before has made, and this one needs again, into this one's slot.
  void keep_rows(size_t i, const Stripe& stripe, std::span<const Placed> placed, std::vector<Body>& out) const {
    const Range now = window(i, stripe.rows);
    const int64_t bytes = (rows_of(i, stripe.rows).start - now.start) * links_[i].row_bytes;
    if (stripe.rows.start == 0 || bytes <= 0) return;
    const int64_t shift = (stripe.images.start * links_[i].rows + now.start) * links_[i].row_bytes;
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
  void store_rows(size_t i, const Stripe& stripe, std::span<const Placed> placed, std::vector<Body>& out) const {
    const Range rows = rows_of(i, stripe.rows);
    const int64_t first = stripe.images.start * links_[i].rows + rows.start;
    const int64_t from = origin(i, stripe, false, placed) + first * links_[i].row_bytes;
    std::vector<contract::DmaCommand> moves;
    dma_copy(std::array{stripe.images.count * rows.count * links_[i].row_bytes},
             {{static_cast<uint32_t>(from), contract::Region::kScratchpad, 0}, {1}},
             {placed[links_[i].store].address, {1}}, 1, moves);
    for (contract::DmaCommand& move : moves) out.emplace_back(move);
  }

  // Tile sizes of step `i` for so many images, with so many rows of each.
  void inner_size(size_t i, int64_t images, int64_t rows, std::vector<int64_t>& size) const {
    const RowAxis& axis = row_axes_[i];
    size.clear();
    for (const Axis& a : steps_[i]->axes()) size.push_back(a.extent);
    if (axis.image_axis) {
      size[*axis.image_axis] = images;
    } else {
      rows *= images;
    }
    size[axis.axis] = rows * axis.unit;
  }
  // New rows of step `i` for a stripe at the beginning or in the middle.
  [[nodiscard]] int64_t usual_rows(size_t i, int64_t stripe) const {
    const int64_t all = axes_.back().extent, middle = all / 2 / stripe * stripe;
    return std::max({rows_of(i, {middle, std::min(stripe, all - middle)}).count,
                     rows_of(i, {0, std::min(stripe, all)}).count, int64_t{1}});
  }
  // For any stripe; the last one may have more than others.
  [[nodiscard]] int64_t most_new_rows(size_t i, int64_t stripe) const {
    return most_of(stripe, most_new_rows_[i], [&](Range rows) { return rows_of(i, rows).count; });
  }
  // The largest count of all stripes of this size, at least 1. `known`: by size, 0: not known yet.
  template <typename Count>
  [[nodiscard]] int64_t most_of(int64_t stripe, std::vector<int64_t>& known, Count&& count) const {
    int64_t& most = known[static_cast<size_t>(stripe)];
    if (most > 0) return most;
    const int64_t all = axes_.back().extent;
    for (int64_t at = 0; at < all; at += stripe) most = std::max(most, count({at, std::min(stripe, all - at)}));
    return most = std::max<int64_t>(most, 1);
  }

  // Which of the chain's axes change the box of an operand.
  [[nodiscard]] uint32_t axes_of(size_t i, size_t operand) const {
    const auto depends = [&](size_t axis) { return (steps_[i]->operands()[operand].axes >> axis & 1) != 0; };
    const RowAxis& axis = row_axes_[i];
    return (depends(axis.axis) ? rows_bit() : 0) | (depends(axis.image_axis.value_or(axis.axis)) ? images_bit() : 0);
  }

  static constexpr int64_t kSlot = 64;

  std::vector<const TiledStep*> steps_;
  std::vector<RowAxis> row_axes_;             // one a step
  std::vector<Link> links_;                   // one a step but the last
  std::vector<Inner> inner_;                  // one an operand: whose it is
  std::vector<std::vector<Source>> sources_;  // by step
  std::vector<std::vector<int64_t>> ends_;    // by step: rows made once so many rows of the chain's result are made
  mutable std::vector<std::vector<int64_t>> most_new_rows_;  // by step, as most_of() knows them
};

// Whether each image of a step touches the same part of its own image of an operand, all that there is of the buffer.
bool image_by_image(const TiledStep& step, const RowAxis& axis, size_t operand, int64_t buffer_bytes) {
  if (axis.images == 1) return true;
  const int64_t bytes = buffer_bytes / axis.images, last = axis.images - 1;
  const auto span = [&](int64_t image) {
    return span_of_box(step, operand, tile_of(step, axis, {{image, 1}, {0, axis.rows}}));
  };
  const ByteSpan one = span(0);
  return one.low >= 0 && one.high <= bytes && span(last) == ByteSpan{one.low + last * bytes, one.high + last * bytes};
}

}  // namespace

std::vector<RowAxis> rows_of_chain(std::span<const TiledStep* const> steps) {
  std::vector<RowAxis> axes;
  int64_t images = 1;
  for (const TiledStep* step : steps) {
    const std::optional<RowAxis> axis = step->row_axis();
    if (!axis) return {};
    axes.push_back(*axis);
    images = std::max(images, axis->images);
  }
  const auto fits = [&](const RowAxis& axis) { return axis.images == images && axis.rows <= kMostRows; };
  const auto first = std::find_if(axes.begin(), axes.end(), fits);
  if (first == axes.end()) return {};
  const RowAxis* near = &*first;
  for (RowAxis& axis : axes) {
    if (!fits(axis)) {
      const int64_t positions = axis.rows * axis.unit, rows = near->images * near->rows;
      if (axis.images > 1 || positions % rows != 0) return {};
      axis = {axis.axis, positions / rows, near->rows, near->images};
    }
    near = &axis;
  }
  return axes;
}

bool touches_result(const TiledStep& step, const TiledStep& other) {
  return std::any_of(step.operands().begin(), step.operands().end(), [&](const Operand& o) {
    return o.view != nullptr && std::any_of(other.operands().begin(), other.operands().end(), [&](const Operand& r) {
             return r.result && r.view->buffer == o.view->buffer;
           });
  });
}

bool can_chain(const ChainStep& from, const ChainStep& to, int64_t buffer_bytes) {
  const int result = find_result(from.step), source = find_source(from.step, to.step);
  if (result < 0 || source < 0 || find_result(to.step) < 0) return false;
  if (from.rows.rows < 2 || to.rows.rows < 2 || buffer_bytes % (from.rows.images * from.rows.rows) != 0) return false;
  const auto fits = [&](const ChainStep& own, int index) {
    const auto operand = static_cast<size_t>(index);
    const Operand& o = own.step.operands()[operand];
    return o.walkable && covers(*o.view, buffer_bytes) && image_by_image(own.step, own.rows, operand, buffer_bytes);
  };
  return fits(from, result) && fits(to, source);
}

std::unique_ptr<TiledStep> make_chain(std::vector<const TiledStep*> steps, const std::vector<ChainLink>& links) {
  return std::make_unique<Chain>(std::move(steps), links);
}

}  // namespace npu::compiler::backend

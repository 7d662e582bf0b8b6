// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/sizes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "driver/compiler/schedule/chains.h"
#include "driver/compiler/schedule/step_views.h"
#include "hw/contract/overloaded.h"

namespace npu::compiler::backend {
namespace {

// Those of fewer columns are the first of more.
bool same_parameters(const Params& a, const Params& b) {
  const auto bytes = [](const auto& structure) {
    std::array<uint8_t, std::decay_t<decltype(structure)>::kBytes> out{};
    structure.store(out.data());
    return out;
  };
  const auto equal = [&](const auto& x, const auto& y) { return bytes(x) == bytes(y); };
  return equal(a.header, b.header) && a.entries.size() <= b.entries.size() &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), equal);
}

// Values beside its commands: bytes that it makes itself, and what the sequencer does.
bool same_values(const Work& a, const Work& b) {
  if (a.index() != b.index()) return false;
  return std::visit(Overloaded{[&](const MxuStep& x) { return same_parameters(x.params, std::get<MxuStep>(b).params); },
                               [&](const PoolStep& x) {
                                 const auto& y = std::get<PoolStep>(b);
                                 return x.input_zp == y.input_zp && x.output_zp == y.output_zp;
                               },
                               [&](const DeclareStep& x) { return x.variable == std::get<DeclareStep>(b).variable; },
                               [&](const LabelStep& x) { return x.label == std::get<LabelStep>(b).label; },
                               [&](const BranchStep& x) {
                                 const auto& y = std::get<BranchStep>(b);
                                 return x.mode == y.mode && x.label == y.label && x.limit == y.limit;
                               },
                               [](const auto&) { return true; }},
                    a);
}

// Whether views of a constant have the same elements in memory, whatever repeats them: tiles have those of the largest.
bool same_elements(const View& a, const View& b) {
  const auto walk = [](const View& view) {
    std::vector<std::pair<int64_t, int64_t>> dims;
    for (size_t d = 0; d < view.dims.size(); ++d) {
      if (view.dims[d] > 1 && view.strides[d] != 0) dims.emplace_back(view.dims[d], view.strides[d]);
    }
    return dims;
  };
  return a.offset == b.offset && walk(a) == walk(b);
}

bool same_steps(const Step& a, const Step& b, const Module& module) {
  if (a.layer != b.layer || a.commit != b.commit || !same_values(a.work, b.work)) return false;
  const auto views = views_of(a), others = views_of(b);
  return std::equal(views.begin(), views.end(), others.begin(), others.end(), [&](const auto& x, const auto& y) {
    const bool constant = module.buffers[x.view->buffer].kind == BufferKind::kConstant;
    return x.view->buffer == y.view->buffer && x.view->type == y.view->type && x.result == y.result &&
           (!constant || same_elements(*x.view, *y.view));
  });
}

bool fits_buffer(const Buffer& small, const Buffer& large) {
  return small.kind == large.kind && small.index == large.index && small.on_chip == large.on_chip &&
         small.bytes <= large.bytes && small.data == large.data;
}

// Sizes may differ: the device has room for the largest.
bool same_variables(const Variable& small, const Variable& large) {
  return small.identity == large.identity && small.type == large.type && small.shape.size() == large.shape.size() &&
         std::equal(small.shape.begin(), small.shape.end(), large.shape.begin(), std::less_equal<>()) &&
         small.in_dram == large.in_dram;
}

bool same_structure(const Module& small, const Module& large) {
  const auto step = [&](const Step& a, const Step& b) { return same_steps(a, b, small); };
  const auto equal = [](const auto& a, const auto& b, auto&& same) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  };
  return small.layers.size() == large.layers.size() && small.input_buffers == large.input_buffers &&
         small.output_buffers == large.output_buffers && equal(small.buffers, large.buffers, fits_buffer) &&
         equal(small.variables, large.variables, same_variables) && equal(small.steps, large.steps, step);
}

// Whether a step can have the places that a plan gives to the largest one.
bool fits_plan(const TiledStep& small, const TiledStep& large, const TilePlan& plan) {
  if (small.axes().size() != large.axes().size() || small.operands().size() != large.operands().size()) return false;
  std::vector<int64_t> size = plan.size;
  for (size_t axis = 0; axis < size.size(); ++axis) {
    const int64_t extent = small.axes()[axis].extent;
    if (extent > large.axes()[axis].extent) return false;
    size[axis] = std::min(size[axis], extent);
  }
  for (size_t i = 0; i < small.operands().size(); ++i) {
    const Operand &a = small.operands()[i], &b = large.operands()[i];
    if ((a.view == nullptr) != (b.view == nullptr) || a.result != b.result || a.scratch != b.scratch ||
        a.direct != b.direct || (a.axes & ~b.axes) != 0)
      return false;
    if (plan.bundle_of[i] < 0 && b.walkable && !a.walkable) return false;
    const std::vector<int64_t> parts = small.scratch_parts(i, size), all = large.scratch_parts(i, plan.size);
    if (!std::equal(parts.begin(), parts.end(), all.begin(), all.end(), std::less_equal<>())) return false;
  }
  return std::all_of(plan.bundles.begin(), plan.bundles.end(), [&](const Bundle& bundle) {
    int64_t bytes = 0;
    for (const uint32_t operand : bundle.operands) {
      bytes = round_up(bytes, kPartAlignment) + small.largest_bytes(operand, size);
    }
    return bundle.slot_bytes == 0 || bytes <= bundle.slot_bytes;
  });
}

bool fits_layout(const Analysis& small, const Layout& layout) {
  for (size_t s = 0; s < small.steps.size(); ++s) {
    const TiledStep* large = layout.analysis.steps[s].get();
    if ((small.steps[s] == nullptr) != (large == nullptr)) return false;
    if (large != nullptr && !fits_plan(*small.steps[s], *large, layout.plans[s])) return false;
  }
  return true;
}

// The layout of the largest sizes, with these steps in it.
Layout with_steps(const Layout& layout, Analysis&& analysis) {
  Layout out;
  out.homes = layout.homes;
  out.scratchpad = layout.scratchpad;
  out.dram = layout.dram;
  out.plans = layout.plans;
  out.slots = layout.slots;
  out.groups = layout.groups;
  out.kept = layout.kept;
  analysis.lifetimes = layout.analysis.lifetimes;
  out.analysis = std::move(analysis);
  return out;
}

std::vector<uint32_t> encoded(const Body& body) {
  std::vector<uint32_t> words;
  std::visit([&](const auto& command) { command.encode(words); }, body);
  return words;
}

// Gives strides to the next one, where there is one only, other values.
void change(bool unused, int32_t& stride) {
  if (unused) stride ^= 1;
}

template <typename Image>
void change_image(Image& command) {
  change(command.in_h == 1, command.src_row_stride);
  change(command.in_w == 1, command.src_pixel_stride);
  change(command.out_h == 1, command.dst_row_stride);
  change(command.out_w == 1, command.dst_pixel_stride);
}

void change_unused(contract::MxuCommand& command) {
  change_image(command);
  change(command.out_h == 1, command.residual_row_stride);
  change(command.out_w == 1, command.residual_pixel_stride);
}
void change_unused(contract::VpuPoolCommand& command) { change_image(command); }
void change_unused(contract::VpuReduceCommand& command) {
  change(command.outer == 1, command.src_outer_stride);
  change(command.outer == 1, command.dst_outer_stride);
  change(command.axis == 1, command.src_axis_stride);
}
void change_unused(contract::VpuEwiseCommand& command) {
  for (contract::Operand& operand : command.operands) {
    for (size_t d = 0; d < command.dims.size(); ++d) change(command.dims[d] == 1, operand.stride[d]);
  }
}
void change_unused(contract::DmaCommand& command) {
  if (command.mode != contract::DmaMode::kCopy) return;
  for (size_t d = 0; d < command.count.size(); ++d) {
    change(command.count[d] == 1, command.src_stride[d]);
    change(command.count[d] == 1, command.dst_stride[d]);
  }
}
template <typename Other>
void change_unused(Other&) {}

// Constants have their places whatever the sizes are.
bool same_constants(const Command& small, const Command& large) {
  return !loads_constants(large) || encoded(small.body) == encoded(large.body);
}

OpenDimensions differing(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  OpenDimensions open = 0;
  for (size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    if (a[d] != b[d]) open |= OpenDimensions{1} << d;
  }
  return open;
}

OpenDimensions open_of(const Work& work) {
  return std::visit(
      Overloaded{[](const MxuStep& step) { return step.open; }, [](const EwiseStep& step) { return step.open; },
                 [](const CopyStep& step) { return step.open; }, [](const auto&) { return OpenDimensions{0}; }},
      work);
}

void set_open(Work& work, OpenDimensions open) {
  std::visit(Overloaded{[&](MxuStep& step) { step.open = open; }, [&](EwiseStep& step) { step.open = open; },
                        [&](CopyStep& step) { step.open = open; }, [](auto&) {}},
             work);
}

const std::vector<int64_t>* dims_of(const Work& work) {
  return std::visit(
      Overloaded{[](const MxuStep& step) { return &step.dst.dims; }, [](const EwiseStep& step) { return &step.dims; },
                 [](const CopyStep& step) { return &step.dst.dims; },
                 [](const auto&) -> const std::vector<int64_t>* { return nullptr; }},
      work);
}

}  // namespace

void note_open_dimensions(Module& largest, const Module& module) {
  if (!same_structure(module, largest)) return;
  for (size_t s = 0; s < largest.steps.size(); ++s) {
    const std::vector<int64_t>*dims = dims_of(largest.steps[s].work), *others = dims_of(module.steps[s].work);
    if (dims == nullptr) continue;
    set_open(largest.steps[s].work, open_of(largest.steps[s].work) | differing(*dims, *others));
  }
}

SizedCommand sized(const Body& body) {
  SizedCommand command{encoded(body), {}};
  Body other = body;
  std::visit([](auto& one) { change_unused(one); }, other);
  const std::vector<uint32_t> changed = encoded(other);
  for (uint32_t word = 0; word < changed.size(); ++word) {
    if (changed[word] != command.words[word]) command.unused.push_back(word);
  }
  return command;
}

std::optional<SizedWords> words_of_size(Module& module, const LargestSizes& largest,
                                        const contract::Capabilities& capabilities, const ScheduleOptions& options,
                                        std::vector<QueueCounts>& needs) {
  if (!same_structure(module, largest.module)) return std::nullopt;
  for (size_t s = 0; s < module.steps.size(); ++s)
    set_open(module.steps[s].work, open_of(largest.module.steps[s].work));
  Analysis analysis = analyse(module, capabilities, options);
  if (!join_steps(module, largest.layout.analysis.joined, analysis) || !fits_layout(analysis, largest.layout)) {
    return std::nullopt;
  }
  const Layout layout = with_steps(largest.layout, std::move(analysis));
  const Stream stream = emit(module, layout, capabilities,
                             {false, options.resident_constants, &largest.layout.analysis, &largest.module});

  const std::vector<Command>& all = largest.stream.commands;
  SizedWords words(all.size());
  std::vector<std::vector<ByteSet>> footprints(all.size());
  size_t at = 0;
  for (const Command& command : stream.commands) {
    const auto place = std::make_pair(command.place, command.number);
    while (at < all.size() && std::make_pair(all[at].place, all[at].number) < place) ++at;
    if (at == all.size() || std::make_pair(all[at].place, all[at].number) != place) return std::nullopt;
    const contract::Header &small = header_of(command.body), &large = header_of(all[at].body);
    if (command.body.index() != all[at].body.index() || small.queue != large.queue || small.layer != large.layer ||
        !same_constants(command, all[at]))
      return std::nullopt;
    words[at] = sized(command.body);
    if (words[at].words.size() != encoded(all[at].body).size()) return std::nullopt;
    footprints[at++] = footprint(command.body);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (words[i].words.empty() && is_control(all[i].body)) return std::nullopt;
  }
  needs = find_needs(all, footprints);
  return words;
}

std::optional<Body> decoded(std::span<const uint32_t> words) {
  std::optional<Body> body;
  std::visit(
      [&](auto&& command) {
        using Decoded = std::decay_t<decltype(command)>;
        if constexpr (std::is_constructible_v<Body, Decoded>) body = std::move(command);
      },
      contract::decode_command(words));
  return body;
}

Body body_of(const SizedCommand& command, const Body& largest) {
  Body body = command.words.empty() ? largest : decoded(command.words).value();
  const contract::Header& all = header_of(largest);
  contract::Header& header = header_of(body);
  header.wait = all.wait;
  header.skip = command.words.empty();
  return body;
}

std::vector<std::vector<ByteSet>> footprints_of(const SizedWords& words) {
  std::vector<std::vector<ByteSet>> out(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].words.empty()) out[i] = footprint(decoded(words[i].words).value());
  }
  return out;
}

}  // namespace npu::compiler::backend

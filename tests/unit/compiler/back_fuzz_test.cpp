// SPDX-License-Identifier: Apache-2.0
// Random modules on small machines: outputs in every bit, in every order that queues and tokens permit; tokens exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "driver/compiler/schedule/chain.h"
#include "driver/compiler/schedule/layout.h"
#include "hw/contract/error.h"
#include "tests/unit/bins/windows.h"
#include "tests/unit/compiler/back_checks.h"
#include "tests/unit/compiler/back_modules.h"
#include "tests/unit/compiler/segment_checks.h"
#include "tests/unit/seeds.h"

namespace npu::compiler::testing {
namespace {

struct Machine {
  const char* name;
  contract::Capabilities capabilities;
  ScheduleOptions options;
};

std::vector<Machine> machines() {
  std::vector<Machine> out{{"edge", edge_capabilities(), {}}, {"nano", nano_capabilities(), {}}};
  for (const bool twice : {false, true}) {
    contract::Capabilities small = twice ? nano_capabilities() : edge_capabilities();
    small.spm_bytes = 16 << 10;
    out.push_back({twice ? "tiny" : "tiny, single buffered", small, {twice, twice}});
  }
  ScheduleOptions keep;
  keep.resident_constants = true;
  out.push_back({"edge, constants that stay", edge_capabilities(), keep});
  keep.effort = Effort::kMost;
  out.push_back({"nano, constants that stay", nano_capabilities(), keep});
  out[0].options.effort = Effort::kLeast;
  return out;
}

// Whether the module fits; it then computes what its steps say.
bool check_if_it_fits(const Module& module, const contract::Capabilities& machine, uint32_t seed) {
  try {
    EXPECT_EQ(check_module(module, machine, {}, seed, 1), "");
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
    return false;
  }
}

// Tiles, splits and stripes whose parameter blocks other commands make, on machines that hold few of them.
TEST(BackFuzz, RunTimeBlocksComputeWhatTheirStepsSay) {
  const test::Seeds seeds = test::seeds_of_run({0, 60});
  uint32_t ran = 0, refused = 0;
  for (uint32_t seed = seeds.first; seed < seeds.end(); ++seed) {
    const bool image = seed % 3 == 0;
    const int steps = 3 + static_cast<int>(seed % 4);
    const Module module = with_run_time_blocks(image ? random_image_module(seed, steps) : random_module(seed, steps));
    for (const uint32_t kib : {2u, 6u, 64u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = seed % 2 == 0 ? edge_capabilities() : nano_capabilities();
      machine.spm_bytes = kib << 10;
      ++(check_if_it_fits(module, machine, seed) ? ran : refused);
    }
  }
  EXPECT_GT(ran, seeds.count * 25 / 12);
  EXPECT_LT(refused, seeds.count * 5 / 8);
}

// Residuals cut with their convolutions: by rows, columns, channels and images, in stripes, in place of the source.
TEST(BackResiduals, TilesAddWhatTheirStepsSay) {
  constexpr uint32_t kSeeds = test::seeds_for(60);
  size_t residuals = 0, cut = 0;
  uint32_t refused = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const int steps = 3 + static_cast<int>(seed % 4);
    const bool image = seed % 2 == 0;
    for (const uint32_t kib : {4u, 12u, 64u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = edge_capabilities();
      machine.spm_bytes = kib << 10;
      const Module module = with_residuals(image ? random_image_module(seed, steps) : random_module(seed, steps), seed,
                                           machine.spm_bytes, residuals);
      if (!check_if_it_fits(module, machine, seed)) {
        ++refused;
        continue;
      }
      const DecodedStream stream = decode_stream(schedule(Module(module), machine));
      for (const backend::Command& command : stream.commands) {
        const auto* mxu = std::get_if<contract::MxuCommand>(&command.body);
        cut += mxu != nullptr && mxu->residual != contract::Residual::kNone ? 1 : 0;
      }
    }
  }
  std::cout << residuals << " residuals in " << cut << " tiles, " << refused << " modules without room\n";
  EXPECT_GT(residuals, 2 * kSeeds);
  EXPECT_GT(cut, 2 * residuals);
  EXPECT_LT(refused, kSeeds);
}

// Stripes on a machine whose scratchpad holds few rows.
TEST(BackStripes, RandomImagesComputeWhatTheirStepsSay) {
  constexpr uint32_t kSeeds = test::seeds_for(60);
  size_t joined = 0, refused = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Module module = random_image_module(seed, 3 + static_cast<int>(seed % 4));
    for (const uint32_t kib : {4u, 12u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = seed % 2 == 0 ? edge_capabilities() : nano_capabilities();
      machine.spm_bytes = kib << 10;
      try {
        EXPECT_EQ(check_module(module, machine, {}, seed, 2), "");
        joined += backend::make_layout(module, machine, {}, {}).analysis.chained.size();
        const OrderCheck order(schedule(Module(module), machine), machine);
        if (seed % 5 == 0) {
          EXPECT_THAT(order.needless_tokens(60), ::testing::ElementsAre());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(joined, kSeeds);
  EXPECT_LT(refused, kSeeds / 2);
}

// Results that several steps of a chain read, and steps behind it: rows are kept for the last reader, and stored.
TEST(BackStripes, BranchesComputeWhatTheirStepsSay) {
  constexpr uint32_t kSeeds = test::seeds_for(40);
  size_t joined = 0, stored = 0, branches = 0, residuals = 0, refused = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    for (const uint32_t kib : {4u, 12u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = seed % 2 == 0 ? edge_capabilities() : nano_capabilities();
      machine.spm_bytes = kib << 10;
      Module module = random_branching_module(seed, 4 + static_cast<int>(seed % 7));
      if (seed % 4 == 0) module = with_residuals(std::move(module), seed, machine.spm_bytes, residuals);
      try {
        EXPECT_EQ(check_module(module, machine, {}, seed, 2), "");
        const backend::Layout layout = backend::make_layout(module, machine, {}, {});
        const std::vector<std::unique_ptr<backend::TiledStep>>& parts = layout.analysis.chained;
        joined += parts.size();
        for (const auto& step : layout.analysis.steps) {
          if (!step) continue;
          for (const backend::Operand& o : step->operands()) stored += o.direct ? 1 : 0;
        }
        for (const auto& part : parts) {
          const auto reads = [&](const auto& other) { return other != part && backend::touches_result(*other, *part); };
          branches += std::count_if(parts.begin(), parts.end(), reads) > 1 ? 1 : 0;
        }
        if (seed % 5 == 0) {
          const OrderCheck order(schedule(Module(module), machine), machine);
          EXPECT_THAT(order.needless_tokens(60), ::testing::ElementsAre());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  std::cout << joined << " steps in chains, " << stored << " results stored, " << branches << " with several readers, "
            << refused << " modules without room\n";
  if (test::kSanitized) return;  // too few of them
  EXPECT_GT(joined, kSeeds);
  EXPECT_GT(stored, kSeeds / 4);
  EXPECT_GT(branches, kSeeds / 4);
  EXPECT_LT(refused, kSeeds / 2);
}

// Batches: stripes of one image after the other, or of several whole ones.
TEST(BackStripes, BatchesComputeWhatTheirStepsSay) {
  // Among the usual ones: a constant that changes with the rows, of a step that makes none for some stripe.
  const test::Seeds seeds = test::seeds_of_run({166, 24});
  size_t chains = 0, one_by_one = 0, several = 0, merged = 0, refused = 0;
  for (uint32_t seed = seeds.first; seed < seeds.end(); ++seed) {
    const int64_t images = seed % 4 == 3 ? 30 : 2 + seed % 3;

    const int steps = 3 + static_cast<int>(seed % 5);
    const Module module =
        seed % 2 == 0 ? random_branching_module(seed, steps, images) : random_image_module(seed, steps, images);
    for (const uint32_t kib : {6u, 24u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(kib) + " KiB");
      contract::Capabilities machine = seed % 3 == 0 ? edge_capabilities() : nano_capabilities();
      machine.spm_bytes = kib << 10;
      try {
        EXPECT_EQ(check_module(module, machine, {}, seed, 2), "");
        const backend::Layout layout = backend::make_layout(module, machine, {}, {});
        for (const backend::JoinedSteps& joined : layout.analysis.joined) {
          const backend::TilePlan& plan = layout.plans[joined.first];
          ++chains;
          if (plan.size.size() == 2) ++(plan.size.front() == 1 ? one_by_one : several);
          for (size_t s = joined.first; s <= joined.first + joined.stored.size(); ++s) {
            const auto* ewise = std::get_if<EwiseStep>(&module.steps[s].work);
            merged += ewise != nullptr && ewise->dims.size() == 1 ? 1 : 0;
          }
        }
        if (seed % 5 == 0) {
          const OrderCheck order(schedule(Module(module), machine), machine);
          EXPECT_THAT(order.needless_tokens(60), ::testing::ElementsAre());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  std::cout << chains << " chains, " << one_by_one << " of single images, " << several << " of several, " << merged
            << " steps of one dimension, " << refused << " modules without room\n";
  if (test::kSanitized) return;  // too few of them
  EXPECT_GT(one_by_one, seeds.count / 4);
  EXPECT_GT(several, 0u);
  EXPECT_GT(merged, 0u);
  EXPECT_LT(refused, seeds.count / 2);
}

template <class Work>
test::Window window_of(const Work& step) {
  test::Window w;
  w.batch = step.src.dims[0], w.height = step.src.dims[1], w.width = step.src.dims[2], w.channels = step.src.dims[3];
  w.out_height = step.dst.dims[1], w.out_width = step.dst.dims[2], w.out_channels = step.dst.dims[3];
  w.kernel_h = step.kernel_h, w.kernel_w = step.kernel_w, w.stride_y = step.stride_y, w.stride_x = step.stride_x;
  if constexpr (std::is_same_v<Work, MxuStep>) w.dilation_y = step.dilation_y, w.dilation_x = step.dilation_x;
  w.pad_top = step.pad_top, w.pad_left = step.pad_left;
  // What the last window needs beyond the image.
  const auto behind = [](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before) {
    return (out - 1) * stride + (kernel - 1) * dilation + 1 - in - before;
  };
  w.pad_bottom = behind(w.height, w.out_height, w.kernel_h, w.stride_y, w.dilation_y, w.pad_top);
  w.pad_right = behind(w.width, w.out_width, w.kernel_w, w.stride_x, w.dilation_x, w.pad_left);
  return w;
}

void count_windows(const Module& module, std::span<test::Bins> bins) {
  for (const Step& step : module.steps) {
    if (const auto* mxu = std::get_if<MxuStep>(&step.work); mxu && mxu->mode != contract::MxuMode::kMatmul) {
      bins[mxu->mode == contract::MxuMode::kConv ? 0 : 1].add(test::window_facts(), window_of(*mxu));
    } else if (const auto* pooling = std::get_if<PoolStep>(&step.work)) {
      bins[2].add(test::window_facts(), window_of(*pooling));
    }
  }
}

// Every meeting of sizes of 1 with strides, dilation and padding; whole and cut into tiles.
TEST(BackFuzz, SmallModulesComputeWhatTheirStepsSay) {
  constexpr uint32_t kSeeds = test::seeds_for(1000);
  test::Bins bins[] = {test::window_bins("convolution", test::WindowKind::kConvolution),
                       test::window_bins("depthwise convolution", test::WindowKind::kDepthwise),
                       test::window_bins("pooling", test::WindowKind::kPooling)};
  uint32_t cut = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Module module = random_small_module(seed, 6);
    EXPECT_TRUE(check_if_it_fits(module, seed % 2 == 0 ? edge_capabilities() : nano_capabilities(), seed));
    contract::Capabilities tiny = nano_capabilities();
    tiny.spm_bytes = 1 << 10;
    cut += check_if_it_fits(module, tiny, seed) ? 1 : 0;
    if (HasFailure()) return;
    count_windows(module, bins);
  }
  EXPECT_GT(cut, kSeeds / 2);
  if (test::kSanitized) return;  // too few of them to meet every bin
  for (const test::Bins& family : bins) {
    family.print(std::cout);
    EXPECT_THAT(family.missed(), ::testing::ElementsAre());
  }
}

class BackFuzzSeeds : public ::testing::TestWithParam<int> {};

TEST_P(BackFuzzSeeds, RandomModulesComputeWhatTheirStepsSay) {
  constexpr int kSeeds = test::seeds_for(25);
  int refused = 0, stay = 0;
  for (int i = 0; i < kSeeds; ++i) {
    const auto seed = static_cast<uint32_t>(GetParam() * kSeeds + i);
    const Module module = random_module(seed, 2 + i % 9);
    for (const Machine& machine : machines()) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + machine.name);
      try {
        EXPECT_EQ(check_module(module, machine.capabilities, machine.options, seed, 3), "");
        if (i % 5 == 0) {
          const OrderCheck order(schedule(Module(module), machine.capabilities, machine.options), machine.capabilities);
          EXPECT_THAT(order.needless_tokens(100), ::testing::ElementsAre());
        }
        if (machine.options.resident_constants) {
          stay += schedule(Module(module), machine.capabilities, machine.options).resident_bytes > 0 ? 1 : 0;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
        ++refused;
      }
    }
  }
  EXPECT_LT(refused, kSeeds / 2);
  EXPECT_GT(stay, kSeeds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackFuzzSeeds, ::testing::Range(0, 12));

// The least tiles that a step asks for, were the buffer in the scratchpad still.
int64_t least_bytes(const backend::Layout& layout, size_t step, BufferId buffer,
                    const contract::Capabilities& machine) {
  std::vector<backend::Home> homes;
  for (const backend::Operand& o : layout.analysis.steps[step]->operands()) {
    homes.push_back(o.view == nullptr          ? backend::Home::kConstant
                    : o.view->buffer == buffer ? backend::Home::kScratchpad
                                               : layout.homes[o.view->buffer]);
  }
  return backend::plan_step(*layout.analysis.steps[step], homes, 0, {}, {machine, {}, true}).least_bytes;
}

// What is said of a buffer that leaves the scratchpad: a step asked for its tiles, or the buffer for itself.
TEST(BackFuzz, SaysWhoAskedForTheRoomOfABufferInDram) {
  size_t tiles = 0, buffers = 0, longer = 0;
  for (uint32_t seed = 0; seed < test::seeds_for(240); ++seed) {
    const int steps = 3 + static_cast<int>(seed % 8);
    const Module module = seed % 3 < 2 ? random_module(seed, steps) : random_branching_module(seed, steps);
    for (const uint32_t bytes : {768u, 1024u, 2048u, 3072u, 8192u, 16384u}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scratchpad " + std::to_string(bytes));
      contract::Capabilities machine = seed % 2 == 0 ? nano_capabilities() : edge_capabilities();
      machine.spm_bytes = bytes;
      try {
        const backend::Layout layout = backend::make_layout(module, machine, {}, {});
        size_t moved = 0;
        for (const backend::Denied& denied : layout.denied) moved += denied.buffer ? 1 : 0;
        for (const backend::Denied& denied : layout.denied) {
          EXPECT_LE(denied.bytes, int64_t{bytes});
          if (!denied.buffer) continue;
          EXPECT_EQ(layout.homes[*denied.buffer], backend::Home::kDram);
          const backend::Lifetime& life = layout.analysis.lifetimes[*denied.buffer];
          const auto first = static_cast<int64_t>(denied.first), last = static_cast<int64_t>(denied.last);
          if (!denied.tiles) {
            ++buffers;
            EXPECT_EQ(std::pair(first, last), std::pair(life.first, life.last));
            EXPECT_GE(denied.bytes, static_cast<int64_t>(module.buffers[*denied.buffer].bytes));
            continue;
          }
          ++tiles;
          longer += life.first < life.last ? 1 : 0;
          EXPECT_EQ(first, last);
          EXPECT_LE(life.first, first);
          EXPECT_GE(life.last, first);
          // With others that left as well, homes were not what they are now.
          if (moved == 1) {
            EXPECT_GE(denied.bytes, least_bytes(layout, denied.first, *denied.buffer, machine));
          }
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), contract::ErrorCode::kScratchpadFull) << error.what();
      }
    }
  }
  if (test::kSanitized) return;  // too few of them
  EXPECT_GT(tiles, 5u);
  EXPECT_GT(longer, 0u);
  EXPECT_GT(buffers, 0u);
}

}  // namespace
}  // namespace npu::compiler::testing

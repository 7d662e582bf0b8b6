// SPDX-License-Identifier: Apache-2.0
// Writes networks that leave sizes open: sized_make_networks FOLDER [TRANSFORMER.tosa]
//
// rows.tosa, images.tosa, clipped.tosa and, of a transformer of 32 steps, transformer.tosa of any number of steps.
#include <cstdio>
#include <filesystem>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/reader.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/system/sized/open_networks.h"

namespace {

using namespace npu::graph;

// Images [?, ?, ?, 4] times 6, most of which is too large for INT8.
Graph clipped() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {2, 7, 7, 4});
  const TensorId weights = b.constant(DType::kInt8, {8, 1, 1, 4}, std::vector<double>(32, 3));
  const TensorId sums = b.conv2d(x, weights, b.constant(DType::kInt32, {8}, std::vector<double>(8, 0)), {});
  b.output(b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {31}}), "y");
  return npu::test::with_open_images(b.build());
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int64_t kSteps = 32;
  if (argc < 2 || argc > 3) return 64;
  try {
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    write_tosa(folder / "rows.tosa", npu::test::open_rows(1).graph);
    write_tosa(folder / "images.tosa", npu::test::open_images(1, 1, 1).graph);
    write_tosa(folder / "clipped.tosa", clipped());
    if (argc == 2) return 0;
    const Graph fixed = read_tosa(argv[2]);
    write_tosa(folder / "transformer.tosa", npu::test::open_up(fixed, kSteps, 1));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sized_make_networks: %s\n", error.what());
    return 1;
  }
  return 0;
}

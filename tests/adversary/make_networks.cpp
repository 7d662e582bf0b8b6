// SPDX-License-Identifier: Apache-2.0
// adversary_networks FOLDER SEED FIRST COUNT: writes COUNT .tosa files, NUMBER.tosa, of which number and seed make the
// same everywhere: most are legal graphs that were changed, some are changed bytes of one, or two files put together.
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "driver/graph/file.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/seeds.h"

namespace {

using npu::fuzz::Random;
using npu::fuzz::Seed;
using Bytes = std::vector<uint8_t>;

Bytes changed_graph(const Seed& seed, Random& random) {
  npu::graph::Graph graph = seed.graph;
  npu::fuzz::mutate(graph, random.next());
  return npu::graph::serialize(graph);
}

void change_bytes(Bytes& bytes, Random& random) {
  static constexpr uint8_t kFavourites[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
  for (size_t changes = 1 + random.below(8); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = kFavourites[random.below(sizeof(kFavourites))];
        break;
      case 1:
        bytes[at] = static_cast<uint8_t>(random.next());
        break;
      case 2:
        bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1U << random.below(8)));
        break;
      case 3:  // an offset or a length, by a little
        bytes[at / 4 * 4] = static_cast<uint8_t>(bytes[at / 4 * 4] + random.below(9) - 4);
        break;
      default:
        bytes.resize(at);
    }
  }
}

void splice(Bytes& bytes, const Bytes& other, Random& random) {
  if (bytes.empty() || other.empty()) return;
  const size_t from = random.below(other.size());
  const size_t count = 1 + random.below(other.size() - from);
  const size_t at = random.below(bytes.size());
  for (size_t i = 0; i < count && at + i < bytes.size(); ++i) bytes[at + i] = other[from + i];
}

Bytes make(const std::vector<Seed>& seeds, uint64_t seed, uint64_t number) {
  Random random(seed * 1'000'003 + number);
  const Seed& from = seeds[random.below(seeds.size())];
  switch (random.below(10)) {
    case 0: {
      Bytes bytes = npu::graph::serialize(from.graph);
      change_bytes(bytes, random);
      return bytes;
    }
    case 1: {
      Bytes bytes = npu::graph::serialize(from.graph);
      splice(bytes, npu::graph::serialize(seeds[random.below(seeds.size())].graph), random);
      return bytes;
    }
    case 2: {
      Bytes bytes = changed_graph(from, random);
      change_bytes(bytes, random);
      return bytes;
    }
    default:
      return changed_graph(from, random);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: adversary_networks FOLDER SEED FIRST COUNT\n";
    return 64;
  }
  try {
    const std::filesystem::path folder = argv[1];
    const uint64_t seed = std::stoull(argv[2]), first = std::stoull(argv[3]), count = std::stoull(argv[4]);
    const std::vector<Seed> seeds = npu::fuzz::make_seeds();
    for (uint64_t number = first; number < first + count; ++number) {
      npu::graph::write_file(folder / (std::to_string(number) + ".tosa"), make(seeds, seed, number));
    }
    return 0;
  } catch (const npu::Error& error) {
    std::cerr << "adversary_networks: " << error.what() << "\n";
    return error.exit_status();
  } catch (const std::exception& error) {
    std::cerr << "adversary_networks: " << error.what() << "\n";
    return 64;
  }
}

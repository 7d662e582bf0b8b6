// SPDX-License-Identifier: Apache-2.0
// The libFuzzer target: files of any bytes, which the mutator keeps near to legal graphs.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/graph/reader.h"
#include "driver/graph/writer.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

void print(const npu::fuzz::Answer& answer) {
  using npu::fuzz::Stage;
  if (answer.code == npu::contract::ErrorCode::kOk) {
    std::fputs("  it ran\n", stderr);
    return;
  }
  const char* stage = answer.stage == Stage::kRead        ? "the reader"
                      : answer.stage == Stage::kValidated ? "the validator"
                                                          : "the reference";
  const std::string_view code = npu::contract::name(answer.code);
  std::fprintf(stderr, "  %s refused it: %s [%.*s]\n", stage, answer.message.c_str(), static_cast<int>(code.size()),
               code.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool verdicts = std::getenv("NPU_FUZZ_VERDICTS") != nullptr;  // for a replay
  const npu::fuzz::Answer answer = npu::fuzz::judge({data, size});
  if (verdicts) print(answer);
  return 0;
}

// Mostly changes of the graph that the bytes hold; sometimes, and where they hold none, changes of the bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  npu::fuzz::Random random(seed);
  if (!random.one_in(8)) {
    try {
      npu::graph::Graph graph =
          npu::graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(data, data + size), "seed");
      npu::fuzz::mutate(graph, random.next());
      const auto bytes = npu::graph::serialize(graph);
      if (bytes.size() <= max_size) {
        std::memcpy(data, bytes.data(), bytes.size());
        return bytes.size();
      }
    } catch (const npu::Error&) {
      // No graph: bytes it is.
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

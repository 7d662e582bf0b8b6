// SPDX-License-Identifier: Apache-2.0
// The libFuzzer target of compiled programs: files of any bytes, most of them with a checksum that fits.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/fuzz/program_judge.h"
#include "tests/fuzz/random.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool verdicts = std::getenv("NPU_FUZZ_VERDICTS") != nullptr;  // for a replay
  const npu::fuzz::ProgramAnswer answer = npu::fuzz::judge_program({data, size});
  if (verdicts) std::fprintf(stderr, "  %s\n", answer.file ? "it is a program" : answer.message.c_str());
  return 0;
}

// Changes of the content alone, with a new checksum; sometimes, and where the bytes hold none, of all bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  const std::span<const uint8_t> content = npu::fuzz::payload_in({data, size});
  const size_t frame = size - content.size();
  if (content.empty() || frame >= max_size || npu::fuzz::Random(seed).one_in(16)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::vector<uint8_t> payload(content.begin(), content.end());
  payload.resize(max_size - frame);
  payload.resize(LLVMFuzzerMutate(payload.data(), content.size(), payload.size()));
  const std::vector<uint8_t> file = npu::fuzz::resealed({data, size}, payload);
  std::copy(file.begin(), file.end(), data);
  return file.size();
}

// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/beats.h"

#include <algorithm>
#include <limits>

namespace npu::engine {

Extent extent_of(const Box& box) {
  Extent extent = {box.offset, box.run};
  for (size_t i = 0; i < box.count.size(); ++i) {
    const int64_t span = static_cast<int64_t>(box.count[i] - 1) * box.stride[i];
    extent.low += std::min<int64_t>(span, 0);
    extent.bytes += static_cast<uint64_t>(std::abs(span));
  }
  return extent;
}

void add_stream(std::vector<BeatRun>& beats, const Stream& stream) {
  if (stream.bytes == 0 || stream.extent.bytes == 0) return;
  const uint64_t width = std::clamp<uint64_t>(stream.width, 1, stream.extent.bytes);
  const uint64_t full = stream.bytes / width;
  const uint64_t rest = stream.bytes % width;
  const uint64_t count = full + (rest != 0 ? 1 : 0);
  const bool sweeps_once = stream.bytes <= stream.extent.bytes;
  const uint64_t step = sweeps_once && full > 0 ? stream.extent.bytes / count : width;
  const uint64_t wrap = sweeps_once ? 0 : stream.extent.bytes / width * width;
  // The last beat, even the last possible one, starts within the stream's cycles.
  const uint64_t interval = std::clamp<uint64_t>(stream.cycles / count, 1, std::numeric_limits<uint32_t>::max());

  BeatRun run;
  run.port = stream.port;
  run.access = stream.access;
  const auto place = [&](uint64_t beat, uint64_t bytes) {
    const uint64_t offset = wrap == 0 ? beat * step : beat * step % wrap;
    run.address = stream.base;
    run.address.offset +=
        static_cast<uint32_t>(stream.extent.low + static_cast<int64_t>(std::min(offset, stream.extent.bytes - bytes)));
    run.bytes = static_cast<uint32_t>(bytes);
    run.start = stream.begin + beat * interval;
  };
  constexpr uint64_t kLongest = uint64_t{1} << 31;
  for (uint64_t beat = 0; beat < full;) {
    // A run must start at a multiple of the wrap, which only absurdly long streams would break.
    uint64_t length = full - beat;
    if (length > kLongest) length = wrap == 0 ? kLongest : kLongest / (wrap / step) * (wrap / step);
    place(beat, width);
    run.step = static_cast<int64_t>(step);
    run.wrap = static_cast<int64_t>(wrap);
    run.beats = static_cast<uint32_t>(length);
    run.interval = static_cast<uint32_t>(interval);
    beats.push_back(run);
    beat += length;
  }
  if (rest != 0) {
    place(full, rest);
    run.step = 0;
    run.wrap = 0;
    run.beats = 1;
    run.interval = 1;
    beats.push_back(run);
  }
}

uint64_t share(uint64_t total, uint64_t part, uint64_t whole) {
  return total / whole * part + total % whole * part / whole;
}

}  // namespace npu::engine

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/segment_checks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "driver/compiler/schedule/estimate.h"
#include "driver/compiler/schedule/footprint.h"
#include "hw/contract/overloaded.h"

namespace npu::compiler::testing {
namespace {

using backend::ByteSpan;
using contract::Region;
using Words = std::span<const uint32_t>;

std::vector<Words> split(Words stream) {
  std::vector<Words> out;
  for (size_t at = 0; at < stream.size(); at += out.back().size()) {
    out.push_back(stream.subspan(at, contract::command_words(stream.subspan(at))));
  }
  return out;
}

// Moves of a side stream: its bytes of the scratchpad by offset in region `save`.
std::map<uint32_t, ByteSpan> moves_of(const Program& program, uint32_t word, uint32_t words, bool save) {
  std::map<uint32_t, ByteSpan> out;
  const std::vector<Words> commands = split(Words(program.commands).subspan(word, words));
  for (size_t i = 1; i + 1 < commands.size(); ++i) {
    const auto copy = contract::DmaCommand::decode(commands[i]);
    const uint32_t chip = save ? copy.src.offset : copy.dst.offset, dram = save ? copy.dst.offset : copy.src.offset;
    out[dram] = {chip, int64_t{chip} + copy.run_bytes};
  }
  return out;
}

std::string check_streams(const Program& program, const Segment& segment, const contract::Capabilities& capabilities) {
  if (segment.live_bytes == 0) return segment.save_words + segment.restore_words == 0 ? "" : "a stream for nothing";
  for (const auto& [word, words] :
       {std::pair(segment.save_word, segment.save_words), std::pair(segment.restore_word, segment.restore_words)}) {
    if (word % 16 != 0 || word < program.main_words || words == 0) return "a stream at a bad place";
    if (uint64_t{word} + words > program.commands.size()) return "a stream beyond the words";
  }
  const auto save = moves_of(program, segment.save_word, segment.save_words, true);
  const auto restore = moves_of(program, segment.restore_word, segment.restore_words, false);
  uint32_t end = 0;
  int64_t last = 0;
  for (const auto& [offset, span] : save) {
    const auto back = restore.find(offset);
    if (back == restore.end() || back->second.low != span.low || back->second.high != span.high) {
      return "save and restore differ";
    }
    if (offset != end) return "a gap in region save";
    if (span.low % 16 != 0 || span.high % 16 != 0) return "a piece is not aligned";
    if (span.low < last || span.high > capabilities.spm_bytes) return "pieces overlap or leave the scratchpad";
    last = span.high;
    end += static_cast<uint32_t>(span.high - span.low);
  }
  if (restore.size() != save.size()) return "save and restore differ";
  if (end != segment.live_bytes) return "live_bytes is wrong";
  return {};
}

// Words behind the main stream that no stream uses are zero, and streams are the same or apart.
std::string check_words(const Program& program) {
  std::map<uint32_t, uint32_t> streams;
  for (const Segment& segment : program.segments) {
    for (const auto& [word, words] :
         {std::pair(segment.save_word, segment.save_words), std::pair(segment.restore_word, segment.restore_words)}) {
      if (words == 0) continue;
      const auto [found, fresh] = streams.emplace(word, words);
      if (!fresh && found->second != words) return "two streams at one place";
    }
  }
  uint32_t at = program.main_words;
  for (const auto& [word, words] : streams) {
    if (word < at || word - at >= 16) return "streams overlap, or unused words between them";
    if (std::any_of(program.commands.begin() + at, program.commands.begin() + word, [](uint32_t w) { return w != 0; }))
      return "padding is not zero";
    at = word + words;
  }
  return at == program.commands.size() ? "" : "unused words at the end";
}

bool covers(const std::vector<ByteSpan>& saved, const ByteSpan& live) {
  int64_t at = live.low;
  for (const ByteSpan& span : saved) {
    if (span.low <= at && at < span.high) at = span.high;
  }
  return at >= live.high;
}

}  // namespace

DecodedStream decode_stream(const Program& program) {
  DecodedStream out;
  for (const Words words : split(Words(program.commands).first(program.main_words))) {
    contract::AnyCommand any = contract::decode_command(words);
    std::visit(Overloaded{[&]<typename Command>(Command& command) { out.commands.push_back({std::move(command)}); },
                          [&](contract::YieldCommand&) { out.yields.push_back(out.commands.size()); },
                          [](contract::BeginCommand&) {}, [](contract::EndCommand&) {}},
               any);
  }
  return out;
}

std::vector<std::vector<ByteSpan>> live_bytes(const Program& program, const contract::Capabilities& capabilities) {
  const DecodedStream stream = decode_stream(program);
  const auto for_each_byte = [](const backend::Body& body, bool write, auto&& visit) {
    for (const backend::ByteSet& set : backend::footprint(body)) {
      if (set.space != backend::kScratchpadSpace || set.write != write) continue;
      set.for_each_run([&](int64_t low, int64_t high) {
        for (int64_t at = low; at < high; ++at) visit(static_cast<size_t>(at));
      });
    }
  };
  // When each byte was written first.
  std::vector<size_t> first(capabilities.spm_bytes, SIZE_MAX);
  for (size_t i = 0; i < stream.commands.size(); ++i) {
    for_each_byte(stream.commands[i].body, true, [&](size_t at) { first[at] = std::min(first[at], i); });
  }
  std::vector<std::vector<ByteSpan>> out(stream.yields.size());
  std::vector<bool> needed(capabilities.spm_bytes);
  size_t next = stream.yields.size();
  for (size_t i = stream.commands.size(); i-- > 0 && next > 0;) {
    for_each_byte(stream.commands[i].body, true, [&](size_t at) { needed[at] = false; });
    for_each_byte(stream.commands[i].body, false, [&](size_t at) { needed[at] = true; });
    if (stream.yields[next - 1] != i) continue;
    std::vector<ByteSpan>& spans = out[--next];
    for (size_t at = 0; at < needed.size(); ++at) {
      if (!needed[at] || first[at] >= i) continue;
      const auto byte = static_cast<int64_t>(at);
      if (spans.empty() || spans.back().high != byte) spans.push_back({byte, byte});
      ++spans.back().high;
    }
  }
  return out;
}

std::vector<ByteSpan> saved_bytes(const Program& program, const Segment& segment) {
  std::vector<ByteSpan> out;
  if (segment.save_words == 0) return out;
  for (const auto& [offset, span] : moves_of(program, segment.save_word, segment.save_words, true)) out.push_back(span);
  return out;
}

std::string check_segments(const Program& program, const contract::Capabilities& capabilities) {
  const DecodedStream stream = decode_stream(program);
  if (stream.yields.size() != program.segments.size()) return "yields and segments differ in number";
  if (std::string wrong = check_words(program); !wrong.empty()) return wrong;
  const auto queued = [](const backend::Command& c) {
    return backend::header_of(c.body).queue != contract::Queue::kSequencer;
  };
  const auto live = live_bytes(program, capabilities);
  uint32_t most = 0;
  for (size_t i = 0; i < program.segments.size(); ++i) {
    const Segment& segment = program.segments[i];
    const std::string which = "segment " + std::to_string(i) + ": ";
    if (i > 0 && segment.yield_word <= program.segments[i - 1].yield_word) return which + "not sorted";
    const auto begin = stream.commands.begin(), here = begin + static_cast<ptrdiff_t>(stream.yields[i]);
    const auto before = i == 0 ? begin : begin + static_cast<ptrdiff_t>(stream.yields[i - 1]);
    if (std::none_of(before, here, queued)) return which + "nothing was issued since the last one";
    if (std::none_of(here, stream.commands.end(), queued)) return which + "nothing is left to do";
    if (std::string wrong = check_streams(program, segment, capabilities); !wrong.empty()) return which + wrong;
    const std::vector<ByteSpan> saved = saved_bytes(program, segment);
    for (const ByteSpan& span : live[i]) {
      if (!covers(saved, span)) return which + "live bytes at " + std::to_string(span.low) + " are not saved";
    }
    if (live[i].empty() && segment.live_bytes > 0) return which + "saves bytes that are not used";
    most = std::max(most, segment.live_bytes);
  }
  return most == program.save_bytes ? "" : "save_bytes is not that of the largest segment";
}

std::string check_segment_times(const Program& program, const contract::Capabilities& capabilities,
                                uint32_t segment_cycles) {
  const DecodedStream stream = decode_stream(program);
  const backend::Timeline timeline = backend::estimate_timeline(stream.commands, program.variables, capabilities);
  const auto done = [&](size_t at) { return at == 0 ? 0 : timeline.completed[at - 1]; };
  const auto left = [&](size_t at) { return at == 0 ? 0 : timeline.issued[at - 1]; };
  std::vector<size_t> points = stream.yields;
  points.push_back(stream.commands.size());
  size_t last = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string which = "segment " + std::to_string(i) + ": ";
    const size_t at = points[i];
    const uint32_t cycles = i < program.segments.size() ? program.segments[i].cycles : program.tail_cycles;
    if (cycles != static_cast<uint32_t>(std::ceil(done(at) - left(last)))) return which + "cycles are wrong";
    // Longer than it should be: no boundary in it would have split off any time.
    for (size_t between = last + 1; between < at && done(at) - done(last) > segment_cycles; ++between) {
      if (done(between) > done(last) && done(between) < done(at)) {
        return which + "could have stopped before command " + std::to_string(between);
      }
    }
    last = at;
  }
  return {};
}

}  // namespace npu::compiler::testing

// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/stream_check.h"

#include <fmt/format.h>

#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/reference/reference.h"
#include "sim/workload/oracle.h"

namespace npu::cli {

using graph::in_quotes;

std::vector<Outputs> run_reference(const std::vector<Stream>& streams, size_t contexts, const Schedule& schedule) {
  std::vector<Outputs> outputs(streams.size());
  std::vector<reference::Context> state(contexts);
  for (const Round& round : schedule) {
    for (const size_t i : round.streams) {
      const Stream& stream = streams[i];
      const auto frame = static_cast<int64_t>(outputs[i].size());
      try {
        outputs[i].push_back(
            reference::run(stream.network.graph, stream.frames.invocation(frame), state[stream.context]));
      } catch (const Error& error) {
        throw Error(error.code(),
                    fmt::format("reference, frame {} of {}: {}", frame, in_quotes(stream.name), error.what()));
      }
    }
  }
  return outputs;
}

std::vector<Outputs> run_undisturbed(runtime::Device& device, const std::vector<Stream>& streams,
                                     const std::vector<runtime::ContextOptions>& contexts, const Schedule& schedule,
                                     tool::Progress& progress) {
  std::vector<Outputs> outputs(streams.size());
  for (size_t context = 0; context < contexts.size(); ++context) {
    const Schedule own = schedule_of(schedule, streams, context);
    std::vector<StreamResult> results = run_schedule(device, streams, contexts, own, true, progress);
    for (size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].context == context) outputs[i] = std::move(results[i].outputs);
    }
  }
  return outputs;
}

namespace {

int64_t compare_bits(const graph::Value& got, const graph::Value& want, report::CheckResult& check) {
  const graph::Difference difference = graph::compare(got, want);
  check.compared += static_cast<uint64_t>(difference.compared);
  check.differing += static_cast<uint64_t>(difference.differing);
  return difference.first;
}

}  // namespace

void compare(const Stream& stream, const Outputs& got, const Outputs& want, Judging judging,
             report::CheckResult& check) {
  const auto judge = judging == Judging::kEveryBit ? compare_bits : workload::compare_output;
  for (size_t frame = 0; frame < want.size(); ++frame) {
    for (size_t i = 0; i < want[frame].size(); ++i) {
      const int64_t first = judge(got.at(frame).at(i), want[frame][i], check);
      if (first < 0 || !check.first.empty()) continue;
      check.first = fmt::format("element {} of output {} of frame {} of {}", first,
                                in_quotes(stream.network.outputs[i].name), frame, in_quotes(stream.name));
    }
  }
}

}  // namespace npu::cli

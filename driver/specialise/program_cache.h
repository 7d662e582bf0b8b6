// SPDX-License-Identifier: Apache-2.0
// The programs of a graph that leaves sizes open: one for each choice of sizes, compiled when it is first asked for.
//
//   ProgramCache cache(context, device.capabilities(), open, options, 64 << 20);
//   const auto sized = cache.get({{"x", {3, 4}}});
//   Job job = sized->program.create_job();
//
// All programs are loaded into one context, so its variables go on from one to the next. Each has its constants and
// commands in device memory for itself; the limit bounds what they take there together.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "driver/compiler/compile.h"
#include "driver/graph/graph.h"
#include "driver/graph/resolve.h"
#include "driver/runtime/runtime.h"
#include "driver/specialise/sized_programs.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::specialise {

class ProgramCache final : public SizedPrograms {
 public:
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  // `open` has passed validate() with Sizes::kMayBeUnknown. `options` are for a context that has nothing else. With
  // kNoLimit programs are dropped only where the device has no memory for another one.
  ProgramCache(runtime::Context context, contract::Capabilities machine, graph::Graph open, compiler::Options options,
               uint64_t limit = kNoLimit);

  // Drops those that were used longest ago until the rest is
  // within the limit. One that a caller holds, or a job, is passed over: it would keep its memory anyway. So the
  // programs in use may be beyond the limit, and one that is larger by itself stays until another one is asked for.
  // Throws Error: what resolve(), validate(), compile() and Context::load() throw. Then programs may have been dropped
  // to make room, and nothing else has changed.
  [[nodiscard]] std::shared_ptr<const SizedProgram> get(const graph::GivenShapes& sizes) override;

  [[nodiscard]] const CacheCounts& counts() const override { return counts_; }
  [[nodiscard]] uint64_t limit() const { return limit_; }

 private:
  struct Entry {
    graph::GivenShapes sizes;
    std::shared_ptr<const SizedProgram> program;
  };

  [[nodiscard]] compiler::Program compile(const graph::GivenShapes& sizes);
  [[nodiscard]] runtime::LoadedProgram load(const compiler::Program& program);
  void make_room(uint64_t bytes);
  bool drop_oldest();

  runtime::Context context_;
  contract::Capabilities machine_;
  graph::Graph open_;
  compiler::Options options_;
  uint64_t limit_;
  std::list<Entry> entries_;  // the one used last in front
  std::map<graph::GivenShapes, std::list<Entry>::iterator> by_sizes_;
  CacheCounts counts_;
};

}  // namespace npu::specialise

// SPDX-License-Identifier: Apache-2.0
#include "driver/specialise/program_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/compiler/dram_needs.h"
#include "hw/contract/error.h"

namespace npu::specialise {

ProgramCache::ProgramCache(runtime::Context context, contract::Capabilities machine, graph::Graph open,
                           compiler::Options options, uint64_t limit)
    : context_(std::move(context)),
      machine_(machine),
      open_(std::move(open)),
      options_(std::move(options)),
      limit_(limit) {}

std::shared_ptr<const SizedProgram> ProgramCache::get(const graph::GivenShapes& sizes) {
  std::shared_ptr<const SizedProgram> result;
  if (const auto found = by_sizes_.find(sizes); found != by_sizes_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    ++counts_.hits;
    result = entries_.front().program;
    make_room(0);  // what was in use the last time may not be any more
    return result;
  }
  const compiler::Program program = compile(sizes);
  const uint64_t bytes = compiler::needs_of(program, options_.firmware).total();
  make_room(bytes);
  result = std::make_shared<const SizedProgram>(SizedProgram{load(program), bytes});
  entries_.push_front({sizes, result});
  by_sizes_.emplace(sizes, entries_.begin());
  ++counts_.misses;
  ++counts_.programs;
  counts_.bytes += bytes;
  counts_.most_bytes = std::max(counts_.most_bytes, counts_.bytes);
  return result;
}

compiler::Program ProgramCache::compile(const graph::GivenShapes& sizes) {
  compiler::Options options = options_;
  // Programs of one context have to agree where its variables are: the first one has placed them.
  for (const runtime::VariableInfo& variable : context_.variables()) {
    options.schedule.placed_in_dram.insert_or_assign(variable.identity, variable.in_dram);
  }
  return compiler::compile(graph::static_form(graph::resolve(open_, sizes)), machine_, options);
}

runtime::LoadedProgram ProgramCache::load(const compiler::Program& program) {
  for (;;) {
    try {
      return context_.load(program);
    } catch (const Error& error) {
      if (error.code() != contract::ErrorCode::kDramFull || !drop_oldest()) throw;
    }
  }
}

void ProgramCache::make_room(uint64_t bytes) {
  const auto fits = [&] { return bytes <= limit_ && counts_.bytes <= limit_ - bytes; };
  while (!fits() && drop_oldest()) {
  }
}

// Of those that no caller and no job holds; false: there is none.
bool ProgramCache::drop_oldest() {
  const auto oldest = std::find_if(entries_.rbegin(), entries_.rend(), [](const Entry& one) {
    return one.program.use_count() == 1 && !one.program->program.in_use();
  });
  if (oldest == entries_.rend()) return false;
  ++counts_.evictions;
  --counts_.programs;
  counts_.bytes -= oldest->program->bytes;
  by_sizes_.erase(oldest->sizes);
  entries_.erase(std::next(oldest).base());
  return true;
}

}  // namespace npu::specialise

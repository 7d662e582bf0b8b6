// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/faults.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "hw/contract/error.h"
#include "hw/contract/gen/commands.h"

namespace npu::platform {
namespace {

constexpr uint32_t kFlipWordBytes = 8, kFlipWordBits = 72;  // of the persistent SRAM, check bits included
constexpr std::string_view kFaultBlanks = " \t\n";

struct FaultKindInfo {
  FaultClause::Kind kind;
  std::string_view name, example;
  bool once;  // a job has one such hook
};

constexpr std::array<FaultKindInfo, 5> kFaultKinds = {
    {{FaultClause::Kind::kHang, "hang", "hang mxu@40", true},
     {FaultClause::Kind::kFlip, "flip", "flip 0x800.3@job7", false},
     {FaultClause::Kind::kDropInterrupt, "drop-irq", "drop-irq 2", true},
     {FaultClause::Kind::kBrownOut, "brown-out", "brown-out 100@job2", true},
     {FaultClause::Kind::kBusError, "bus-error", "bus-error 7@job2", true}}};

const FaultKindInfo& fault_kind_info(FaultClause::Kind kind) { return kFaultKinds[static_cast<size_t>(kind)]; }

[[noreturn]] void refuse_clause(std::string_view clause, const std::string& what, std::string_view example) {
  throw Error(contract::ErrorCode::kBadOption,
              "fault '" + std::string(clause) + "' " + what + "; for example: " + std::string(example));
}

std::string_view trimmed_clause(std::string_view text) {
  const size_t first = text.find_first_not_of(kFaultBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kFaultBlanks) - first + 1);
}

// Decimal, or hexadecimal behind 0x.
std::optional<uint32_t> fault_number(std::string_view text) {
  const bool hexadecimal = text.rfind("0x", 0) == 0;
  if (hexadecimal) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class FaultClauseParser {
 public:
  explicit FaultClauseParser(std::string_view text) : text_(text) {}

  FaultClause parse() {
    FaultClause clause;
    clause.text = text_;
    const size_t blank = text_.find_first_of(kFaultBlanks);
    const std::string_view name = text_.substr(0, blank);
    const auto* info = std::find_if(kFaultKinds.begin(), kFaultKinds.end(),
                                    [&](const FaultKindInfo& kind) { return kind.name == name; });
    if (info == kFaultKinds.end()) {
      refuse_clause(text_, "is none of hang, flip, drop-irq, brown-out and bus-error",
                    "hang mxu@40; flip 0x800.3@job7; drop-irq 2");
    }
    example_ = info->example;
    clause.kind = info->kind;
    std::string_view what = blank == std::string_view::npos ? "" : trimmed_clause(text_.substr(blank));
    if (const size_t at = what.rfind("@job"); at != std::string_view::npos) {
      clause.job = number(what.substr(at + 4), "the job's number");
      if (clause.job == 0) refuse_clause(text_, "names job 0, but the first job is job 1", example_);
      what = trimmed_clause(what.substr(0, at));
    }
    if (what.empty()) refuse_clause(text_, "does not say what", example_);
    read(what, clause);
    return clause;
  }

 private:
  [[nodiscard]] uint32_t number(std::string_view text, const std::string& what) const {
    const std::optional<uint32_t> value = fault_number(text);
    if (!value) {
      refuse_clause(text_, "has '" + std::string(text) + "' for " + what + ", which is no number below 2^32", example_);
    }
    return *value;
  }

  void read(std::string_view what, FaultClause& clause) const {
    switch (clause.kind) {
      case FaultClause::Kind::kHang: {
        const auto [queue, command] = split(what, '@', "QUEUE@COMMAND");
        clause.queue = queue_of(queue);
        clause.number = number(command, "the command's index");
        return;
      }
      case FaultClause::Kind::kFlip: {
        const auto [offset, bit] = split(what, '.', "OFFSET.BIT");
        clause.number = number(offset, "the offset of a word");
        clause.bit = number(bit, "the bit");
        if (clause.number % kFlipWordBytes != 0) {
          refuse_clause(text_, "names byte " + std::string(offset) + ", but words start at multiples of 8", example_);
        }
        if (clause.bit >= kFlipWordBits) {
          refuse_clause(text_,
                        "names bit " + std::string(bit) + ", but a word has bits 0 to 63 and check bits 64 to 71",
                        example_);
        }
        return;
      }
      case FaultClause::Kind::kDropInterrupt:
        clause.number = number(what, "the number of interrupts");
        break;
      case FaultClause::Kind::kBrownOut:
        clause.number = number(what, "the number of bytes");
        break;
      case FaultClause::Kind::kBusError:
        clause.number = number(what, "the number of the burst");
        break;
    }
    if (clause.number == 0) refuse_clause(text_, "asks for 0, which does nothing", example_);
  }

  [[nodiscard]] std::pair<std::string_view, std::string_view> split(std::string_view what, char mark,
                                                                    const std::string& form) const {
    const size_t at = what.find(mark);
    if (at == std::string_view::npos) refuse_clause(text_, "needs " + form, example_);
    return {what.substr(0, at), what.substr(at + 1)};
  }

  [[nodiscard]] uint32_t queue_of(std::string_view name) const {
    for (uint32_t queue = 0; queue < contract::kEngineQueues; ++queue) {
      if (contract::name(static_cast<contract::Queue>(queue)) == name) return queue;
    }
    refuse_clause(text_, "names queue '" + std::string(name) + "', but there are dma0 to dma7, mxu and vpu", example_);
  }

  std::string_view text_, example_;
};

void check_one_of_a_kind(const std::vector<FaultClause>& clauses) {
  for (size_t i = 0; i < clauses.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (clauses[k].kind != clauses[i].kind || clauses[k].job != clauses[i].job) continue;
      const FaultKindInfo& info = fault_kind_info(clauses[i].kind);
      if (!info.once) continue;
      refuse_clause(clauses[i].text,
                    "comes behind '" + clauses[k].text + "', but a job has one " + std::string(info.name) +
                        ": give them different jobs",
                    std::string(info.example.substr(0, info.example.find("@job"))) + "@job2");
    }
  }
}

}  // namespace

std::vector<FaultClause> parse_faults(std::string_view text) {
  std::vector<FaultClause> clauses;
  for (;;) {
    const size_t end = text.find(';');
    clauses.push_back(FaultClauseParser(trimmed_clause(text.substr(0, end))).parse());
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  check_one_of_a_kind(clauses);
  return clauses;
}

void check_faults(std::span<const FaultClause> clauses, const contract::Capabilities& caps, bool control_cpu) {
  for (const FaultClause& clause : clauses) {
    const std::string_view example = fault_kind_info(clause.kind).example;
    if (clause.kind == FaultClause::Kind::kHang && clause.queue < static_cast<uint32_t>(contract::Queue::kMxu) &&
        clause.queue >= caps.dma_channels) {
      refuse_clause(
          clause.text,
          "names a DMA channel that this machine has not: it has " + std::to_string(caps.dma_channels) + ", from dma0",
          "hang dma0@40");
    }
    if (clause.kind == FaultClause::Kind::kFlip && clause.number >= caps.psram_bytes) {
      refuse_clause(clause.text,
                    "names a byte beyond the persistent SRAM, which has " + std::to_string(caps.psram_bytes), example);
    }
    if (clause.kind == FaultClause::Kind::kDropInterrupt && !control_cpu) {
      refuse_clause(clause.text, "needs a device with a control CPU, which raises the interrupts that can be lost",
                    "hang mxu@40");
    }
  }
}

void FaultPlan::job_starts() {
  ++jobs_;
  for (const FaultClause& clause : clauses_) {
    if (clause.job == jobs_) strike_(clause);
  }
}

}  // namespace npu::platform

// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/gdb_session.h"

#include <algorithm>
#include <array>
#include <vector>

#include "hw/model/iss.h"

namespace npu::platform::gdb {

using Halt = model::CpuDebugger::Halt;

namespace {

constexpr std::string_view kOk = "OK";
constexpr std::string_view kMalformed = "E01";   // the command does not read as it should
constexpr std::string_view kNoMemory = "E02";    // there is nothing at that address, or it cannot be written
constexpr std::string_view kNoRegister = "E03";  // there is no such register, or it cannot be written

constexpr uint32_t kRegisters = model::kIssPc + 1;
// Numbers of CSRs, as GDB counts them.
constexpr uint32_t kFirstCsr = 65;
struct Csr {
  std::string_view name;
  uint32_t number;
};
constexpr std::array kCsrs{Csr{"mstatus", 0x300}, Csr{"mie", 0x304},    Csr{"mtvec", 0x305}, Csr{"mscratch", 0x340},
                           Csr{"mepc", 0x341},    Csr{"mcause", 0x342}, Csr{"mtval", 0x343}, Csr{"mip", 0x344}};

constexpr std::array<std::string_view, 32> kNames{"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
                                                  "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                                  "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

std::string register_xml(std::string_view name, uint32_t number, std::string_view type) {
  std::string text = "<reg name=\"";
  text.append(name).append("\" bitsize=\"32\" regnum=\"").append(std::to_string(number));
  text.append("\" type=\"").append(type).append("\"/>");
  return text;
}

std::string target_xml() {
  std::string text =
      "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">"
      "<architecture>riscv:rv32</architecture><feature name=\"org.gnu.gdb.riscv.cpu\">";
  for (uint32_t i = 0; i < kNames.size(); ++i) {
    text += register_xml(kNames[i], i, i == 1 ? "code_ptr" : i >= 2 && i <= 4 ? "data_ptr" : "int");
  }
  text += register_xml("pc", model::kIssPc, "code_ptr") + "</feature><feature name=\"org.gnu.gdb.riscv.csr\">";
  for (const Csr& csr : kCsrs) text += register_xml(csr.name, kFirstCsr + csr.number, "int");
  return text + "</feature></target>";
}

std::string hex_number(size_t value) {
  std::string text;
  for (; value > 0 || text.empty(); value /= 16) text.insert(text.begin(), "0123456789abcdef"[value % 16]);
  return text;
}

}  // namespace

void Session::restart(Halt why) {
  why_ = why;
  without_acks_ = false;
}

std::string Session::halted(Halt why) {
  why_ = why;
  return stop_reply();
}

void Session::remove_breakpoints() {
  for (const uint32_t address : breakpoints_) cpu_.set_breakpoint(address, false);
  breakpoints_.clear();
}

// Numbers of Unix signals: 2 interrupt, 5 trap, 6 abort.
std::string Session::stop_reply() const {
  if (why_ == Halt::kInterrupt) return "T02thread:1;";
  if (why_ == Halt::kStopped) return "T06thread:1;";
  return "T05thread:1;";
}

Session::Answer Session::handle(std::string_view packet) {
  if (packet.empty()) return {std::string()};
  Fields fields(packet.substr(1));
  switch (packet.front()) {
    case '?':
      return {stop_reply()};
    case 'g':
      return {read_registers()};
    case 'G':
      return {write_registers(fields)};
    case 'p':
      return {read_register(fields)};
    case 'P':
      return {write_register(fields)};
    case 'm':
      return {read_memory(fields)};
    case 'M':
      return {write_memory(fields, false)};
    case 'X':
      return {write_memory(fields, true)};
    case 'Z':
      return {set_breakpoint(fields, true)};
    case 'z':
      return {set_breakpoint(fields, false)};
    case 'c':
    case 'C':
      return resume(fields, packet.front() == 'C', Then::kContinue);
    case 's':
    case 'S':
      return resume(fields, packet.front() == 'S', Then::kStep);
    case 'H':  // there is one thread
    case 'T':
      return {std::string(kOk)};
    case 'D':
      return {std::string(kOk), Then::kDetach};
    case 'k':
      return {std::nullopt, Then::kDetach};
    default:
      return query(packet);
  }
}

Session::Answer Session::query(std::string_view packet) {
  Fields fields(packet);
  if (packet.starts_with("qSupported")) {
    return {"PacketSize=" + hex_number(kMaxPacket) + ";QStartNoAckMode+;qXfer:features:read+;vContSupported+"};
  }
  if (packet == "QStartNoAckMode") {
    without_acks_ = true;
    return {std::string(kOk)};
  }
  if (fields.literal("qXfer:features:read:")) return read_features(fields);
  if (packet == "vCont?") return {"vCont;c;C;s;S"};
  if (packet.starts_with("vCont;")) return resume_threads(Fields(packet.substr(5)));
  if (packet == "qAttached") return {"1"};  // a debugger that goes leaves the CPU alive
  if (packet == "qC") return {"QC1"};
  if (packet == "qfThreadInfo") return {"m1"};
  if (packet == "qsThreadInfo") return {"l"};
  return {std::string()};
}

Session::Answer Session::read_features(Fields fields) const {
  fields.literal("target.xml:");
  const uint32_t offset = fields.number();
  fields.literal(",");
  const uint32_t length = fields.number();
  if (!fields.complete()) return {std::string(kMalformed)};
  const std::string xml = target_xml();
  if (offset >= xml.size()) return {"l"};
  const size_t most = std::min<size_t>(length, kMaxPacket / 2);
  std::string reply(1, offset + most < xml.size() ? 'm' : 'l');
  return {reply.append(xml, offset, most)};
}

std::string Session::read_registers() const {
  std::string text;
  for (uint32_t i = 0; i < kRegisters; ++i) text += register_to_hex(cpu_.debug_register(i));
  return text;
}

std::string Session::write_registers(Fields fields) {
  const std::optional<std::vector<uint8_t>> bytes = from_hex(fields.rest());
  if (!bytes || bytes->size() != kRegisters * 4) return std::string(kMalformed);
  for (uint32_t i = 1; i < kRegisters; ++i) {
    uint32_t value = 0;
    for (uint32_t k = 0; k < 4; ++k) value |= uint32_t{(*bytes)[i * 4 + k]} << (8 * k);
    cpu_.set_debug_register(i, value);
  }
  return std::string(kOk);
}

std::string Session::read_register(Fields fields) const {
  const uint32_t number = fields.number();
  if (!fields.complete()) return std::string(kMalformed);
  if (number < kRegisters) return register_to_hex(cpu_.debug_register(number));
  const bool known =
      std::any_of(kCsrs.begin(), kCsrs.end(), [&](const Csr& c) { return kFirstCsr + c.number == number; });
  return known ? register_to_hex(cpu_.debug_csr(number - kFirstCsr)) : std::string(kNoRegister);
}

std::string Session::write_register(Fields fields) {
  const uint32_t number = fields.number();
  fields.literal("=");
  const std::optional<uint32_t> value = register_from_hex(fields.rest());
  if (!fields.complete() || !value) return std::string(kMalformed);
  if (number >= kRegisters) return std::string(kNoRegister);
  if (number > 0) cpu_.set_debug_register(number, *value);
  return std::string(kOk);
}

std::string Session::read_memory(Fields fields) {
  const uint32_t address = fields.number();
  fields.literal(",");
  const uint32_t length = fields.number();
  if (!fields.complete() || length > kMaxPacket / 2) return std::string(kMalformed);
  std::vector<uint8_t> bytes(length);
  if (length == 0 || cpu_.debug_read(address, bytes)) return to_hex(bytes);
  // Registers are whole words: those that hold the range.
  const uint32_t before = address % 4;
  bytes.resize((before + length + 3) / 4 * 4);
  if (!cpu_.debug_read(address - before, bytes)) return std::string(kNoMemory);
  return to_hex(std::span(bytes).subspan(before, length));
}

std::string Session::write_memory(Fields fields, bool binary) {
  const uint32_t address = fields.number();
  fields.literal(",");
  const uint32_t length = fields.number();
  fields.literal(":");
  const std::string_view text = fields.rest();
  if (!fields.complete()) return std::string(kMalformed);
  std::vector<uint8_t> bytes;
  if (binary) {
    bytes.assign(text.begin(), text.end());
  } else if (const auto decoded = from_hex(text)) {
    bytes = *decoded;
  } else {
    return std::string(kMalformed);
  }
  if (bytes.size() != length) return std::string(kMalformed);
  return std::string(length == 0 || cpu_.debug_write(address, bytes) ? kOk : kNoMemory);
}

// Of software and hardware breakpoints there is one kind; there are no watchpoints.
std::string Session::set_breakpoint(Fields fields, bool on) {
  const uint32_t type = fields.number();
  if (fields.good() && type > 1) return {};
  fields.literal(",");
  const uint32_t address = fields.number();
  fields.literal(",");
  fields.number();  // length of the instruction
  if (!fields.complete()) return std::string(kMalformed);
  cpu_.set_breakpoint(address, on);
  if (on) {
    breakpoints_.insert(address);
  } else {
    breakpoints_.erase(address);
  }
  return std::string(kOk);
}

// `c`, `c ADDRESS`, `C SIGNAL`, `C SIGNAL;ADDRESS`; the firmware has no process that could take a signal.
Session::Answer Session::resume(Fields fields, bool signal, Then then) {
  if (signal) fields.number();
  if (fields.complete()) return {std::nullopt, then};
  if (signal) fields.literal(";");
  const uint32_t address = fields.number();
  if (!fields.complete()) return {std::string(kMalformed)};
  cpu_.set_debug_register(model::kIssPc, address);
  return {std::nullopt, then};
}

// `;ACTION` or `;ACTION:THREAD`, several; the first one counts for the one thread that there is.
Session::Answer Session::resume_threads(Fields fields) {
  const std::string_view text = fields.rest();
  const std::string_view action = text.substr(1, text.find_first_of(";:", 1) - 1);
  if (action.empty()) return {std::string(kMalformed)};
  if (action.front() == 'c' || action.front() == 'C') return {std::nullopt, Then::kContinue};
  if (action.front() == 's' || action.front() == 'S') return {std::nullopt, Then::kStep};
  return {std::string(kMalformed)};
}

}  // namespace npu::platform::gdb

// SPDX-License-Identifier: GPL-2.0-only
#include "sim/platform/iss/csr_file.h"

namespace npu::iss {

namespace {

// Numbers.
constexpr uint32_t kMstatus = 0x300, kMisa = 0x301, kMieCsr = 0x304, kMtvec = 0x305, kMstatush = 0x310,
                   kMscratch = 0x340, kMepc = 0x341, kMcause = 0x342, kMtval = 0x343, kMip = 0x344;
constexpr uint32_t kMvendorid = 0xf11, kMconfigptr = 0xf15;
constexpr uint32_t kMcountinhibit = 0x320;

constexpr uint32_t kMisaValue = 1u << 30 | 1u << ('I' - 'A') | 1u << ('M' - 'A') | 1u << 0 | 1u << ('C' - 'A');
constexpr uint32_t kSoftware = 1u << 3, kTimer = 1u << 7, kExternal = 1u << 11;  // interrupts

bool in(uint32_t number, uint32_t first, uint32_t last) { return number >= first && number <= last; }

// mcountinhibit and the selectors of event counters: always 0.
bool always_zero(uint32_t number) { return number == kMcountinhibit || in(number, 0x323, 0x33f); }

// Counter 0 (cycle), 2 (instret), 3 to 31 (events); 1 is time, which there is not.
bool counter_exists(uint32_t counter) { return counter != 1; }

}  // namespace

void CsrFile::reset() {
  const uint32_t lines = mip_;
  *this = CsrFile();
  mip_ = lines;
}

bool CsrFile::read(uint32_t number, uint64_t retired, uint32_t& value) const {
  switch (number) {
    case kMstatus:
      value = mstatus_;
      return true;
    case kMisa:
      value = kMisaValue;
      return true;
    case kMieCsr:
      value = mie_;
      return true;
    case kMtvec:
      value = mtvec_;
      return true;
    case kMscratch:
      value = mscratch_;
      return true;
    case kMepc:
      value = mepc_;
      return true;
    case kMcause:
      value = mcause_;
      return true;
    case kMtval:
      value = mtval_;
      return true;
    case kMip:
      value = mip_;
      return true;
    default:
      break;
  }
  value = 0;
  if (number == kMstatush || always_zero(number) || in(number, kMvendorid, kMconfigptr)) return true;
  return read_counter(number, retired, value);
}

bool CsrFile::read_counter(uint32_t number, uint64_t retired, uint32_t& value) const {
  // mcycle..., and its view for less privileged code (cycle...), each with the high halves 0x80 later.
  const uint32_t block = number & ~0x9fu, counter = number & 0x1f;
  if ((block != 0xb00 && block != 0xc00) || !counter_exists(counter)) return false;
  uint64_t count = 0;
  if (counter == 0) count = retired + cycle_base_;
  if (counter == 2) count = retired + instret_base_;
  value = static_cast<uint32_t>((number & 0x80) != 0 ? count >> 32 : count);
  return true;
}

bool CsrFile::write(uint32_t number, uint64_t retired, uint32_t value) {
  switch (number) {
    case kMstatus:
      mstatus_ = (value & (kMie | kMpie)) | kMpp;
      if ((value & kMie) != 0) handling_exception_ = false;
      return true;
    case kMieCsr:
      mie_ = value & (kSoftware | kTimer | kExternal);
      return true;
    case kMtvec:
      mtvec_ = value & ~2u;
      return true;
    case kMscratch:
      mscratch_ = value;
      return true;
    case kMepc:
      mepc_ = value & ~1u;
      return true;
    case kMcause:
      mcause_ = value;
      return true;
    case kMtval:
      mtval_ = value;
      return true;
    default:
      break;
  }
  if (number == kMisa || number == kMip || number == kMstatush || always_zero(number)) return true;
  return write_counter(number, retired, value);
}

bool CsrFile::write_counter(uint32_t number, uint64_t retired, uint32_t value) {
  const uint32_t block = number & ~0x9fu, counter = number & 0x1f;
  if (block != 0xb00 || !counter_exists(counter)) return false;
  if (counter != 0 && counter != 2) return true;
  uint64_t& base = counter == 0 ? cycle_base_ : instret_base_;
  // The write takes the place of this instruction's own count: the next one reads what was written.
  const uint64_t now = retired + base;
  const uint64_t wanted =
      (number & 0x80) != 0 ? uint64_t{value} << 32 | (now & 0xffff'ffff) : (now & ~uint64_t{0xffff'ffff}) | value;
  base = wanted - (retired + 1);
  return true;
}

uint32_t CsrFile::interrupt_cause() const {
  const uint32_t pending = mip_ & mie_;
  const uint32_t number = (pending & kExternal) != 0 ? 11 : (pending & kSoftware) != 0 ? 3 : 7;
  return 1u << 31 | number;
}

uint32_t CsrFile::enter_trap(uint32_t cause, uint32_t value, uint32_t pc) {
  const bool interrupt = cause >> 31 != 0;
  if (!interrupt) handling_exception_ = true;
  mepc_ = pc & ~1u;
  mcause_ = cause;
  mtval_ = value;
  mstatus_ = kMpp | ((mstatus_ & kMie) != 0 ? kMpie : 0);
  const uint32_t base = mtvec_ & ~3u;
  return interrupt && (mtvec_ & 1) != 0 ? base + 4 * (cause & 0x7fffffff) : base;
}

uint32_t CsrFile::leave_trap() {
  mstatus_ = kMpp | kMpie | ((mstatus_ & kMpie) != 0 ? kMie : 0);
  handling_exception_ = false;
  return mepc_;
}

}  // namespace npu::iss

// SPDX-License-Identifier: Apache-2.0
// Torn variables, two places, places in DRAM, and words with wrong bits.
#include <algorithm>

#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::VariableEntry;
using contract::VariableFlag;

constexpr uint8_t kWritten = 1, kSeen = 2, kWriting = 4, kTorn = 8, kDouble = 16, kSecond = 32, kInDram = 64,
                  kDeclared = 128;  // or the host has written it

std::vector<uint8_t> counting(uint32_t bytes, uint8_t first = 1) {
  std::vector<uint8_t> values(bytes);
  for (uint32_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(first + i);
  return values;
}

compiler::Variable written(const std::string& identity, uint32_t bytes, bool in_dram = false) {
  compiler::Variable variable = int8_variable(identity, bytes, counting(bytes));
  variable.written = true;
  variable.in_dram = in_dram;
  return variable;
}

VariableEntry entry(MockHal& mock, uint32_t index) {
  return VariableEntry::load(mock.persistent().data() + size_t{index} * VariableEntry::kBytes);
}
void set_flags(MockHal& mock, uint32_t index, uint8_t flags) {
  mock.persistent()[size_t{index} * VariableEntry::kBytes + 10] = flags;
}

TEST(Torn, IsReportedAndMendedByWritingClearingOrRestoring) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program({written("v", 4)}));
  const Snapshot saved = context.snapshot();
  for (const uint8_t flags : {kWritten | kWriting, kWritten | kTorn, kWritten | kTorn | kSeen}) {
    set_flags(opened.mock, 0, flags);
    EXPECT_TRUE(context.variables()[0].torn);
    for (int call = 0; call < 2; ++call) {
      const auto [code, text] = error_of([&] {
        static_cast<void>(call == 0 ? context.read_variable("v").bytes.size() : context.snapshot().variables.size());
      });
      EXPECT_EQ(code, ErrorCode::kVariableTorn);
      EXPECT_CONTAINS(text, "'v'");
    }
    if (flags == (kWritten | kWriting)) {
      context.write_variable("v", int8_value({4, 3, 2, 1}));
      EXPECT_EQ(context.read_variable("v").bytes, (std::vector<uint8_t>{4, 3, 2, 1}));
    } else {
      context.restore(saved);
      EXPECT_EQ(context.read_variable("v").bytes, counting(4));
    }
    EXPECT_EQ(entry(opened.mock, 0).flags, kWritten | kDeclared);
    EXPECT_FALSE(context.variables()[0].torn);
  }
  set_flags(opened.mock, 0, kWritten | kTorn);
  context.clear("v");
  const LoadedProgram again = context.load(make_program({written("v", 4)}));
  EXPECT_EQ(context.read_variable("v").bytes, counting(4));
  // What was never written holds nothing to be torn.
  set_flags(opened.mock, 0, kTorn);
  EXPECT_TRUE(context.variables()[0].torn);
  EXPECT_FALSE(context.variables()[0].is_written);
  const auto [code, text] = error_of([&] { static_cast<void>(context.read_variable("v")); });
  EXPECT_EQ(code, ErrorCode::kVariableUnwritten);
  EXPECT_CONTAINS(text, "'v'");
  const Snapshot unwritten = context.snapshot();
  EXPECT_FALSE(unwritten.variables.at(0).is_written);
  EXPECT_TRUE(unwritten.variables.at(0).bytes.empty());
}

TEST(Torn, AWriteUnderWayIsNoInterruptedOne) {
  Opened opened;
  opened.mock.on_start = [](MockHal& mock) { set_flags(mock, 0, kWritten | kSeen | kWriting); };
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({written("v", 4)}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  EXPECT_FALSE(context.variables()[0].torn);
  opened.mock.end_job_with_fault(ErrorCode::kFaultPower);
  EXPECT_THROW(static_cast<void>(job.wait(std::chrono::seconds(1))), FaultError);
  EXPECT_TRUE(context.variables()[0].torn);
}

TEST(Torn, AFaultOfAJobNamesTheVariable) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({written("first", 4), written("second", 4)}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  opened.mock.on_start = [](MockHal& mock) {
    mock.set_register(contract::reg::kFaultOther, 1);
    mock.end_job_with_fault(ErrorCode::kVariableTorn);
  };
  const auto [code, text] = error_of([&] { job.run(); });
  EXPECT_EQ(code, ErrorCode::kVariableTorn);
  EXPECT_CONTAINS(text, "variable 'second' was read, but a write of it was interrupted");
}

TEST(DoubleBuffer, GivesTwoPlacesToWhatIsWritten) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram program =
      context.load(make_program({written("long", 17), written("short", 16), int8_variable("constant", 40)}));
  EXPECT_TRUE(context.variables()[0].double_buffered);
  EXPECT_TRUE(context.variables()[1].double_buffered);  // power may also go in the middle of a beat
  EXPECT_FALSE(context.variables()[2].double_buffered);
  EXPECT_EQ(entry(opened.mock, 0).flags, kWritten | kDouble);
  EXPECT_EQ(entry(opened.mock, 1).flags, kWritten | kDouble);
  EXPECT_EQ(context.variables()[1].offset, 64u + 64);  // 2 * 32 bytes for "long"
  EXPECT_EQ(opened.device.memory_use().persistent_used, 64u + 32 + 48);
  // An interrupted write leaves the old value.
  set_flags(opened.mock, 0, kWritten | kDouble | kWriting);
  EXPECT_FALSE(context.variables()[0].torn);
  EXPECT_EQ(context.read_variable("long").bytes, counting(17));
}

TEST(DoubleBuffer, ReadsTheCurrentPlaceAndWritesTheOther) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram program = context.load(make_program({written("v", 17)}));
  opened.mock.clear_log();
  context.write_variable("v", int8_value(counting(17, 50)));
  EXPECT_EQ(entry(opened.mock, 0).flags, kWritten | kDouble | kSecond | kDeclared);
  EXPECT_EQ(opened.mock.persistent()[64], 1);
  EXPECT_EQ(opened.mock.persistent()[64 + 32], 50);
  EXPECT_EQ(context.read_variable("v").bytes, counting(17, 50));
  context.write_variable("v", int8_value(counting(17, 90)));
  EXPECT_EQ(entry(opened.mock, 0).flags, kWritten | kDouble | kDeclared);
  EXPECT_EQ(opened.mock.persistent()[64], 90);
  EXPECT_EQ(context.read_variable("v").bytes, counting(17, 90));
}

TEST(DoubleBuffer, ComesWhenAProgramWritesWhatOthersOnlyRead) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram reader = context.load(make_program({int8_variable("v", 20, counting(20))}));
  EXPECT_FALSE(context.variables()[0].double_buffered);
  context.write_variable("v", int8_value(counting(20, 7)));
  const LoadedProgram writer = context.load(make_program({written("v", 20)}));
  EXPECT_TRUE(context.variables()[0].double_buffered);
  EXPECT_EQ(context.read_variable("v").bytes, counting(20, 7));
  const LoadedProgram another_reader = context.load(make_program({int8_variable("v", 20)}));
  EXPECT_TRUE(context.variables()[0].double_buffered);
  EXPECT_EQ(opened.device.memory_use().persistent_used, 64u);
}

TEST(DramState, LiesInDramAndIsCounted) {
  Booted booted;
  const uint64_t before = booted.device.memory_use().dram_used;
  {
    Context context = booted.device.create_context();
    const LoadedProgram program = context.load(make_program({written("v", 2000, true)}));  // more than the SRAM has
    const VariableInfo info = context.variables()[0];
    EXPECT_TRUE(info.in_dram);
    EXPECT_EQ(info.offset % 64, 0u);
    EXPECT_EQ(entry(booted.mock, 0).base, info.offset / 64);
    EXPECT_EQ(entry(booted.mock, 0).flags, kWritten | kInDram);
    const auto first = booted.mock.dram(info.offset + 2000).begin() + static_cast<ptrdiff_t>(info.offset);
    EXPECT_EQ(std::vector<uint8_t>(first, first + 2000), counting(2000));
    context.write_variable("v", int8_value(counting(2000, 9)));
    EXPECT_EQ(context.read_variable("v").bytes, counting(2000, 9));
    EXPECT_EQ(context.snapshot().variables[0].bytes, counting(2000, 9));
    EXPECT_EQ(context.snapshot().variables[0].place, StatePlace::kDram);
    EXPECT_EQ(booted.device.memory_use().state_dram_used, 4096u);
    EXPECT_EQ(booted.device.memory_use().persistent_used, 0u);
    context.clear();
    EXPECT_EQ(booted.device.memory_use().state_dram_used, 0u);
  }
  EXPECT_EQ(booted.device.memory_use().dram_used, before);
}

TEST(DramState, MayBeDoubleBufferedToo) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram program = context.load(make_program({written("v", 65, true), written("beat", 64, true)}));
  EXPECT_TRUE(context.variables()[0].double_buffered);
  EXPECT_TRUE(context.variables()[1].double_buffered);
  context.write_variable("v", int8_value(counting(65, 3)));
  EXPECT_EQ(entry(opened.mock, 0).flags, kWritten | kInDram | kDouble | kSecond | kDeclared);
  EXPECT_EQ(opened.mock.dram(0)[context.variables()[0].offset + 128], 3);
  EXPECT_EQ(context.read_variable("v").bytes, counting(65, 3));
}

TEST(DramState, StaysInSramForProgramsThatWantDramAndMovesForThoseThatWantSram) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram sram = context.load(make_program({written("a", 40)}));
  const LoadedProgram dram = context.load(make_program({written("a", 40, true), written("b", 40, true)}));
  EXPECT_FALSE(context.variables()[0].in_dram);
  EXPECT_TRUE(context.variables()[1].in_dram);
  context.write_variable("b", int8_value(counting(40, 8)));
  const LoadedProgram both = context.load(make_program({written("b", 40)}));
  EXPECT_FALSE(context.variables()[1].in_dram);
  EXPECT_EQ(context.variables()[1].last_writer, "host");
  EXPECT_EQ(context.read_variable("b").bytes, counting(40, 8));
  EXPECT_EQ(opened.device.memory_use().state_dram_used, 0u);
}

TEST(DramState, ThatCannotMoveIntoSramSaysTheWayOut) {
  Opened opened;
  Context context = opened.device.create_context();
  const LoadedProgram dram = context.load(make_program({written("big", 940, true), written("small", 40)}));
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(make_program({written("big", 940)}))); });
  EXPECT_EQ(code, ErrorCode::kPersistentFull);
  EXPECT_CONTAINS(text, "'big' needs 940 bytes of persistent SRAM");
  EXPECT_CONTAINS(text, "--state-in-dram");
  EXPECT_TRUE(context.variables()[0].in_dram);
  EXPECT_EQ(context.read_variable("big").bytes, counting(940));
}

TEST(DramState, DoesNotMoveUnderAJobInFlight) {
  Opened opened;
  opened.mock.on_start = [](MockHal&) {};
  Context context = opened.device.create_context();
  LoadedProgram dram = context.load(make_program({written("v", 40, true)}));
  Job job = dram.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  job.start();
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(make_program({written("v", 40)}))); });
  EXPECT_EQ(code, ErrorCode::kWrongOrder);
  EXPECT_CONTAINS(text, "'v'");
  opened.mock.end_job();
  EXPECT_TRUE(job.wait(std::chrono::seconds(1)));
}

TEST(Ecc, AVariableThatCannotBeReadIsNamedAndMended) {
  for (const bool clear : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context();
    const LoadedProgram program = context.load(make_program({written("a", 5), written("v", 12)}));
    opened.mock.wrong_words = {80 + 8};  // of "v", whose last 4 bytes do not fill the word
    for (int call = 0; call < 2; ++call) {
      const auto [code, text] = error_of([&] {
        static_cast<void>(call == 0 ? context.read_variable("v").bytes.size() : context.snapshot().variables.size());
      });
      EXPECT_EQ(code, ErrorCode::kFaultEcc);
      EXPECT_CONTAINS(text, "variable 'v' has a word with two wrong bits");
    }
    EXPECT_EQ(opened.device.ecc_counts().uncorrectable, 2u);
    EXPECT_EQ(context.read_variable("a").bytes, counting(5));
    if (clear) {
      context.clear("v");
      EXPECT_TRUE(opened.mock.wrong_words.empty());
      const LoadedProgram again = context.load(make_program({written("v", 12)}));
      EXPECT_EQ(context.read_variable("v").bytes, counting(12));
    } else {
      context.write_variable("v", int8_value(counting(12, 4)));
      EXPECT_TRUE(opened.mock.wrong_words.empty());
      EXPECT_EQ(context.read_variable("v").bytes, counting(12, 4));
    }
  }
}

TEST(Ecc, WrongWordsThatNobodyKnewAreWrittenWhole) {
  Opened opened;
  Context context = opened.device.create_context();
  opened.mock.wrong_words = {64};
  const LoadedProgram program = context.load(make_program({written("v", 3)}));
  EXPECT_TRUE(opened.mock.wrong_words.empty());
  EXPECT_EQ(context.read_variable("v").bytes, counting(3));
}

TEST(Ecc, AFaultOfAJobNamesTheVariableAndClearMendsIt) {
  Opened opened;
  Context context = opened.device.create_context();
  LoadedProgram program = context.load(make_program({written("a", 4), written("v", 12)}));
  Job job = program.create_job();
  job.set_input(0, int8_value({1, 2, 3, 4}));
  opened.mock.wrong_words = {80};
  const auto well = opened.mock.on_start;
  uint32_t other = 1;
  opened.mock.on_start = [&](MockHal& mock) {
    mock.set_register(contract::reg::kFaultOther, other);
    mock.set_register(contract::reg::kFaultAddressHi, static_cast<uint32_t>(contract::Region::kVariable) | other << 8);
    mock.end_job_with_fault(ErrorCode::kFaultEcc);
  };
  const auto [code, text] = error_of([&] { job.run(); });
  EXPECT_EQ(code, ErrorCode::kFaultEcc);
  EXPECT_CONTAINS(text, "variable 'v' has two wrong bits in a word");
  context.clear("v");
  EXPECT_TRUE(opened.mock.wrong_words.empty());

  // A free entry is written anew before the next job.
  other = 3;
  const auto [free_code, free_text] = error_of([&] { job.run(); });
  EXPECT_EQ(free_code, ErrorCode::kFaultEcc);
  EXPECT_CONTAINS(free_text, "belongs to no variable");
  opened.mock.persistent()[3 * 16] = 77;
  opened.mock.on_start = well;
  job.run();
  EXPECT_EQ(opened.mock.persistent()[3 * 16], 0);
}

template <typename Way>
void expect_damaged_entry_named() {
  Way booted;
  Context context = booted.device.create_context();
  const LoadedProgram program = context.load(make_program({written("a", 4), written("v", 4)}));
  booted.mock.wrong_words = {16};
  const auto [code, text] = error_of([&] { static_cast<void>(context.variables()); });
  EXPECT_EQ(code, ErrorCode::kFaultEcc);
  EXPECT_CONTAINS(text, "the table entry of variable 'v' has two wrong bits");
  EXPECT_EQ(context.read_variable("a").bytes, counting(4));
  EXPECT_EQ(error_of([&] { static_cast<void>(context.read_variable("v")); }).first, ErrorCode::kFaultEcc);
  context.clear("v");
  EXPECT_TRUE(booted.mock.wrong_words.empty());
  EXPECT_EQ(context.variables().size(), 1u);
}

TEST(Ecc, ADamagedEntryIsNamedAndClearMendsIt) {
  expect_damaged_entry_named<Opened>();
  expect_damaged_entry_named<Booted>();
}

template <typename Way>
void expect_damaged_entry_replaced(bool double_buffer) {
  Way way;
  Context context = way.device.create_context({.double_buffer = double_buffer});
  const LoadedProgram program = context.load(make_program({written("a", 4), written("b", 4), int8_variable("c", 4)}));
  const Snapshot saved = context.snapshot();
  const auto expect_right = [&](std::vector<uint8_t> b) {
    EXPECT_TRUE(way.mock.wrong_words.empty());
    EXPECT_EQ(context.variables().size(), 3u);
    EXPECT_EQ(context.read_variable("b").bytes, b);
    EXPECT_FALSE(context.variables()[2].is_written);
  };
  way.mock.wrong_words = {16};
  context.write_variable("b", int8_value({9, 8, 7, 6}));
  expect_right({9, 8, 7, 6});
  way.mock.wrong_words = {16 + 8, 32};  // of "c", too, which the snapshot has unwritten
  context.write_variable("a", int8_value({5, 5, 5, 5}));
  context.restore(saved);
  expect_right(counting(4));
  EXPECT_EQ(context.read_variable("a").bytes, counting(4));
}

TEST(Ecc, ADamagedEntryIsReplacedByWritingAndRestoring) {
  for (const bool double_buffer : {false, true}) {
    expect_damaged_entry_replaced<Opened>(double_buffer);
    expect_damaged_entry_replaced<Booted>(double_buffer);
  }
}

TEST(Ecc, BothPlacesAreNamedAndMended) {
  for (const bool clear : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.double_buffer = true});
    const LoadedProgram program = context.load(make_program({written("v", 12)}));
    opened.mock.wrong_words = {64 + 16 + 8};  // of the place that is not current
    EXPECT_EQ(context.read_variable("v").bytes, counting(12));
    EXPECT_EQ(opened.device.scrub().damaged, std::vector<std::string>{"v"});
    if (clear) {
      context.clear("v");
    } else {
      context.write_variable("v", int8_value(counting(12, 4)));
      EXPECT_EQ(context.read_variable("v").bytes, counting(12, 4));
    }
    EXPECT_TRUE(opened.mock.wrong_words.empty());
  }
}

TEST(Ecc, TheOtherPlaceIsMendedWhenSomethingWasCountedSince) {
  Opened opened;
  Context context = opened.device.create_context({.double_buffer = true});
  const LoadedProgram program = context.load(make_program({written("v", 12)}));
  opened.mock.clear_log();
  context.write_variable("v", int8_value(counting(12, 4)));
  const auto writes = [&] {
    return std::count_if(opened.mock.log().begin(), opened.mock.log().end(),
                         [](const auto& access) { return access.kind == MockHal::Kind::kWritePersistent; });
  };
  EXPECT_EQ(writes(), 1);
  opened.mock.wrong_words = {64 + 16};  // of the current place; the finder did not say whose it is
  opened.mock.set_register(contract::reg::kEccUncorrectable, 1);
  context.write_variable("v", int8_value(counting(12, 5)));
  EXPECT_TRUE(opened.mock.wrong_words.empty());
  EXPECT_EQ(context.read_variable("v").bytes, counting(12, 5));
}

TEST(Ecc, WrongWordsOfFreeMemoryAreRightInANewVariable) {
  for (const bool initial : {false, true}) {
    Opened opened;
    Context context = opened.device.create_context({.double_buffer = true});
    opened.mock.wrong_words = {64, 64 + 8, 64 + 24, 64 + 32 + 8, 64 + 32 + 24, 64 + 64};
    compiler::Variable variable = written("v", 17);
    if (!initial) variable.initial.clear();
    const LoadedProgram program = context.load(make_program({variable}));
    EXPECT_EQ(opened.mock.wrong_words, std::set<uint32_t>{64 + 64});  // behind it
    EXPECT_EQ(opened.device.ecc_counts().uncorrectable, 0u);
    EXPECT_EQ(context.variables()[0].is_written, initial);
  }
}

// A host that cannot reach the memory has not found wrong bits.
TEST(Ecc, OtherErrorsOfTheBusStayWhatTheyAre) {
  class Deaf : public MockHal {
   public:
    using MockHal::MockHal;
    void read_window(Window window, uint32_t offset, std::span<uint8_t> bytes) override {
      require_bus();
      MockHal::read_window(window, offset, bytes);
    }
    void write_window(Window window, uint32_t offset, std::span<const uint8_t> bytes) override {
      MockHal::write_window(window, offset, bytes);
      require_bus();
    }
    bool deaf = false;

   private:
    void require_bus() const {
      if (deaf) throw Error(ErrorCode::kFaultBus, "the bus has no power.");
    }
  };
  auto hal = std::make_unique<Deaf>(small_machine());
  Deaf& device = *hal;
  Opened opened(std::move(hal));
  Context context = opened.device.create_context();
  const LoadedProgram program = context.load(make_program({written("v", 4)}));
  device.deaf = true;
  const auto expect_bus = [](const std::pair<ErrorCode, std::string>& error) {
    EXPECT_EQ(error.first, ErrorCode::kFaultBus);
    EXPECT_CONTAINS(error.second, "has no power");
  };
  expect_bus(error_of([&] { static_cast<void>(context.read_variable("v")); }));
  opened.mock.clear_log();
  expect_bus(error_of([&] { context.write_variable("v", int8_value({1, 2, 3, 4})); }));
  EXPECT_EQ(std::count_if(opened.mock.log().begin(), opened.mock.log().end(),
                          [](const auto& access) { return access.kind == MockHal::Kind::kWritePersistent; }),
            1);
}

template <typename Way>
void expect_scrub_names() {
  Way way;
  Context a = way.device.create_context(), b = way.device.create_context();
  const LoadedProgram pa = a.load(make_program({written("v", 8), written("w", 8)}));
  const LoadedProgram pb = b.load(make_program({written("v", 8)}));
  EXPECT_EQ(way.device.scrub().uncorrectable, 0u);
  EXPECT_TRUE(way.device.scrub().damaged.empty());
  way.mock.wrong_words = {80, 96, 1000};  // "w" of a, "v" of b, and of no variable
  const ScrubResult result = way.device.scrub();
  EXPECT_EQ(result.uncorrectable, 3u);
  EXPECT_EQ(result.damaged, (std::vector<std::string>{"w", "v (context 2)"}));
  a.clear();
  b.clear();
  EXPECT_EQ(way.mock.wrong_words, std::set<uint32_t>{1000});
  // The next owner of that memory does not stumble over it.
  const LoadedProgram large = a.load(make_program({written("large", 945)}));
  EXPECT_TRUE(way.mock.wrong_words.empty());
  EXPECT_EQ(way.device.ecc_counts().uncorrectable, result.uncorrectable + 2);  // where the scrub looked for names
}

TEST(Ecc, ScrubNamesDamagedVariables) {
  expect_scrub_names<Opened>();
  expect_scrub_names<Booted>();
  Booted booted;
  booted.firmware.scrub_corrects = 5;
  EXPECT_EQ(booted.device.scrub().corrected, 5u);
}

}  // namespace
}  // namespace npu::runtime

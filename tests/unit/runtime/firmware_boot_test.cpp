// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/firmware_image.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using contract::FirmwareHeader;
namespace reg = contract::reg;

// The shared memory: the last 256 KiB of 1 MiB; ring 0 with 32 entries, log of 16 KiB, 2,048 phase records.
constexpr uint32_t kShared = 0xc0000;
constexpr uint32_t kAdminBytes = 128 + 32 * (64 + 256);
constexpr uint32_t kLog = kShared + kAdminBytes, kPhases = kLog + (16 << 10);
constexpr uint32_t kAllInterrupts = 7;

std::vector<uint8_t> admin_header() {
  contract::Ring ring;
  ring.magic = 0x474e4952;
  ring.version = contract::kContractMajor << 16 | contract::kContractMinor;
  ring.entries = 32;
  ring.shared_base = kShared;
  ring.shared_bytes = 256 << 10;
  ring.log_base = kLog;
  ring.log_bytes = 16 << 10;
  ring.log_level = 2;
  std::vector<uint8_t> bytes(contract::Ring::kBytes);
  ring.store(bytes.data());
  return bytes;
}

// From the reset on.
std::vector<MockHal::Access> boot_traffic(uint32_t reset_bit, uint32_t interrupts) {
  std::vector<uint8_t> code = MockFirmware::image();
  code.erase(code.begin(), code.begin() + FirmwareHeader::kBytes);
  return {
      MockHal::write(reg::kCpuControl, 0),
      MockHal::write(reg::kCpuControl, reset_bit),
      MockHal::write_code(0, code),
      MockHal::write_dram(kShared, admin_header()),
      MockHal::write(reg::kAdminRingLo, kShared),
      MockHal::write(reg::kAdminRingHi, 0),
      MockHal::write(reg::kPhaseBaseLo, kPhases),
      MockHal::write(reg::kPhaseBaseHi, 0),
      MockHal::write(reg::kPhaseCapacity, 2048),
      MockHal::write(reg::kHostIrqStatus, kAllInterrupts),
      MockHal::write(reg::kHostIrqEnable, interrupts),
      MockHal::write(reg::kCpuControl, reg::kCpuControlRunMask),
      MockHal::read(reg::kTimeLo),
      MockHal::read(reg::kTimeHi),
      MockHal::wait(interrupts != 0),
      MockHal::read(reg::kHostIrqStatus),
      MockHal::write(reg::kHostIrqStatus, reg::kHostIrqStatusFirmwareMask),
      MockHal::read(reg::kFirmwareState),
      MockHal::read(reg::kFirmwareVersion),
      MockHal::read(reg::kFirmwareChecksum),
      MockHal::read(reg::kHostIrqStatus),
  };
}

// Opens a device over a mock that `prepare` has changed.
template <typename Prepare>
std::pair<ErrorCode, std::string> open_error(Prepare prepare, const DeviceOptions& options = mock_options()) {
  auto hal = std::make_unique<MockHal>(small_machine());
  MockFirmware firmware(*hal);
  prepare(*hal, firmware);
  return error_of([&] { static_cast<void>(Device::open(std::move(hal), options)); });
}

std::pair<ErrorCode, std::string> image_error(const std::vector<uint8_t>& image) {
  return error_of([&] { static_cast<void>(parse_firmware(image)); });
}

template <typename Damage>
std::vector<uint8_t> image_with(Damage damage) {
  std::vector<uint8_t> image = MockFirmware::image();
  FirmwareHeader header = FirmwareHeader::load(image.data());
  damage(header);
  header.store(image.data());
  return image;
}

TEST(FirmwareBoot, OpenIsExactlyThis) {
  auto hal = std::make_unique<MockHal>(small_machine());
  MockHal& mock = *hal;
  MockFirmware firmware(mock);
  std::vector<MockHal::Access> traffic = {MockHal::read(reg::kId), MockHal::read(reg::kContractVersion)};
  for (const contract::CapabilityInfo& info : contract::kCapabilities) {
    traffic.push_back(MockHal::read(info.register_offset));
  }
  traffic.push_back(MockHal::read(reg::kCapsHash));
  const std::vector<MockHal::Access> boot = boot_traffic(reg::kCpuControlResetAllMask, kAllInterrupts);
  traffic.insert(traffic.end(), boot.begin(), boot.end());
  mock.expect(traffic);
  Device device = Device::open(std::move(hal), mock_options());
  EXPECT_EQ(mock.deviation(), "");
  EXPECT_EQ(device.memory_use().dram_used, 256u << 10);
}

TEST(FirmwareBoot, PollingEnablesNoInterrupt) {
  DeviceOptions options = mock_options();
  options.polling = true;
  Booted booted(options);
  EXPECT_EQ(booted.mock.get_register(reg::kHostIrqEnable), 0u);
}

TEST(FirmwareBoot, SoftResetKeepsPersistentMemoryAndOpensContextsAgain) {
  Booted booted;
  Context context = booted.device.create_context({.priority = 7});
  std::vector<MockHal::Access> traffic = {MockHal::read_dram(kShared + 72, 4)};  // the log so far
  const std::vector<MockHal::Access> boot = boot_traffic(reg::kCpuControlResetCoreMask, kAllInterrupts);
  traffic.insert(traffic.end(), boot.begin(), boot.end());
  booted.device.soft_reset();
  ASSERT_GE(booted.mock.log().size(), traffic.size());
  const size_t start = [&] {
    for (size_t i = 0; i < booted.mock.log().size(); ++i) {
      if (booted.mock.log()[i].address == reg::kCpuControl) return i - 1;
    }
    return booted.mock.log().size();
  }();
  for (size_t i = 0; i < traffic.size(); ++i) {
    const MockHal::Access& got = booted.mock.log().at(start + i);
    EXPECT_EQ(got.kind, traffic[i].kind) << MockHal::to_string(got);
    EXPECT_EQ(got.address, traffic[i].address) << MockHal::to_string(got);
    if (got.value && traffic[i].value) {
      EXPECT_EQ(got.value, traffic[i].value) << MockHal::to_string(got);
    }
  }
  ASSERT_TRUE(booted.firmware.rings().contains(1));
  EXPECT_EQ(booted.firmware.rings().at(1).priority, 7u);
  EXPECT_EQ(booted.firmware.rings().at(1).owner, context.owner());
  EXPECT_EQ(booted.firmware.boots(), 2);
}

TEST(FirmwareBoot, ColdResetClearsPersistentMemory) {
  Booted booted;
  Context context = booted.device.create_context();
  const LoadedProgram program = context.load(make_program({int8_variable("v", 4, {1, 2, 3, 4})}));
  booted.device.soft_reset();
  EXPECT_EQ(context.read_variable("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
  booted.device.cold_reset();
  EXPECT_TRUE(context.variables().empty());
  Job job = program.create_job();
  job.set_input(0, int8_value({0, 0, 0, 0}));
  job.run();
  EXPECT_EQ(context.read_variable("v").bytes, (std::vector<uint8_t>{1, 2, 3, 4}));
}

TEST(FirmwareImage, RefusesWhatIsNoImageAndSaysWhy) {
  EXPECT_EQ(image_error(MockFirmware::image()).first, ErrorCode::kOk);
  const auto refused = [](const std::vector<uint8_t>& image, const std::string& part) {
    const auto [code, text] = image_error(image);
    EXPECT_EQ(code, ErrorCode::kBadFirmware) << text;
    EXPECT_CONTAINS(text, part);
  };
  refused({1, 2, 3}, "has 3 bytes, but its header alone takes 32");
  refused(image_with([](FirmwareHeader& h) { h.magic = 0x12345678; }), "starts with 0x12345678");
  refused(image_with([](FirmwareHeader& h) { h.code_bytes = 66; }), "has 66 bytes, but 4 to 32768");
  refused(image_with([](FirmwareHeader& h) { h.code_bytes = 0; }), "has 0 bytes");
  refused(MockFirmware::image(32772), "has 32772 bytes, but 4 to 32768");
  refused(image_with([](FirmwareHeader& h) { h.code_bytes = 60; }), "holds 64 bytes of code, but its header says 60");
  refused(image_with([](FirmwareHeader& h) { h.data_bytes = 16388; }), "needs 16388 bytes of data memory");
  std::vector<uint8_t> truncated = MockFirmware::image();
  truncated.resize(truncated.size() - 4);
  refused(truncated, "holds 60 bytes of code, but its header says 64");
  std::vector<uint8_t> damaged = MockFirmware::image();
  damaged.back() ^= 1;
  refused(damaged, "is damaged");
}

TEST(FirmwareImage, RefusesAnotherVersionOfTheContract) {
  const auto [code, text] = image_error(image_with([](FirmwareHeader& h) { h.minor += 3; }));
  EXPECT_EQ(code, ErrorCode::kFirmwareMismatch);
  EXPECT_CONTAINS(
      text, "version " + std::to_string(contract::kContractMajor) + "." + std::to_string(contract::kContractMinor + 3));
}

TEST(FirmwareBoot, ABadImageNeverReachesTheDevice) {
  DeviceOptions options = mock_options();
  options.firmware[40] ^= 1;
  auto hal = std::make_unique<MockHal>(small_machine());
  hal->on_mailbox_write = [](MockHal&, uint32_t offset, uint32_t) { ADD_FAILURE() << "wrote register " << offset; };
  EXPECT_EQ(error_of([&] { static_cast<void>(Device::open(std::move(hal), options)); }).first, ErrorCode::kBadFirmware);
}

TEST(FirmwareBoot, RefusesFirmwareThatSaysItIsAnother) {
  const auto [code, text] = open_error([](MockHal& mock, MockFirmware&) {
    const auto inner = mock.on_mailbox_write;
    mock.on_mailbox_write = [inner](MockHal& m, uint32_t offset, uint32_t value) {
      inner(m, offset, value);
      if (offset == reg::kCpuControl) m.set_register(reg::kFirmwareVersion, 9 << 16 | 5);
    };
  });
  EXPECT_EQ(code, ErrorCode::kFirmwareMismatch);
  EXPECT_CONTAINS(text, "version 9.5");
}

TEST(FirmwareBoot, SaysWhichSelfTestFailed) {
  const auto [code, text] = open_error([](MockHal&, MockFirmware& firmware) {
    firmware.boots_as = contract::FirmwareState::kFailed;
    firmware.self_test = static_cast<uint32_t>(contract::SelfTest::kDataMemory);
  });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "self-test failed: data_memory (1)");
}

TEST(FirmwareBoot, WaitsItsTimeAndNoLonger) {
  MockFirmware* pretended = nullptr;
  auto hal = std::make_unique<MockHal>(small_machine());
  MockFirmware firmware(*hal);
  pretended = &firmware;
  firmware.boots_as = contract::FirmwareState::kBooting;
  const auto [code, text] = error_of([&] { static_cast<void>(Device::open(std::move(hal), mock_options())); });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  // 10 ms of device time and 500,000 cycles of the CPU's clock, both of 10 MHz; a wait takes 1,000.
  EXPECT_CONTAINS(text, "did not get ready (its state is 'booting') within 600000 cycles");
  EXPECT_EQ(pretended->time(), 601'000u);
}

TEST(FirmwareBoot, GivesUpWhenNothingMoves) {
  const auto [code, text] = open_error([](MockHal&, MockFirmware& firmware) {
    firmware.boots_as = contract::FirmwareState::kBooting;
    firmware.cycles_per_wait = 0;
  });
  EXPECT_EQ(code, ErrorCode::kFaultFirmware);
  EXPECT_CONTAINS(text, "nothing in the device moves any more");
}

TEST(FirmwareBoot, RefusesOptionsThatDoNotExist) {
  DeviceOptions options = mock_options();
  options.log_level = 4;
  EXPECT_EQ(open_error([](MockHal&, MockFirmware&) {}, options).first, ErrorCode::kBadOption);
  Booted booted;
  EXPECT_EQ(error_of([&] { static_cast<void>(booted.device.create_context({.priority = 256})); }).first,
            ErrorCode::kBadOption);
}

TEST(FirmwareBoot, NothingOfTheProgramsLiesInTheSharedMemory) {
  Booted booted;
  Context context = booted.device.create_context();
  compiler::Program program = make_program();
  program.workspace_bytes = 600 << 10;
  const LoadedProgram fits = context.load(program);
  const auto [code, text] = error_of([&] { static_cast<void>(context.load(program)); });
  EXPECT_EQ(code, ErrorCode::kDramFull);
  EXPECT_CONTAINS(text, "dram_mib: 2 ");  // 1,248 KiB of programs and 256 KiB shared
}

TEST(FirmwareBoot, FifteenContextsAtATime) {
  Booted booted;
  std::vector<Context> contexts;
  for (int i = 0; i < 15; ++i) contexts.push_back(booted.device.create_context());
  const auto [code, text] = error_of([&] { static_cast<void>(booted.device.create_context()); });
  EXPECT_EQ(code, ErrorCode::kContextsFull);
  EXPECT_CONTAINS(text, "15 contexts");
  contexts.erase(contexts.begin() + 4);
  EXPECT_FALSE(booted.firmware.rings().contains(5));
  contexts.push_back(booted.device.create_context());
  EXPECT_TRUE(booted.firmware.rings().contains(5));
  EXPECT_EQ(contexts.back().owner(), 16);
}

}  // namespace
}  // namespace npu::runtime

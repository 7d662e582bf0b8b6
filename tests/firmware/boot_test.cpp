// SPDX-License-Identifier: Apache-2.0
// Boot: what the firmware tells about itself, and that it refuses what it cannot work with.
#include <functional>

#include "tests/firmware/firmware_fixture.h"

namespace npu::firmware_test {
namespace {

namespace reg = contract::reg;
using contract::SelfTest;

class BootTest : public FirmwareTest {
 protected:
  void expect_failure(SelfTest expected) {
    ASSERT_TRUE(device.run());
    EXPECT_EQ(state(), contract::FirmwareState::kFailed);
    EXPECT_EQ(device.word(reg::kFirmwareState) >> reg::kFirmwareStateDetailLsb, static_cast<uint32_t>(expected));
    EXPECT_NE(device.word(reg::kHostIrqStatus) & reg::kHostIrqStatusFirmwareMask, 0u);
    // Serves nothing.
    driver.ring_doorbell(0);
    ASSERT_TRUE(device.run());
    EXPECT_EQ(driver.header(0).completion_producer, 0u);
  }
  void boot_admin(const std::function<void(contract::Ring&)>& damage, uint64_t address = RingDriver::kShared) {
    contract::Ring header = driver.admin_header(2);
    damage(header);
    driver.boot_with(firmware::image(), header, address);
  }
};

TEST_F(BootTest, GetsReadyAndSaysWhatItIs) {
  boot();
  const auto header = contract::FirmwareHeader::load(firmware::image().data());
  EXPECT_EQ(header.magic, 0x4655504eu);
  EXPECT_EQ(header.code_bytes + contract::FirmwareHeader::kBytes, firmware::image().size());
  EXPECT_EQ(device.word(reg::kFirmwareChecksum), header.checksum);
  EXPECT_EQ(device.word(reg::kFirmwareVersion), device.word(reg::kContractVersion));
  EXPECT_EQ(device.word(reg::kHostIrqStatus), reg::kHostIrqStatusFirmwareMask);
  EXPECT_NE(device.word(reg::kWatchdog), 0u);
  EXPECT_NE(driver.log().find("ready\n"), std::string::npos) << driver.log();
  RecordProperty("boot_instructions", static_cast<int>(device.work.instructions));
}

TEST_F(BootTest, ImageFits) {
  const auto header = contract::FirmwareHeader::load(firmware::image().data());
  EXPECT_LE(header.code_bytes, contract::kCpuCodeBytes);
  EXPECT_LE(header.data_bytes, contract::kCpuDataBytes);
  EXPECT_EQ(header.code_bytes % 4, 0u);
  EXPECT_NE(firmware::symbols().find(" npu_dispatch\n"), std::string_view::npos);
}

TEST_F(BootTest, MapsTheScratchpadAndNothingElse) {
  device.word(reg::region_flags(9)) = 0x13;
  boot();
  EXPECT_EQ(device.word(reg::region_limit(0)), 1u << 20);
  EXPECT_NE(device.word(reg::region_flags(0)), 0u);
  for (uint32_t i = 1; i < reg::kRegionCount; ++i) EXPECT_EQ(device.word(reg::region_flags(i)), 0u) << i;
}

TEST_F(BootTest, RefusesAnotherDevice) {
  device.word(reg::kId) = 1;
  driver.boot(firmware::image());
  expect_failure(SelfTest::kDeviceId);
}

TEST_F(BootTest, RefusesAnotherContract) {
  device.word(reg::kContractVersion) += 1;
  driver.boot(firmware::image());
  expect_failure(SelfTest::kDeviceVersion);
}

TEST_F(BootTest, RefusesContradictingCapabilities) {
  device.word(reg::kCapSpmBytes) += 1;
  driver.boot(firmware::image());
  expect_failure(SelfTest::kCapabilities);
}

TEST_F(BootTest, RefusesARingBeyondMemory) {
  boot_admin([](contract::Ring&) {}, uint64_t{1} << 33);
  expect_failure(SelfTest::kRingAddress);
}

TEST_F(BootTest, RefusesAMisalignedRing) {
  boot_admin([](contract::Ring&) {}, RingDriver::kShared + 4);
  expect_failure(SelfTest::kRingAddress);
}

TEST_F(BootTest, RefusesARingOutsideOfItsSharedMemory) {
  boot_admin([](contract::Ring& ring) { ring.shared_base += 0x1000; });
  expect_failure(SelfTest::kRingAddress);
}

TEST_F(BootTest, RefusesNoRing) {
  boot_admin([](contract::Ring& ring) { ring.magic ^= 1; });
  expect_failure(SelfTest::kRingHeader);
}

TEST_F(BootTest, RefusesOddSizes) {
  boot_admin([](contract::Ring& ring) { ring.entries = 7; });
  expect_failure(SelfTest::kRingHeader);
}

TEST_F(BootTest, RefusesImpossibleIndices) {
  boot_admin([](contract::Ring& ring) { ring.request_producer = RingDriver::kEntries + 1; });
  expect_failure(SelfTest::kRingHeader);
}

TEST_F(BootTest, RefusesAnotherDriver) {
  boot_admin([](contract::Ring& ring) { ring.version += 1; });
  expect_failure(SelfTest::kRingVersion);
}

TEST_F(BootTest, RefusesSharedMemoryBeyondTheDevice) {
  boot_admin([](contract::Ring& ring) { ring.shared_bytes = uint64_t{1} << 40; });
  expect_failure(SelfTest::kSharedMemory);
}

TEST_F(BootTest, RefusesALogBesidesTheSharedMemory) {
  boot_admin([](contract::Ring& ring) { ring.log_base = 0; });
  expect_failure(SelfTest::kLogBuffer);
}

TEST_F(BootTest, RefusesALogOfAnOddSize) {
  boot_admin([](contract::Ring& ring) { ring.log_bytes = 3000; });
  expect_failure(SelfTest::kLogBuffer);
}

TEST_F(BootTest, NeedsNoLog) {
  boot_admin([](contract::Ring& ring) { ring.log_bytes = 0; });
  ASSERT_TRUE(device.run());
  EXPECT_EQ(state(), contract::FirmwareState::kReady);
}

}  // namespace
}  // namespace npu::firmware_test

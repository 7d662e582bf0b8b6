// SPDX-License-Identifier: Apache-2.0
// Compiled programs through the C API: loaded as networks are, and refused where they do not fit.
#include <filesystem>

#include "driver/compiler/compile.h"
#include "driver/graph/file.h"
#include "driver/graph/reader.h"
#include "driver/program_file/program_file.h"
#include "tests/unit/capi/fixture.h"

namespace npu::test {
namespace {

std::vector<uint8_t> compiled_sum(const std::string& machine, bool two_places = false) {
  program_file::ProgramFile file;
  file.capabilities = presets::load_preset(machine).caps;
  file.machine_name = machine;
  file.two_places = two_places;
  compiler::Options options;
  options.schedule.two_places = two_places;
  options.firmware = false;
  const graph::Graph network =
      graph::parse_tosa(std::make_shared<const std::vector<uint8_t>>(running_sum()), "running_sum");
  file.programs = {compiler::compile(network, file.capabilities, options)};
  return program_file::serialise(file);
}

std::string contents(npu_program* program) {
  std::string text;
  ErrorBox error;
  auto info = sized<npu_program_info>();
  EXPECT_OK(error, npu_program_get_info(program, &info, error.out()));
  text += std::to_string(info.dram_bytes).append(" ") + std::to_string(info.command_count).append(" ");
  auto tensor = sized<npu_tensor_info>();
  EXPECT_OK(error, npu_program_input(program, 0, &tensor, error.out()));
  return text + tensor.name + " " + std::to_string(tensor.bytes);
}

TEST(CompiledPrograms, RunAsTheirNetworkDoes) {
  Bench bench;
  const std::vector<uint8_t> file = compiled_sum("nano");
  const std::string path = (std::filesystem::path(testing::TempDir()) / "npu_capi_compiled.npu").string();
  graph::write_file(path, file);
  npu_program *from_memory = nullptr, *from_file = nullptr;
  ASSERT_OK(bench.error,
            npu_program_load_memory(bench.context, file.data(), file.size(), "sum", &from_memory, bench.error.out()));
  ASSERT_OK(bench.error, npu_program_load_file(bench.context, path.c_str(), &from_file, bench.error.out()));
  for (npu_program* program : {from_memory, from_file}) {
    EXPECT_EQ(contents(program), contents(bench.program));
    npu_job* job = nullptr;
    ASSERT_OK(bench.error, npu_job_create(program, nullptr, &job, bench.error.out()));
    const int8_t data[4] = {1, 2, 3, 4};
    ASSERT_OK(bench.error, npu_job_set_input(job, 0, data, sizeof data, bench.error.out()));
    ASSERT_OK(bench.error, npu_job_run(job, bench.error.out()));
    int8_t result[4] = {};
    ASSERT_OK(bench.error, npu_job_output(job, 0, result, sizeof result, bench.error.out()));
    EXPECT_EQ(result[3], 7);
    npu_job_destroy(job);
    npu_program_destroy(program);
  }
  std::filesystem::remove(path);
}

TEST(CompiledPrograms, OfAnotherMachineAreRefused) {
  Bench bench;
  const std::vector<uint8_t> file = compiled_sum("edge");
  npu_program* program = bench.program;
  EXPECT_FAILS(bench.error, NPU_STATUS_CONTRACT_MISMATCH,
               npu_program_load_memory(bench.context, file.data(), file.size(), "sum", &program, bench.error.out()));
  EXPECT_EQ(program, nullptr);
  EXPECT_NE(bench.error.message().find("'edge'"), std::string::npos) << bench.error.message();
}

TEST(CompiledPrograms, NeedContextsThatTheyWereCompiledFor) {
  Bench bench;
  auto options = sized<npu_context_options>();
  options.double_buffer = true;
  npu_context* buffered = nullptr;
  ASSERT_OK(bench.error, npu_context_create(bench.device, &options, &buffered, bench.error.out()));
  for (const bool two_places : {false, true}) {
    const std::vector<uint8_t> file = compiled_sum("nano", two_places);
    npu_program* program = nullptr;
    EXPECT_FAILS(bench.error, NPU_STATUS_WRONG_ORDER,
                 npu_program_load_memory(two_places ? bench.context : buffered, file.data(), file.size(), "sum",
                                         &program, bench.error.out()));
    EXPECT_OK(bench.error, npu_program_load_memory(two_places ? buffered : bench.context, file.data(), file.size(),
                                                   "sum", &program, bench.error.out()));
    npu_program_destroy(program);
  }
  npu_context_destroy(buffered);
}

TEST(CompiledPrograms, ThatAreDamagedAreRefused) {
  Bench bench;
  std::vector<uint8_t> file = compiled_sum("nano");
  npu_program* program = nullptr;
  EXPECT_FAILS(
      bench.error, NPU_STATUS_FILE_DAMAGED,
      npu_program_load_memory(bench.context, file.data(), file.size() / 2, "half", &program, bench.error.out()));
  EXPECT_NE(bench.error.message().find("half"), std::string::npos) << bench.error.message();
  ++file[8];
  EXPECT_FAILS(bench.error, NPU_STATUS_CONTRACT_MISMATCH,
               npu_program_load_memory(bench.context, file.data(), file.size(), nullptr, &program, bench.error.out()));
}

}  // namespace
}  // namespace npu::test

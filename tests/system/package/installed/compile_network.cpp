// SPDX-License-Identifier: Apache-2.0
// Compiles a network with the driver's C++ API and says what came out.
#include <cstdio>

#include "driver/compiler/compile.h"
#include "driver/graph/reader.h"
#include "driver/runtime/runtime.h"
#include "hw/presets/preset.h"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    const npu::presets::Preset machine = npu::presets::load_preset("nano");
    const npu::graph::Graph graph = npu::graph::read_tosa(argv[1]);
    const npu::compiler::Program program = npu::compiler::compile(graph, machine.caps);
    std::printf("%s: %zu words of commands\n", machine.name.c_str(), program.commands.size());
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_status();
  }
  return 0;
}

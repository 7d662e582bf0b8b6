// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "firmware/image.h"
#include "hw/presets/preset.h"

// A warning with -Wall: the part's flags must not make it an error here.
int main() {
  int unused;
  std::printf("%s, firmware of %zu bytes\n", npu::presets::load_preset("nano").name.c_str(),
              npu::firmware::image().size());
}

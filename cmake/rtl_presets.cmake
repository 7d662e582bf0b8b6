# SPDX-License-Identifier: Apache-2.0
# Whose RTL is built, and what reports say that there is RTL of. Coverage is measured on blocks of sizes of their own.
if(NPU_RTL_COVERAGE)
  set(NPU_RTL_PRESETS small)
else()
  set(NPU_RTL_PRESETS nano edge)
endif()

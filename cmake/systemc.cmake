# SPDX-License-Identifier: Apache-2.0
# Debian's SystemC as the target npu_systemc. The library is compiled as C++17 and checks at link time that its users
# are; SC_CPLUSPLUS makes C++20 code ask for that version.
find_library(NPU_SYSTEMC_LIBRARY systemc)
find_path(NPU_SYSTEMC_INCLUDE systemc)
if(NOT NPU_SYSTEMC_LIBRARY OR NOT NPU_SYSTEMC_INCLUDE)
  message(FATAL_ERROR "SystemC was not found: install libsystemc-dev, or run sim/setup.sh")
endif()

add_library(npu_systemc INTERFACE)
target_compile_definitions(npu_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
target_link_libraries(npu_systemc INTERFACE "$<BUILD_INTERFACE:${NPU_SYSTEMC_LIBRARY}>" "$<INSTALL_INTERFACE:systemc>"
                                            Threads::Threads)

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install BUILD --prefix WHERE` puts where: programs and libraries find each other relative to themselves, so
# that the whole may be moved.
#
#   bin/npu                      the program
#   lib/libnpu*.so               driver, simulated device, simulator of the control CPU
#   lib/pkgconfig, lib/cmake     for builds against them: `npu`, `npu_sim`; tosa-npu::npu, tosa-npu::npu_sim
#   include/tosa-npu             npu.h, npu_sim.h, and the contract's registers and structures for C
#   share/tosa-npu               the firmware: image, symbols, and the ELF file for debuggers
include(shared)
include(CMakePackageConfigHelpers)

install(FILES hw/contract/gen/npu_contract.h DESTINATION "${NPU_INSTALL_INCLUDE}")
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(TARGET npu_firmware)
  foreach(kind bin sym elf)
    install(FILES "${PROJECT_BINARY_DIR}/firmware/npu_firmware.${kind}" DESTINATION "${CMAKE_INSTALL_DATADIR}/tosa-npu")
  endforeach()
endif()
if(TARGET npu_iss)
  install(TARGETS npu_iss LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET npu_rtl_module)
  install(TARGETS npu_rtl_module LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
endif()
if(TARGET npu)
  set_target_properties(npu PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS npu RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/tosa-npu")
install(EXPORT tosa-npu NAMESPACE tosa-npu:: FILE tosa-npu-config.cmake DESTINATION "${_package}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config-version.cmake"
                                 VERSION "${NPU_API_MAJOR}.${NPU_API_MINOR}" COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config-version.cmake" DESTINATION "${_package}")

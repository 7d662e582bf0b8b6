# SPDX-License-Identifier: Apache-2.0
# What `cmake --install BUILD --prefix WHERE` puts where: programs and libraries find each other relative to themselves, so
# that the whole may be moved. What is not built is left out and named.
#
#   bin/npu                      the program
#   lib/libnpu*.so               driver, simulated device, simulator of the control CPU, RTL
#   lib/libnpu_*.a               the libraries of the CMake package's components cxx and tlm
#   lib/pkgconfig, lib/cmake     for builds against them: npu, npu_sim; tosa-npu::npu, ::npu_sim, ::cxx, ::tlm
#   include/tosa-npu             npu.h, npu_sim.h, the contract's registers and structures for C, and the C++ headers
#   share/tosa-npu               the firmware: image, symbols, and the ELF file for debuggers; machines; examples
#   share/doc/tosa-npu           README, guide, architecture, reference, licence
include(shared)
include(CMakePackageConfigHelpers)

set(_data "${CMAKE_INSTALL_DATADIR}/tosa-npu")
set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/tosa-npu")
set(_static "${CMAKE_STATIC_LIBRARY_PREFIX}@${CMAKE_STATIC_LIBRARY_SUFFIX}")

# What is built of these, as "target=file;...".
set(_built "")
foreach(target npu libnpu libnpu_sim npu_iss npu_rtl_module ${NPU_PACKAGE_CXX} ${NPU_PACKAGE_TLM})
  if(TARGET ${target})
    get_target_property(_type ${target} TYPE)
    if(NOT _type STREQUAL INTERFACE_LIBRARY)
      list(APPEND _built "${target}=$<TARGET_FILE:${target}>")
    endif()
  endif()
endforeach()
install(CODE "set(NPU_BUILT \"${_built}\")\nset(NPU_BUILD \"${PROJECT_BINARY_DIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/check_built.cmake")

# npu_install_with(target file destination): a file that is of use only with what the target builds.
function(npu_install_with target file destination)
  install(CODE "if(EXISTS \"$<TARGET_FILE:${target}>\")
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${destination}\" TYPE FILE FILES \"${file}\")
endif()")
endfunction()

if(TARGET npu)
  set_target_properties(npu PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS npu RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
endif()
if(TARGET npu_rtl_module)
  install(TARGETS npu_rtl_module LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
endif()

# Component c: the shared libraries of the C API.
set(NPU_FILES_c "")
foreach(name npu npu_sim)
  if(TARGET lib${name})
    get_target_property(_folder lib${name} BINARY_DIR)
    install(TARGETS lib${name} EXPORT tosa-npu-c LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL
            PUBLIC_HEADER DESTINATION "${NPU_INSTALL_INCLUDE}")
    npu_install_with(lib${name} "${_folder}/${name}.pc" "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    list(APPEND NPU_FILES_c "lib${name}.so.${NPU_API_MAJOR}")
  endif()
endforeach()
install(EXPORT tosa-npu-c NAMESPACE tosa-npu:: DESTINATION "${_package}")

# Component cxx: the driver in C++. Component tlm: chip and simulated device in SystemC, which needs cxx.
foreach(component cxx tlm)
  string(TOUPPER ${component} _upper)
  set(NPU_FILES_${component} "")
  if(NOT TARGET npu_${component})
    continue()
  endif()
  foreach(target ${NPU_PACKAGE_${_upper}})
    install(TARGETS ${target} EXPORT tosa-npu-${component} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
    get_target_property(_type ${target} TYPE)
    if(_type STREQUAL STATIC_LIBRARY)
      string(REPLACE "@" ${target} _file "${_static}")
      list(APPEND NPU_FILES_${component} "${_file}")
    endif()
  endforeach()
  install(TARGETS npu_${component} EXPORT tosa-npu-${component})
endforeach()
install(EXPORT tosa-npu-cxx NAMESPACE tosa-npu:: DESTINATION "${_package}")
if(TARGET npu_tlm)
  install(TARGETS npu_iss EXPORT tosa-npu-tlm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
  list(APPEND NPU_FILES_tlm libnpu_iss.so)
  install(EXPORT tosa-npu-tlm NAMESPACE tosa-npu:: DESTINATION "${_package}")
endif()
foreach(folder driver/graph driver/compiler driver/program_file driver/runtime driver/specialise firmware hw/contract hw/engine hw/model hw/presets hw/timing
               sim/platform sim/reference)
  install(DIRECTORY "${folder}/" DESTINATION "${NPU_INSTALL_INCLUDE}/${folder}" FILES_MATCHING PATTERN "*.h"
          PATTERN iss EXCLUDE)
endforeach()

configure_package_config_file(cmake/package.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config.cmake"
                              INSTALL_DESTINATION "${_package}" PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config-version.cmake"
                                 VERSION "${NPU_API_MAJOR}.${NPU_API_MINOR}" COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tosa-npu-config-version.cmake" DESTINATION "${_package}")

install(FILES hw/contract/gen/npu_contract.h DESTINATION "${NPU_INSTALL_INCLUDE}")
if(TARGET npu_firmware)
  foreach(kind bin sym elf)
    install(FILES "${PROJECT_BINARY_DIR}/firmware/npu_firmware.${kind}" DESTINATION "${_data}" OPTIONAL)
  endforeach()
endif()
install(DIRECTORY hw/presets/ DESTINATION "${_data}/machines" FILES_MATCHING PATTERN "*.yaml" PATTERN "README.md")
install(DIRECTORY docs/guide/examples/ DESTINATION "${_data}/examples")
install(FILES LICENSE NOTICE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# SPDX-License-Identifier: Apache-2.0
# How the shared libraries of the C API are built: see driver/capi and sim/capi. cmake/install.cmake installs them.
include(GNUInstallDirs)

# Where headers go: beside each other in a folder of their own, which the pkg-config files name.
set(NPU_INSTALL_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}/tosa-npu")

# The major version of the C API, from its header: libraries of another one have another name.
file(STRINGS "${PROJECT_SOURCE_DIR}/driver/capi/npu.h" _line REGEX "define NPU_API_VERSION_MAJOR")
string(REGEX MATCH "[0-9]+" NPU_API_MAJOR "${_line}")
file(STRINGS "${PROJECT_SOURCE_DIR}/driver/capi/npu.h" _line REGEX "define NPU_API_VERSION_MINOR")
string(REGEX MATCH "[0-9]+" NPU_API_MINOR "${_line}")

# npu_shared_library(name HEADER npu.h SOURCES a.cpp ... LIBS x y [PUBLIC_LIBS z]): lib<name>.so.<major>. Exports what <name>.map
# in the same folder lists and nothing of the static libraries in it; finds the libraries beside it wherever it lies.
function(npu_shared_library name)
  cmake_parse_arguments(ARG "" "HEADER;DESCRIPTION" "SOURCES;LIBS;PUBLIC_LIBS" ${ARGN})
  set(target lib${name})
  set(map "${CMAKE_CURRENT_SOURCE_DIR}/${name}.map")
  add_library(${target} SHARED ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE npu_options ${ARG_LIBS} PUBLIC ${ARG_PUBLIC_LIBS})
  # Users say #include <npu.h>, in the tree as behind an installation.
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>"
                                                 "$<INSTALL_INTERFACE:${NPU_INSTALL_INCLUDE}>")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  if(NOT NPU_SANITIZE AND NOT NPU_SANITIZE_THREAD)
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} VERSION ${NPU_API_MAJOR}.${NPU_API_MINOR} SOVERSION ${NPU_API_MAJOR} EXPORT_NAME ${name}
    PUBLIC_HEADER "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_HEADER}" LINK_DEPENDS "${map}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" INSTALL_RPATH "$ORIGIN")
  add_library(tosa-npu::${name} ALIAS ${target})
  set(NPU_PC_NAME ${name})
  set(NPU_PC_DESCRIPTION "${ARG_DESCRIPTION}")
  set(NPU_PC_REQUIRES "")
  foreach(lib IN LISTS ARG_PUBLIC_LIBS)
    string(REGEX REPLACE "^lib" "" lib "${lib}")
    string(APPEND NPU_PC_REQUIRES " ${lib}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" @ONLY)
endfunction()

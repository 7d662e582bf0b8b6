# SPDX-License-Identifier: Apache-2.0
# Whose RTL is built: that of NPU_RTL_PRESETS, which reports name and tests run, and that of the machine files in
# NPU_RTL_MACHINES. NPU_RTL_NAMES lists all of them by name, NPU_RTL_FILE_name is one's file.
set(NPU_RTL_MACHINES "" CACHE FILEPATH "Machine files (hw/presets/README.md), with ';' between them, whose RTL is built beside that of nano and edge")

set(NPU_RTL_PRESETS nano edge CACHE STRING "Machines of hw/presets whose RTL is built; the tests need nano and edge")
mark_as_advanced(NPU_RTL_PRESETS)
set(NPU_RTL_NAMES)

# npu_rtl_machine(FILE): one more. Its name becomes a part of names of C++.
function(npu_rtl_machine file)
  get_filename_component(name "${file}" NAME_WLE)
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$")
    message(FATAL_ERROR "${file}: the name of a machine with RTL has letters, digits and single '_' between them, and begins with a letter: rename the file")
  endif()
  if(name IN_LIST NPU_RTL_NAMES)
    message(FATAL_ERROR "${file}: there is RTL of a machine '${name}' already (${NPU_RTL_FILE_${name}}): rename the file")
  endif()
  list(APPEND NPU_RTL_NAMES ${name})
  set(NPU_RTL_NAMES ${NPU_RTL_NAMES} PARENT_SCOPE)
  set(NPU_RTL_FILE_${name} "${file}" PARENT_SCOPE)
endfunction()

if(NPU_RTL_COVERAGE)
  npu_rtl_machine("${PROJECT_SOURCE_DIR}/rtl/coverage/small.yaml")  # coverage is measured on blocks of sizes of their own
else()
  foreach(preset ${NPU_RTL_PRESETS})
    npu_rtl_machine("${PROJECT_SOURCE_DIR}/hw/presets/${preset}.yaml")
  endforeach()
  foreach(file ${NPU_RTL_MACHINES})
    npu_rtl_machine("${file}")
  endforeach()
endif()

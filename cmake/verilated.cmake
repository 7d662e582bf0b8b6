# SPDX-License-Identifier: Apache-2.0
# RTL blocks as C++ libraries, made by Verilator.

find_package(verilator HINTS /usr/share/verilator)
if(NOT verilator_FOUND)
  message(FATAL_ERROR "Verilator was not found: install it (sim/setup.sh build does) or build without RTL, -DNPU_WITH_RTL=OFF")
endif()

include(CheckCXXCompilerFlag)
include(machine_file)
include(rtl_machines)

# Vectors of all lanes have hundreds of bytes. The instructions that GCC moves and clears these with begin slowly; the C
# library's functions do not (rtl/README.md, Speed).
set(npu_verilated_options -w)
set(by_library -mmemset-strategy=libcall:-1:noalign -mmemcpy-strategy=libcall:-1:noalign)
check_cxx_compiler_flag("${by_library}" NPU_CXX_HAS_STRING_STRATEGY)
if(NPU_CXX_HAS_STRING_STRATEGY)
  list(APPEND npu_verilated_options ${by_library})
endif()

set(NPU_RTL_THREADS 1 CACHE STRING "Threads of each Verilated block; one is fastest (rtl/README.md, Speed)")

# Takes Verilator's own sources out of a Verilated library into one for all, npu_verilator: they are a third of what there
# is to compile otherwise.
function(npu_share_verilator library)
  get_target_property(own ${library} SOURCES)
  set(shared ${own})
  list(FILTER own EXCLUDE REGEX "/include/verilated[a-z_]*\\.cpp$")
  list(FILTER shared INCLUDE REGEX "/include/verilated[a-z_]*\\.cpp$")
  set_target_properties(${library} PROPERTIES SOURCES "${own}")
  if(NOT TARGET npu_verilator)
    set(verilated "${PROJECT_SOURCE_DIR}/rtl/verilated")
    add_library(npu_verilator STATIC "${verilated}/assertion.cpp")
    target_include_directories(npu_verilator PRIVATE "${PROJECT_SOURCE_DIR}")
    target_include_directories(npu_verilator SYSTEM PUBLIC "${VERILATOR_ROOT}/include" "${VERILATOR_ROOT}/include/vltstd")
    # An assertion that fails ends a trial, not the process.
    target_compile_definitions(npu_verilator PRIVATE VL_USER_STOP)
    target_compile_options(npu_verilator PRIVATE -w -include "${verilated}/verilator_print.h")
    target_link_libraries(npu_verilator PUBLIC Threads::Threads)
  endif()
  target_sources(npu_verilator PRIVATE ${shared})
  target_link_libraries(${library} PUBLIC npu_verilator)
endfunction()

# npu_verilated(BLOCK VARIANT PARAMETERS Lanes=8 ... [LIBS folder ...] [TRACE] [MISTAKE file from to]): the
# static library npu_rtl_BLOCK_VARIANT with the class VBLOCK_VARIANT, of the module npu_BLOCK. Sources are all files of
# rtl/blocks/BLOCK, of the folders of rtl/blocks that LIBS names, and the cells of rtl/lib. MISTAKE replaces a text of
# the source file of this name (a copy of it), for tests that must find out. With NPU_RTL_COVERAGE, all count what of them is
# executed and toggles: libraries of one program must have the same flags.
function(npu_verilated block variant)
  cmake_parse_arguments(ARG "TRACE" "" "PARAMETERS;LIBS;MISTAKE" ${ARGN})
  set(rtl "${PROJECT_SOURCE_DIR}/rtl")
  set(package "${PROJECT_SOURCE_DIR}/hw/contract/gen/npu_contract_pkg.sv")
  file(GLOB sources CONFIGURE_DEPENDS "${rtl}/lib/*.sv" "${rtl}/blocks/${block}/*.sv")
  foreach(lib ${ARG_LIBS})
    file(GLOB more CONFIGURE_DEPENDS "${rtl}/blocks/${lib}/*.sv")
    list(APPEND sources ${more})
  endforeach()
  if(ARG_MISTAKE)
    list(GET ARG_MISTAKE 0 name)
    list(GET ARG_MISTAKE 1 from)
    list(GET ARG_MISTAKE 2 to)
    set(right ${sources})
    list(FILTER right INCLUDE REGEX "/${name}$")
    file(READ "${right}" text)
    string(FIND "${text}" "${from}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "${right} has no text '${from}' to make a mistake of")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
    set(wrong "${CMAKE_CURRENT_BINARY_DIR}/${block}_${variant}/${name}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${right}")
    file(CONFIGURE OUTPUT "${wrong}" CONTENT "${text}" @ONLY)  # written only when it changes
    list(REMOVE_ITEM sources "${right}")
    list(APPEND sources "${wrong}")
  endif()
  # Verilator wants a package before what names it.
  set(packages ${sources})
  list(FILTER packages INCLUDE REGEX "_pkg\\.sv$")
  list(FILTER sources EXCLUDE REGEX "_pkg\\.sv$")
  set(flags -Wall --assert -O3 --x-assign fast --x-initial fast "-I${rtl}/lib" "${rtl}/lib/npu_lint.vlt" "${package}" ${packages})
  foreach(parameter ${ARG_PARAMETERS})
    list(APPEND flags "-G${parameter}")
  endforeach()
  if(NPU_RTL_THREADS GREATER 1)
    list(APPEND flags --threads ${NPU_RTL_THREADS} -Wno-UNOPTTHREADS)  # small blocks have no work for many
  endif()
  set(kind)
  set(slow OPT_SLOW -O1)  # code that runs once
  if(ARG_TRACE)
    list(APPEND kind TRACE_FST)
  endif()
  if(NPU_RTL_COVERAGE)
    list(APPEND kind COVERAGE)
    set(slow OPT_SLOW -O0 OPT_FAST -O1)  # registering the points is long
    # Wider signals, a VPU command's lists as a whole, are not counted.
    list(APPEND flags --coverage-max-width 1024)
  endif()
  set(library npu_rtl_${block}_${variant})
  add_library(${library} STATIC)
  verilate(${library} SOURCES ${sources} TOP_MODULE npu_${block} PREFIX V${block}_${variant} ${kind}
           VERILATOR_ARGS ${flags} ${slow})
  # What Verilator writes is not ours to warn about.
  target_compile_options(${library} PRIVATE ${npu_verilated_options})
  npu_share_verilator(${library})
  get_target_property(folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${library} SYSTEM INTERFACE ${folders})
endfunction()

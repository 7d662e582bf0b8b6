# SPDX-License-Identifier: Apache-2.0
# How every library and test of the project is built.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Where the shared libraries are built, for what opens one at run time (sim/platform/iss_loader.h).
set(CMAKE_BUILD_RPATH "${PROJECT_BINARY_DIR}")

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# A ccache that cannot even say its version would fail each compilation.
find_program(NPU_CCACHE ccache)
set(_ccache_problem "")
if(NPU_CCACHE)
  execute_process(COMMAND "${NPU_CCACHE}" --version RESULT_VARIABLE _ccache_problem OUTPUT_QUIET ERROR_QUIET)
  if(_ccache_problem)
    message(STATUS "${NPU_CCACHE} does not work: compiling without a cache")
  endif()
endif()
if(NPU_CCACHE AND NOT _ccache_problem AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Another clone finds what this one compiled: paths below the source folder count as relative, and the user's language,
  # which changes no more than the compiler's messages, does not count.
  set(_launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true
                CCACHE_SLOPPINESS=locale "${NPU_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
endif()

find_package(Threads REQUIRED)
include(GNUInstallDirs)

add_library(npu_options INTERFACE)
target_compile_features(npu_options INTERFACE cxx_std_20)
target_include_directories(npu_options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tosa-npu>")
# Warnings are this project's own affair, not of those that link its libraries.
if(NPU_WARNINGS_AS_ERRORS)
  set(_werror -Werror)
endif()
set(NPU_WARNINGS -Wall -Wextra -Wpedantic ${_werror})
target_compile_options(npu_options INTERFACE "$<BUILD_INTERFACE:${NPU_WARNINGS}>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Meant for headers: a batch (npu_batches) includes source files, whose classes may use what is theirs alone.
  target_compile_options(npu_options INTERFACE "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>>")
endif()
# No program replaces one function of a library by its own, so that the compiler may inline them though their code is
# position-independent, which the C API's shared library needs.
target_compile_options(npu_options INTERFACE "$<BUILD_INTERFACE:-fno-semantic-interposition>")
if(NPU_SANITIZE)
  target_compile_options(npu_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                               -fno-omit-frame-pointer)
  # The sanitizer calls dlopen in the program's place: only the older of the two kinds of library path counts then.
  target_link_options(npu_options INTERFACE -fsanitize=address,undefined LINKER:--disable-new-dtags)
endif()
if(NPU_SANITIZE_THREAD)
  target_compile_options(npu_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(npu_options INTERFACE -fsanitize=thread)
endif()
if((NPU_SANITIZE OR NPU_SANITIZE_THREAD) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With what sanitizers put in, GCC 12 takes the members of a variant, and values of its own <regex>, for uninitialised.
  target_compile_options(npu_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()

if(NPU_FUZZ)
  target_compile_options(npu_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(NPU_BATCH 12 CACHE STRING "How many source files of a target are compiled as one; 1: each by itself")

# npu_batches(OUT name SOURCE...): the sources of target `name`, NPU_BATCH of them in a generated file that includes them. Most
# of a small file's time goes into headers, which a batch reads once. Unlike CMAKE_UNITY_BUILD, the generated text has no
# absolute path, so that ccache finds what another clone compiled. What is generated, or is not C++, stays by itself.
function(npu_batches out name)
  set(batch)
  set(result)
  set(number 0)
  list(LENGTH ARGN count)
  if(NPU_BATCH LESS 2 OR count LESS 2)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  # As many batches as needed, of about the same size.
  math(EXPR batches "(${count} + ${NPU_BATCH} - 1) / ${NPU_BATCH}")
  math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
  set(text "")
  set(in_batch 0)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${path}" ours)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${path}" generated)
    if(generated OR NOT ours OR NOT source MATCHES "\\.cpp$")
      list(APPEND result "${source}")
      continue()
    endif()
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(APPEND text "#include \"${path}\"\n")
    math(EXPR in_batch "${in_batch} + 1")
    if(in_batch EQUAL size)
      list(APPEND batch "${text}")
      set(text "")
      set(in_batch 0)
    endif()
  endforeach()
  if(text)
    list(APPEND batch "${text}")
  endif()
  foreach(text IN LISTS batch)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}_batch_${number}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)  # written only when it changes
    list(APPEND result "${file}")
    math(EXPR number "${number} + 1")
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# npu_library(name SOURCES a.cpp ... [ALONE b.cpp ...] LIBS x y): a static library of one room. ALONE: sources that are never
# compiled together with others.
function(npu_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;LIBS" ${ARGN})
  npu_batches(sources ${name} ${ARG_SOURCES})
  add_library(${name} STATIC ${sources} ${ARG_ALONE})
  target_link_libraries(${name} PUBLIC npu_options ${ARG_LIBS})
endfunction()

# npu_test(name SOURCES a.cpp ... [ALONE b.cpp ...] LIBS x y [LABELS l] [FIXTURES f] [SHARDS n] [TIMEOUT s] [NIGHTLY c]
#          [SYSTEMC] [NETWORKS]):
# a googletest program. It is one ctest test, or n that share its cases and can run beside each other; SYSTEMC: a test for each
# case, since SystemC elaborates once a process (the program then brings a main of its own). The label defaults to `unit`,
# `unit_long` is for unit tests that smoke leaves out; FIXTURES names the ctest fixtures that must have been set up. NETWORKS: it
# is told the folder of networks, where there is one (NPU_ZOO_DIR); in other programs that path would only miss the compiler's
# cache. TIMEOUT is that of a ctest test. NIGHTLY: a case that runs each night only, in a test of its own; not with SYSTEMC. What
# each case took is left in test-results/ of the build folder.
function(npu_test name)
  cmake_parse_arguments(ARG "SYSTEMC;NETWORKS" "TIMEOUT;SHARDS;NIGHTLY" "SOURCES;ALONE;LIBS;LABELS;FIXTURES" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NPU_SANITIZE OR NPU_SANITIZE_THREAD OR NPU_RTL_COVERAGE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")  # what sanitizers cost, and counting
  endif()
  npu_batches(sources ${name} ${ARG_SOURCES})
  add_executable(${name} ${sources} ${ARG_ALONE})
  target_link_libraries(${name} PRIVATE npu_options ${ARG_LIBS} GTest::gtest GTest::gmock)
  if(ARG_NETWORKS AND NPU_ZOO_DIR)
    target_compile_definitions(${name} PRIVATE NPU_ZOO_DIR="${NPU_ZOO_DIR}")
  endif()
  if(ARG_LABELS MATCHES "^unit")
    add_dependencies(unit_tests ${name})
  endif()
  if(ARG_LABELS STREQUAL "unit")
    add_dependencies(smoke_tests ${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY NPU_TEST_PROGRAMS ${name})
  set(properties LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_FIXTURES)
    list(APPEND properties FIXTURES_REQUIRED ${ARG_FIXTURES})
  endif()
  if(ARG_SYSTEMC)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES PROPERTIES ${properties})
    return()
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  set(filter "")
  if(ARG_NIGHTLY)
    set(filter "--gtest_filter=-${ARG_NIGHTLY}")
    add_test(NAME nightly.${name} COMMAND ${name} --gtest_brief=1 --gtest_filter=${ARG_NIGHTLY})
    set_tests_properties(nightly.${name} PROPERTIES ${properties} LABELS nightly)
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${name})
    if(ARG_SHARDS GREATER 1)
      math(EXPR number "${shard} + 1")
      set(test ${name}_${number})
    endif()
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 ${filter})
    set_tests_properties(${test} PROPERTIES ${properties} ENVIRONMENT
      "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/test-results/${test}.xml;GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# npu_list_test_programs(FILE): writes the paths of all programs of npu_test, a line each, for what asks them for their cases.
function(npu_list_test_programs file)
  get_property(programs GLOBAL PROPERTY NPU_TEST_PROGRAMS)
  list(TRANSFORM programs REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN programs "\n" text)
  file(GENERATE OUTPUT "${file}" CONTENT "${text}\n")
endfunction()

# npu_fuzzer(name SOURCES a.cpp ... LIBS x y): a libFuzzer program; only in a build with NPU_FUZZ.
function(npu_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE npu_options ${ARG_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()

# Tests are there only when all that each of them links is there, so that what is not tested can be built in any case.
if(NPU_BUILD_TESTS)
  find_package(GTest QUIET)
  set(_missing "")
  foreach(target GTest::gtest GTest::gtest_main GTest::gmock)
    if(NOT TARGET ${target})
      list(APPEND _missing ${target})
    endif()
  endforeach()
  if(NOT _missing)
    include(GoogleTest)
    add_custom_target(unit_tests)  # all programs with unit tests; what a sanitizer build makes
    add_custom_target(smoke_tests)  # what `tests/run.sh smoke` runs
  elseif(NPU_FUZZ OR NPU_RTL_COVERAGE)
    message(FATAL_ERROR "googletest is incomplete: there is no ${_missing}; `sim/setup.sh tests` installs it")
  else()
    # For this run only: once googletest is there, the next configuration has the tests.
    list(JOIN _missing ", " _missing)
    message(STATUS "No tests: googletest is incomplete, there is no ${_missing}; `sim/setup.sh tests` installs it")
    set(NPU_BUILD_TESTS OFF)
  endif()
endif()

# SPDX-License-Identifier: Apache-2.0
# NPU_PYTHON: a Python 3 that has PyYAML, for tests only. The first one on PATH may be a version manager's without it while
# Debian's has it, so several are tried.
if(NOT NPU_PYTHON)
  foreach(candidate /usr/bin/python3 python3)
    find_program(found_python NAMES ${candidate} NO_CACHE)
    if(found_python)
      execute_process(COMMAND "${found_python}" -c "import sys, yaml; sys.exit(sys.version_info < (3, 9))"
                      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
      if(status EQUAL 0)
        set(NPU_PYTHON "${found_python}" CACHE FILEPATH "Python 3 with PyYAML, for tests")
        break()
      endif()
    endif()
    unset(found_python)
  endforeach()
endif()

# npu_python_test(name COMMAND script arguments... [LABELS l]): a ctest test that is skipped, with the reason, where there is
# no such Python.
function(npu_python_test name)
  cmake_parse_arguments(ARG "" "" "COMMAND;LABELS" ${ARGN})
  if(NPU_PYTHON)
    add_test(NAME ${name} COMMAND "${NPU_PYTHON}" ${ARG_COMMAND})
  else()
    add_test(NAME ${name} COMMAND sh -c "echo needs Python 3.9 with PyYAML: run sim/setup.sh tests; exit 77")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT 300)
endfunction()

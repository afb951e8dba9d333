# Installs the build into a folder, moves the folder, and uses it from there as a user would: with find_package and
# with pkg-config. Given: BUILD, WORK, CONSUMER, COMPILER, FLAGS, PKG_CONFIG, MPI.
function(must what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_turn program)
  must("${program}" ${CMAKE_COMMAND} -E env RIDGE_CACHE_DIR=${WORK}/cache ${program})
  if(NOT output MATCHES "turned")
    message(FATAL_ERROR "${program} said:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
must("cmake --install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
set(prefix ${WORK}/moved)

must("the installed command" ${prefix}/bin/ridge --help)

# Choices measured on an H200 serve quick plans for it.
must("an explanation for a device of the shipped wisdom" ${CMAKE_COMMAND} -E env --unset=RIDGE_SHIPPED_WISDOM RIDGE_CACHE_DIR=${WORK}/cache
  ${prefix}/bin/ridge fft explain 1024 --batch 16384 --quick --device recorded:h200)
if(NOT output MATCHES "shipped wisdom")
  message(FATAL_ERROR "the installed ridge-wisdom.json is not used: measure again and write it by ridge wisdom ship\n${output}")
endif()

# No installed file may contain the path of the build or source folder.
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc)
if(NOT texts)
  message(FATAL_ERROR "neither a CMake package nor a pkg-config file was installed")
endif()
foreach(text ${texts})
  file(READ ${text} content)
  foreach(folder ${BUILD} ${SOURCE} ${WORK})
    string(FIND "${content}" "${folder}" where)
    if(NOT where EQUAL -1)
      message(FATAL_ERROR "${text} names ${folder}")
    endif()
  endforeach()
  if(content MATCHES "ridge_options|ridge_dependencies")
    message(FATAL_ERROR "${text} leaks a target of the build: ${CMAKE_MATCH_0}")
  endif()
endforeach()

must("configuring with find_package" ${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${WORK}/by-cmake
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${prefix})
must("building with find_package" ${CMAKE_COMMAND} --build ${WORK}/by-cmake)
must_turn(${WORK}/by-cmake/consumer)
if(EXISTS ${WORK}/by-cmake/distributed)
  must_turn(${WORK}/by-cmake/distributed)
elseif(MPI)
  message(FATAL_ERROR "ridge::mpi was not installed")
endif()

if(PKG_CONFIG)
  file(GLOB_RECURSE file ${prefix}/ridge.pc)
  cmake_path(GET file PARENT_PATH folder)
  foreach(mode "" "--static")
    must("pkg-config ${mode}" ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${PKG_CONFIG} ${mode} --cflags --libs ridge)
    separate_arguments(pieces UNIX_COMMAND "${output}")
    separate_arguments(flags UNIX_COMMAND "${FLAGS}")
    must("building with pkg-config ${mode}" ${COMPILER} -std=c++20 ${flags} ${CONSUMER}/main.cpp ${pieces}
      -o ${WORK}/by-pkg-config${mode})
    must_turn(${WORK}/by-pkg-config${mode})
  endforeach()
else()
  message(STATUS "pkg-config is not here: its file was not tried")
endif()

# How every target of ours is compiled.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

# Precompiled headers save a quarter of the first build. AUTO leaves them out where ccache serves several trees at once
# (its base_dir is set): what was compiled with one tree's headers is of no use to another.
set(RIDGE_PCH AUTO CACHE STRING "Precompiled headers: ON, OFF or AUTO")
find_program(CCACHE_PROGRAM ccache)
set(ridge_pch ${RIDGE_PCH})
if(RIDGE_PCH STREQUAL "AUTO")
  set(ridge_pch ON)
  # g++ 12 forgets which of the headers are the system's, and then its false alarms about their strings are errors.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    set(ridge_pch OFF)
  endif()
  if(CCACHE_PROGRAM)
    execute_process(COMMAND ${CCACHE_PROGRAM} --get-config base_dir OUTPUT_VARIABLE ccache_shared ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(ccache_shared)
      set(ridge_pch OFF)
    endif()
  endif()
endif()
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  if(ridge_pch)  # ccache takes such files only when it is told that nothing depends on the time
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  endif()
endif()

# ridge_precompile(TARGET HEADER...): what nearly every file of a target reads. A file with flags of its own cannot use
# it and is left out.
function(ridge_precompile target)
  if(NOT ridge_pch)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(options OR definitions)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
set(ridge_common_headers <algorithm> <cmath> <complex> <cstddef> <cstdint> <functional> <memory> <optional> <span>
  <string> <string_view> <utility> <vector> <fmt/format.h>)

add_library(ridge_options INTERFACE)
target_compile_features(ridge_options INTERFACE cxx_std_20)
# Contraction off: a variant that should equal another to the last bit does; kernels write their FMAs out.
target_compile_options(ridge_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off -fno-math-errno)
# Errors with the compilers the tests know; another one's new warnings must not keep a user from building.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13))
  target_compile_options(ridge_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about "a" + std::string() (GCC bug 105651), and about iterators of nlohmann::json under -O3.
  target_compile_options(ridge_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(RIDGE_SANITIZE)
  target_compile_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g)
  target_link_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE})
endif()

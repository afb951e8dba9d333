# How every target of ours is compiled.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

# Most of a build goes into reading headers and making the same functions of the standard library file after file. A folder
# compiled as one unit does it once: a build from nothing takes half the time, a build after one edit more.
option(RIDGE_UNITY "For builds from nothing: a folder is one unit, and what runs once is optimized less" OFF)

# Precompiled headers save a quarter of the first build. AUTO leaves them out where ccache serves several trees at once
# (its base_dir is set): what was compiled with one tree's headers is of no use to another.
set(RIDGE_PCH AUTO CACHE STRING "Precompiled headers: ON, OFF or AUTO")
find_program(CCACHE_PROGRAM ccache)
set(ridge_pch ${RIDGE_PCH})
if(RIDGE_PCH STREQUAL "AUTO")
  set(ridge_pch ON)
  if(CCACHE_PROGRAM AND NOT DEFINED ENV{CCACHE_DISABLE})
    execute_process(COMMAND ${CCACHE_PROGRAM} --get-config base_dir OUTPUT_VARIABLE ccache_shared ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(ccache_shared)
      set(ridge_pch OFF)
    endif()
  endif()
endif()
# g++ 12 forgets which of the headers are the system's, and what it then wrongly says about their strings are errors: there
# only builds from nothing have them, in which such guesses are none (below).
if(RIDGE_PCH STREQUAL "AUTO" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND NOT RIDGE_UNITY)
  set(ridge_pch OFF)
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
  if(NOT ridge_pch OR NOT TARGET ${target})
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
set(ridge_common_headers <algorithm> <cmath> <complex> <cstddef> <cstdint> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <utility> <vector> <fmt/format.h>)
# What is read from tests and from nearly all that runs once on top of these.
set(ridge_once_headers ${ridge_common_headers} <nlohmann/json.hpp>)

# What is compiled once and runs once: -Og takes two thirds of -O1's time.
set(ridge_optimize_little $<IF:$<BOOL:${RIDGE_UNITY}>,-Og,-O1>)

# ridge_run_once(TARGET REGEX): files that run once a plan or once a command (planning, kernel text, reports, options) move to
# TARGET_once and are optimized less: they compile in half the time, and nobody waits for them. Whatever touches
# samples in loops stays.
function(ridge_run_once target regex)
  if(NOT RIDGE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(once ${sources})
  list(FILTER sources EXCLUDE REGEX ${regex})
  list(FILTER once INCLUDE REGEX ${regex})
  add_library(${target}_once OBJECT ${once})
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS LINK_LIBRARIES POSITION_INDEPENDENT_CODE)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${target}_once PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  target_compile_options(${target}_once PRIVATE $<$<CONFIG:Release>:${ridge_optimize_little}>)
  set_target_properties(${target} PROPERTIES SOURCES "${sources};$<TARGET_OBJECTS:${target}_once>")
endfunction()

# ridge_sanitize_less(TARGET): kernels are thousands of small inlined functions, whose every local the address sanitizer would guard
# and whose every pointer the other one would look at: five times the compiler's time. Their accesses to memory are checked, no more.
# Published transforms of one thread have nothing for the thread sanitizer.
function(ridge_sanitize_less target)
  if(NOT RIDGE_SANITIZE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    # g++ 12 takes minutes over their shuffles with less.
    if(path MATCHES "/fft/historical/classic/v[0-9]+.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O3)
    endif()
    if(RIDGE_SANITIZE MATCHES "thread")
      if(path MATCHES "/fft/historical/classic/v[0-9]+.cpp$")
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
      endif()
    elseif(path MATCHES "/numbers/|/(fcma|shear)_[a-z_]*.cpp$|/short/(fma|neon).cpp$|[/_]kernels(_[a-z]*)?.cpp$|/fft/historical/classic/v[0-9]+.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined
        $<$<CXX_COMPILER_ID:GNU>:--param=asan-stack=0> -fno-sanitize-address-use-after-scope)
    endif()
  endforeach()
endfunction()

# ridge_unity(TARGET [REGEX]): a unit a folder; files that open a namespace to all that follows are a unit with those that open
# the same. Alone stay files with flags of their own, those that Highway reads again for every instruction set, peers (other
# libraries' headers do not mix) and what matches REGEX.
function(ridge_unity target)
  if(NOT RIDGE_UNITY OR NOT TARGET ${target})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated OR NOT EXISTS ${source} OR source MATCHES "/src/cli/peers/" OR (ARGN AND source MATCHES "${ARGN}"))
      continue()
    endif()
    file(STRINGS ${source} alone REGEX "HWY_TARGET_INCLUDE|^void\\* operator new" LIMIT_COUNT 1)
    if(NOT alone)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      file(STRINGS ${source} opened REGEX "^using namespace ")
      string(REGEX REPLACE "using namespace ([a-z0-9_:]+)[^;]*;[^;]*" "_\\1" opened "${opened}")
      string(REGEX REPLACE "[/:;]+" "_" group "${folder}${opened}")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

add_library(ridge_options INTERFACE)
target_compile_features(ridge_options INTERFACE cxx_std_20)
# Contraction off: a variant that should equal another to the last bit does; kernels write their FMAs out.
# In one unit a name may hide that of another file: only single files are told.
target_compile_options(ridge_options INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${RIDGE_UNITY}>>:-Wshadow> -Wconversion
  -Wno-sign-conversion -ffp-contract=off -fno-math-errno)
# Continuous integration turns this on (./test with CI=true, the presets). A user's compiler may warn about anything.
option(RIDGE_WERROR "Treat compiler warnings as errors" OFF)
if(RIDGE_WERROR)
  target_compile_options(ridge_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Wrong about "a" + std::string() (GCC bug 105651), and about iterators of nlohmann::json under -O3.
  target_compile_options(ridge_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Highway 1.0 takes one number at a time for the oldest processors there, which kernels of vectors are not written for.
    target_compile_definitions(ridge_options INTERFACE HWY_BROKEN_EMU128=0)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A loop that it was told is free of dependences and does not vectorize all the same is no fault of ours.
  target_compile_options(ridge_options INTERFACE -Wno-pass-failed)
endif()
if(RIDGE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ridge_options INTERFACE -Wno-subobject-linkage  # takes every file of a unit for a header
    --param=ggc-min-heapsize=524288)  # KiB before it looks for garbage: a tenth of the time
  # What optimizers guess about the standard library's strings with precompiled headers, or in one unit and not in another:
  # errors stay those of the single files.
  foreach(guess array-bounds dangling-pointer free-nonheap-object stringop-overflow stringop-overread use-after-free)
    target_compile_options(ridge_options INTERFACE -Wno-error=${guess})
  endforeach()
endif()
if(RIDGE_SANITIZE)
  target_compile_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  # Kernels once, for the instructions every processor of this kind has: the others are the same lines, at as many minutes again.
  target_compile_definitions(ridge_options INTERFACE HWY_COMPILE_ONLY_STATIC)
  target_link_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE})
endif()

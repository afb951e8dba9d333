# Compiler options of all targets.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

# Most of a build's time is spent on parsing headers and instantiating the same standard-library templates per file.
# Compiling a folder as one unit does this once: a full build takes half the time, a rebuild after one edit takes
# longer.
option(RIDGE_UNITY "For builds from nothing: a folder is one unit, and what runs once is optimized less" OFF)

# Kernels of the host are compiled once per instruction set and chosen at run time; x86-64 has four sets, Arm one.
# native: only this machine's set, for a shorter build (src/filterbank/host/kernels.cpp: 6.5 to 3.6 s with g++ 12).
# sse4: without Highway's emulation for processors before SSE4, a quarter of the code of the Python module. avx2, avx512: that
# set only; a wheel has one set.
set(ridge_targets all)
if(RIDGE_WHEEL)
  set(ridge_targets avx2)
endif()
set(RIDGE_TARGETS ${ridge_targets} CACHE STRING
  "Instruction sets of the host's kernels on x86-64: all, sse4 (and newer), avx2, avx512 or native (this machine's only)")
set(ridge_oldest_target "")
if(RIDGE_TARGETS STREQUAL "sse4" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(ridge_oldest_target HWY_SSE4)
elseif(RIDGE_TARGETS STREQUAL "avx2" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(ridge_oldest_target HWY_AVX2)
elseif(RIDGE_TARGETS STREQUAL "avx512" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(ridge_oldest_target HWY_AVX3)
elseif(RIDGE_TARGETS STREQUAL "native" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_VARIABLE ridge_macros ERROR_QUIET)
  if(ridge_macros MATCHES "__AVX512BW__" AND ridge_macros MATCHES "__AVX512DQ__" AND ridge_macros MATCHES "__AVX512VL__"
     AND ridge_macros MATCHES "__AVX512CD__")
    set(ridge_oldest_target HWY_AVX3)
  elseif(ridge_macros MATCHES "__AVX2__" AND ridge_macros MATCHES "__FMA__" AND ridge_macros MATCHES "__BMI2__" AND ridge_macros MATCHES "__F16C__")
    set(ridge_oldest_target HWY_AVX2)
  endif()
elseif(NOT RIDGE_TARGETS MATCHES "^(all|sse4|avx2|avx512|native)$")
  message(FATAL_ERROR "RIDGE_TARGETS is all, sse4, avx2, avx512 or native, got ${RIDGE_TARGETS}")
endif()

# Precompiled headers save a quarter of the first build. AUTO disables them if ccache serves several trees (its base_dir
# is set), because objects compiled with one tree's headers cannot be reused in another tree.
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
# With precompiled headers g++ 12 forgets which headers are system headers and reports false errors about their strings.
# There AUTO enables them in unity builds only, in which these warnings are not errors (below).
if(RIDGE_PCH STREQUAL "AUTO" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND NOT RIDGE_UNITY)
  set(ridge_pch OFF)
endif()
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  if(ridge_pch)  # ccache accepts such files only with this setting
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  endif()
endif()

# ridge_precompile(TARGET HEADER...): precompiles headers that nearly every file of a target includes. A file with its
# own flags cannot use them and is excluded.
function(ridge_precompile target)
  if(NOT ridge_pch OR NOT TARGET ${target})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  ridge_skip_precompiled(${target})
endfunction()
# ridge_reuse_precompiled(TARGET OTHER): uses the precompiled header of OTHER, whose flags must be the same.
function(ridge_reuse_precompiled target other)
  if(NOT ridge_pch OR NOT TARGET ${target})
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${other})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  ridge_skip_precompiled(${target})
endfunction()
function(ridge_skip_precompiled target)
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
# Additional header of the vector kernels. With several instruction sets Highway includes its own headers once per set.
set(ridge_kernel_headers "")
if(ridge_oldest_target AND NOT RIDGE_TARGETS STREQUAL "sse4")
  set(ridge_kernel_headers ${PROJECT_SOURCE_DIR}/src/base/simd_precompiled.hpp)
endif()
# Additional headers of tests and of nearly all code that runs once.
set(ridge_once_headers ${ridge_common_headers} <nlohmann/json.hpp>)

# For code that is compiled once and runs once: -Og takes two thirds of the compile time of -O1. A wheel should be small: the linker drops
# functions that the module does not call (a unity build links whole folders).
set(ridge_optimize_little $<IF:$<BOOL:${RIDGE_UNITY}>,-Og,-O1>)
if(RIDGE_WHEEL)
  set(ridge_optimize_little -Os)
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

# ridge_run_once(TARGET REGEX...): moves files whose code runs once per plan or per command (planning, kernel text,
# reports, options) to TARGET_once with less optimization, which halves their compile time. Code that processes samples
# in loops stays in TARGET.
function(ridge_run_once target)
  if(NOT RIDGE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(once "")
  foreach(regex ${ARGN})
    set(matching ${sources})
    list(FILTER matching INCLUDE REGEX ${regex})
    list(APPEND once ${matching})
    list(FILTER sources EXCLUDE REGEX ${regex})
  endforeach()
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

# ridge_sanitize_less(TARGET): checks only memory accesses in kernels. They are thousands of small inlined functions;
# guarding every local variable and checking every pointer would take five times the compile time. Single-threaded
# published transforms are not instrumented by the thread sanitizer.
function(ridge_sanitize_less target)
  if(NOT RIDGE_SANITIZE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    # With less optimization g++ 12 takes minutes to compile their shuffles.
    if(path MATCHES "/papers/fft/classic/v[0-9]+.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O3)
    endif()
    if(RIDGE_SANITIZE MATCHES "thread")
      if(path MATCHES "/papers/fft/classic/v[0-9]+.cpp$")
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
      endif()
    elseif(path MATCHES "/numbers/|/(fcma|shear)_[a-z_]*.cpp$|/short/(fma|neon).cpp$|[/_]kernels(_[a-z]*)?.cpp$|/papers/fft/classic/v[0-9]+.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined
        $<$<CXX_COMPILER_ID:GNU>:--param=asan-stack=0> -fno-sanitize-address-use-after-scope)
    endif()
  endforeach()
endfunction()

# ridge_unity(TARGET [REGEX]): compiles each folder as one unit. In bench, check (except check/image), mpi and outside src/, files with a file-scope `using namespace` share a
# unit with those that have the same one. Compiled separately: files with their own flags, files that Highway includes once
# per instruction set, peers (headers of other libraries conflict) and files that match REGEX.
function(ridge_unity target)
  if(NOT RIDGE_UNITY OR NOT TARGET ${target})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} generated)
    if(generated OR NOT EXISTS ${source} OR source MATCHES "/src/bench/peers/" OR (ARGN AND source MATCHES "${ARGN}"))
      continue()
    endif()
    file(STRINGS ${source} alone REGEX "HWY_TARGET_INCLUDE|^void\\* operator new" LIMIT_COUNT 1)
    if(NOT alone)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      # Small folders of one part of a module are one unit together.
      string(REGEX REPLACE "^src/(io|machine|nufft|sar|search|transpose|filterbank|image/methods|image/flow|image/variance)/.*" "src/\\1" folder ${folder})
      string(REGEX REPLACE "^src/stencil/(host|device)/.*" "src/stencil/\\1" folder ${folder})
      string(REGEX REPLACE "^src/stencil/(adjoint|layers|leap|shots)$" "src/stencil/adjoint" folder ${folder})
      string(REGEX REPLACE "^src/image/.*" "src/image" folder ${folder})
      string(REGEX REPLACE "^src/(nufft|sar|transpose)$" "src/search" folder ${folder})
      string(REGEX REPLACE "^src/(stencil/windows|papers/stencil)$" "src/stencil" folder ${folder})
      string(REGEX REPLACE "^src/(machine|io)$" "src/base" folder ${folder})
      string(REGEX REPLACE "^src/place/(runtime|dynamic)$" "src/place" folder ${folder})
      string(REGEX REPLACE "^src/place/report$" "src/place/judge" folder ${folder})
      string(REGEX REPLACE "^src/fft/device/(real_to_real|routes/l2_ring)$" "src/fft/device/pass" folder ${folder})
      string(REGEX REPLACE "^src/fft/host/(mixed|prime|real)$" "src/fft/host/prime" folder ${folder})
      string(REGEX REPLACE "^src/fft/(columns|tensor|panels)$" "src/fft" folder ${folder})
      string(REGEX REPLACE "^src/fft/device/(boxes|problem|routes/[a-z_]+_pass(_tma)?|routes/bluestein)$" "src/fft/device" folder ${folder})
      string(REGEX REPLACE "^src/fft/(device/pass|host/power2)/(text|tangent)$" "src/fft/\\1" folder ${folder})
      string(REGEX REPLACE "^src/(bench|check)/(fft|stencil)$" "src/\\1" folder ${folder})
      string(REGEX REPLACE "^src/device/(opencl|recorded|host)$" "src/device" folder ${folder})
      string(REGEX REPLACE "^src/(codegen|plan|report)$" "src/plan" folder ${folder})
      string(REGEX REPLACE "^src/(cli/(fft|flow|image|stencil|tour)|command)$" "src/command" folder ${folder})
      string(REGEX REPLACE "^src/cli/.*" "src/cli" folder ${folder})
      set(opened "")
      if(NOT folder MATCHES "^src/" OR folder MATCHES "^src/(bench|check|mpi)(/|$)" AND NOT folder STREQUAL "src/check/image")
        file(STRINGS ${source} opened REGEX "^using namespace ")
        string(REGEX REPLACE "using namespace ([a-z0-9_:]+)[^;]*;[^;]*" "_\\1" opened "${opened}")
      endif()
      string(REGEX REPLACE "[/:;]+" "_" group "${folder}${opened}")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

add_library(ridge_options INTERFACE)
target_compile_features(ridge_options INTERFACE cxx_std_20)
if(ridge_oldest_target)
  target_compile_definitions(ridge_options INTERFACE HWY_BASELINE_TARGETS=${ridge_oldest_target})
endif()
if(RIDGE_TARGETS MATCHES "^(avx2|native)$" AND ridge_oldest_target STREQUAL "HWY_AVX2")
  target_compile_definitions(ridge_options INTERFACE HWY_COMPILE_ONLY_STATIC)  # without AVX-512
endif()
if(NOT APPLE)
  target_link_options(ridge_options INTERFACE -Wl,--as-needed)  # every library that is loaded costs time at each start
endif()
# Contraction is off, so that variants can agree to the last bit; kernels write FMAs explicitly. In a unity build a name
# may shadow that of another file, so -Wshadow applies to ordinary builds only.
target_compile_options(ridge_options INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:${RIDGE_UNITY}>>:-Wshadow> -Wconversion
  -Wno-sign-conversion -ffp-contract=off -fno-math-errno)
# Continuous integration enables this (./test with CI=true, the presets). Other compilers may have further warnings.
option(RIDGE_WERROR "Treat compiler warnings as errors" OFF)
if(RIDGE_WERROR)
  target_compile_options(ridge_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False warnings about "a" + std::string() (GCC bug 105651) and about iterators of nlohmann::json at -O3.
  target_compile_options(ridge_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Highway 1.0 uses one lane on the oldest x86 processors, which the vector kernels do not support.
    target_compile_definitions(ridge_options INTERFACE HWY_BROKEN_EMU128=0)
  endif()
endif()
if(RIDGE_WHEEL)
  target_compile_options(ridge_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(ridge_options INTERFACE -Wl,--gc-sections)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Warns about loops marked free of dependences that it does not vectorize, and about std::stable_sort of libstdc++ 12,
  # which calls a function that C++17 deprecates.
  target_compile_options(ridge_options INTERFACE -Wno-pass-failed -Wno-deprecated-declarations)
endif()
if(RIDGE_UNITY AND NOT RIDGE_WERROR)
  # Format strings are checked in ordinary builds and in continuous integration; this saves 3 % of the compile time.
  target_compile_definitions(ridge_options INTERFACE FMT_CONSTEVAL=)
endif()
if(RIDGE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ridge_options INTERFACE -Wno-subobject-linkage  # false warning: treats every file of a unit as a header
    --param=ggc-min-heapsize=524288)  # KiB before garbage collection: saves a tenth of the compile time
  # False warnings about the standard library's strings that depend on precompiled headers or on the composition of a
  # unit: not errors here, but errors in ordinary builds.
  foreach(guess array-bounds dangling-pointer free-nonheap-object stringop-overflow stringop-overread use-after-free)
    target_compile_options(ridge_options INTERFACE -Wno-error=${guess})
  endforeach()
  if(ridge_pch AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(ridge_options INTERFACE -Wno-uninitialized)  # false for intrinsics of a precompiled header
  endif()
endif()
if(RIDGE_SANITIZE)
  target_compile_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  # Compiles kernels for the baseline instruction set only: the others are the same lines and would take as many minutes
  # again.
  target_compile_definitions(ridge_options INTERFACE HWY_COMPILE_ONLY_STATIC)
  target_link_options(ridge_options INTERFACE -fsanitize=${RIDGE_SANITIZE})
endif()

# What this build can use. The core needs Highway, {fmt}, CLI11 and nlohmann-json; everything else is left out where it
# is missing, with a line that says so.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig)
find_package(hwy CONFIG REQUIRED)

add_library(ridge_dependencies INTERFACE)
target_link_libraries(ridge_dependencies INTERFACE
  Threads::Threads fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 hwy::hwy ${CMAKE_DL_LIBS})

# Headers only: both run times are loaded with dlopen, so one binary runs with and without them.
set(RIDGE_HAVE_OPENCL OFF)
if(RIDGE_OPENCL)
  find_path(OPENCL_HEADERS CL/cl.h HINTS ${CUDAToolkit_ROOT}/include /usr/local/cuda/include)
  if(OPENCL_HEADERS)
    set(RIDGE_HAVE_OPENCL ON)
    target_include_directories(ridge_dependencies SYSTEM INTERFACE ${OPENCL_HEADERS})
    target_compile_definitions(ridge_dependencies INTERFACE RIDGE_HAVE_OPENCL=1)
  endif()
endif()
set(RIDGE_HAVE_CUDA OFF)
if(RIDGE_CUDA)
  find_path(CUDA_HEADERS nvrtc.h
    HINTS ${CUDAToolkit_ROOT}/include $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include /usr/local/cuda/include)
  if(CUDA_HEADERS AND EXISTS ${CUDA_HEADERS}/cuda.h)
    set(RIDGE_HAVE_CUDA ON)
    target_include_directories(ridge_dependencies SYSTEM INTERFACE ${CUDA_HEADERS})
    # The headers' folder: NVRTC usually lies beside it, and is looked for there last.
    target_compile_definitions(ridge_dependencies INTERFACE RIDGE_HAVE_CUDA=1 RIDGE_CUDA_HEADERS="${CUDA_HEADERS}")
  endif()
endif()

foreach(part OPENCL CUDA)
  if(RIDGE_HAVE_${part})
    message(STATUS "ridge: ${part} headers found; the run time is looked for when the program starts")
  else()
    message(STATUS "ridge: built without ${part} (headers not found or switched off)")
  endif()
endforeach()

# Flags of the files that use an instruction set beyond the baseline; which of them runs is decided at run time.
set(image_flow_kernels ${CMAKE_CURRENT_LIST_DIR}/flow/host/kernels_neon.cpp
                       ${CMAKE_CURRENT_LIST_DIR}/flow/host/kernels_portable.cpp)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
  set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/flow/host/kernels_neon.cpp APPEND PROPERTY
               COMPILE_OPTIONS -march=armv8.2-a+dotprod)
  set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/flow/host/kernels.cpp APPEND PROPERTY
               COMPILE_DEFINITIONS RIDGE_HAVE_DOT_PRODUCTS=1)
endif()
# GCC's scheduler before register allocation moves the loads of a window together, and then spills most of them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_property(SOURCE ${image_flow_kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-schedule-insns)
endif()

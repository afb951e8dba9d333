# GCC's scheduler before register allocation moves the loads of the FIR's tile together, and then spills half of them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/host/kernels.cpp PROPERTIES COMPILE_OPTIONS -fno-schedule-insns)
endif()

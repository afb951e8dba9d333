# GCC's scheduler before register allocation moves the loads of a register tile together, and then spills half of them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/host/kernels.cpp ${CMAKE_CURRENT_LIST_DIR}/host/products.cpp
                              PROPERTIES COMPILE_OPTIONS "-fno-schedule-insns;-fno-predictive-commoning")
endif()

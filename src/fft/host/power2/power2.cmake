# Flags of the files that use one instruction set beyond the baseline; which of them runs is decided at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
  file(GLOB fcma_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fcma/fcma_*.cpp)
  set_source_files_properties(${fcma_sources} PROPERTIES COMPILE_OPTIONS -march=armv8.3-a)
  # For cores without those instructions. Flags of its own also keep it out of its folder's unit.
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/shear_float.cpp PROPERTIES COMPILE_OPTIONS -mtune=neoverse-n1)
endif()

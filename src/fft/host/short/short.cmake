# As power2.cmake: files of one instruction set beyond the baseline.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
  file(GLOB short_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fcma_*.cpp)
  set_source_files_properties(${short_sources} PROPERTIES COMPILE_OPTIONS -march=armv8.3-a)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/fma.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
endif()

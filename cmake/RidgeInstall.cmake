# Installs the command, the library and its headers, a CMake package and a pkg-config file. All paths are relative, so
# an installed tree can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ridge_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ridge)
install(TARGETS ridge EXPORT ridgeTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ridge
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libridge0 NAMELINK_COMPONENT libridge-dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libridge-dev
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ridge_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ridge)
if(RIDGE_HAVE_MPI)
  install(TARGETS ridge_mpi_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ridge COMPONENT ridge)
  install(TARGETS ridge_mpi EXPORT ridgeMpiTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libridge0 NAMELINK_COMPONENT libridge-dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libridge-dev
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(FILES packaging/ridge-wisdom.json DESTINATION ${CMAKE_INSTALL_LIBDIR}/ridge COMPONENT ridge)
if(RIDGE_KERNELS)
  # Of the variants that the shipped choices name.
  add_custom_command(OUTPUT ridge-kernels.pack COMMAND ${CMAKE_COMMAND} -E env RIDGE_SHIPPED_WISDOM=${PROJECT_SOURCE_DIR}/packaging/ridge-wisdom.json
    $<TARGET_FILE:ridge_command> kernels build ridge-kernels.pack DEPENDS ridge_command packaging/ridge-wisdom.json VERBATIM)
  add_custom_target(ridge_kernels ALL DEPENDS ridge-kernels.pack)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ridge-kernels.pack DESTINATION ${CMAKE_INSTALL_LIBDIR}/ridge COMPONENT ridge-kernels)
endif()
install(FILES include/ridge.h include/ridge.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libridge-c)
install(DIRECTORY include/ridge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libridge-dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A static library passes its link dependencies on to its users; a shared one does not.
get_target_property(ridge_kind ridge TYPE)
if(ridge_kind STREQUAL "STATIC_LIBRARY")
  set(RIDGE_STATIC ON)
  set(RIDGE_PC_REQUIRES "Requires: fmt libhwy")
  set(RIDGE_PC_LIBS "-pthread")
  foreach(library ${CMAKE_DL_LIBS})
    string(APPEND RIDGE_PC_LIBS " -l${library}")
  endforeach()
else()
  set(RIDGE_STATIC OFF)
  set(RIDGE_PC_REQUIRES "")
  set(RIDGE_PC_LIBS "")
endif()

# CMake package.
install(EXPORT ridgeTargets NAMESPACE ridge:: DESTINATION ${ridge_package_folder} COMPONENT libridge-dev)
if(RIDGE_HAVE_MPI)
  install(EXPORT ridgeMpiTargets NAMESPACE ridge:: DESTINATION ${ridge_package_folder} COMPONENT libridge-dev)
endif()
configure_package_config_file(cmake/ridgeConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/package/ridgeConfig.cmake
  INSTALL_DESTINATION ${ridge_package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/package/ridgeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/ridgeConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/package/ridgeConfigVersion.cmake DESTINATION ${ridge_package_folder} COMPONENT libridge-dev)

# pkg-config.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH RIDGE_PC_PREFIX /prefix/${pkgconfig_folder} /prefix)
string(REGEX REPLACE "/$" "" RIDGE_PC_PREFIX "${RIDGE_PC_PREFIX}")
configure_file(cmake/ridge.pc.in ${CMAKE_CURRENT_BINARY_DIR}/package/ridge.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/ridge.pc DESTINATION ${pkgconfig_folder} COMPONENT libridge-dev)

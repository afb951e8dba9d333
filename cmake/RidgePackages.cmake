# Debian packages, five of them, from a build folder that was configured with CMAKE_INSTALL_PREFIX=/usr:
#   cmake --build build --target all ridge_shared && cpack -G DEB --config build/CPackConfig.cmake
#   ridge            the command, its manual page, completion for bash, zsh and fish, the placement compiler
#   libridge0        the library, shared
#   libridge-dev     headers, the library static, CMake and pkg-config files
#   libridge-fftw3   the drop-in for FFTW and the folder of links
#   python3-ridge    the Python package
# Install rules name these components; `cmake --install` without one installs everything except Debian-specific files.

# The shared library of the package, built from the objects of the static one.
get_target_property(kind ridge TYPE)
if(kind STREQUAL "STATIC_LIBRARY")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/packages/empty.cpp CONTENT "")
  add_library(ridge_shared SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/packages/empty.cpp)
  target_link_libraries(ridge_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,ridge>)
  set_target_properties(ridge_shared PROPERTIES OUTPUT_NAME ridge VERSION ${PROJECT_VERSION} SOVERSION 0
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packages)
  install(TARGETS ridge_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libridge0 NAMELINK_COMPONENT libridge-dev-link
    EXCLUDE_FROM_ALL)
endif()

# The command generates its manual page and completion from --help.
set(texts ${CMAKE_CURRENT_BINARY_DIR}/reference)
find_program(GZIP_PROGRAM gzip)
if(NOT CMAKE_CROSSCOMPILING AND GZIP_PROGRAM)
  add_custom_command(OUTPUT ${texts}/ridge.1.gz ${texts}/ridge.bash ${texts}/_ridge ${texts}/ridge.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${texts}
    COMMAND ridge_command manual > ${texts}/ridge.1
    COMMAND ${GZIP_PROGRAM} -9nf ${texts}/ridge.1
    COMMAND ridge_command completion bash > ${texts}/ridge.bash
    COMMAND ridge_command completion zsh > ${texts}/_ridge
    COMMAND ridge_command completion fish > ${texts}/ridge.fish
    DEPENDS ridge_command VERBATIM)
  add_custom_target(ridge_reference ALL DEPENDS ${texts}/ridge.1.gz)
  install(FILES ${texts}/ridge.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ridge)
  install(FILES ${texts}/ridge.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ridge COMPONENT ridge)
  install(FILES ${texts}/_ridge DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ridge)
  install(FILES ${texts}/ridge.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ridge)
endif()

# Copyright file and changelog, which Debian requires in every package.
set(documents ${CMAKE_CURRENT_BINARY_DIR}/packages/documents)
file(MAKE_DIRECTORY ${documents})
configure_file(packaging/copyright ${documents}/copyright COPYONLY)
configure_file(packaging/changelog.in ${documents}/changelog @ONLY)
if(GZIP_PROGRAM)
  execute_process(COMMAND ${GZIP_PROGRAM} -9nkf ${documents}/changelog)
endif()
set(packages ridge libridge0 libridge-dev libridge-fftw3)
if(RIDGE_HAVE_PYTHON)
  list(APPEND packages python3-ridge)
endif()
foreach(package ${packages})
  install(FILES ${documents}/copyright ${documents}/changelog.gz DESTINATION share/doc/${package} COMPONENT ${package} EXCLUDE_FROM_ALL)
  if(EXISTS ${PROJECT_SOURCE_DIR}/packaging/${package}.lintian-overrides)
    install(FILES packaging/${package}.lintian-overrides DESTINATION share/lintian/overrides RENAME ${package} COMPONENT ${package}
      EXCLUDE_FROM_ALL)
  endif()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ridge)
set(CPACK_PACKAGE_VENDOR "Ridgeline")
set(CPACK_PACKAGE_CONTACT "Ridgeline maintainers <maintainers@users.noreply.a-seed-83558da4.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL ${packages} libridge-dev-link)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
foreach(package ${packages})
  string(TOUPPER ${package} upper)
  set(CPACK_COMPONENT_${upper}_GROUP ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
endforeach()
set(CPACK_COMPONENT_LIBRIDGE-DEV-LINK_GROUP libridge-dev)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_RIDGE_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LIBRIDGE0_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRIDGE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRIDGE-FFTW3_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PYTHON3-RIDGE_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_LIBRIDGE0_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRIDGE-FFTW3_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRIDGE-DEV_PACKAGE_DEPENDS "libridge0 (= ${PROJECT_VERSION}), libfmt-dev, libhwy-dev")
set(CPACK_DEBIAN_PYTHON3-RIDGE_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy")
# Packages of the image libraries, which are opened at run time, so that no tool finds them in the files.
set(image_packages "")
find_program(DPKG_PROGRAM dpkg)
set(CFITSIO_LIBRARY_RELEASE ${CFITSIO_LIBRARY})
foreach(format PNG JPEG TIFF CFITSIO)
  if(RIDGE_HAVE_${format} AND DPKG_PROGRAM)
    file(REAL_PATH ${${format}_LIBRARY_RELEASE} file)
    execute_process(COMMAND ${DPKG_PROGRAM} -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9.+-]+)")
      list(APPEND image_packages ${CMAKE_MATCH_1})
    endif()
  endif()
endforeach()
list(JOIN image_packages ", " image_packages)
set(CPACK_DEBIAN_LIBRIDGE0_PACKAGE_RECOMMENDS "${image_packages}")
set(CPACK_DEBIAN_PYTHON3-RIDGE_PACKAGE_RECOMMENDS "${image_packages}")
list(PREPEND image_packages libridge-fftw3 pocl-opencl-icd)
list(JOIN image_packages ", " image_packages)
set(CPACK_DEBIAN_RIDGE_PACKAGE_RECOMMENDS "${image_packages}")
set(CPACK_COMPONENT_RIDGE_DESCRIPTION
  "regular, heavy computations close to the limit of the machine\nThe command: transforms, filter banks, stencils, radar and image operators on\nfiles and pipes, on the host, OpenCL and CUDA devices, with measured ceilings\nand an explanation of every choice.")
set(CPACK_COMPONENT_LIBRIDGE0_DESCRIPTION
  "transforms, filter banks, stencils and image operators\nThe shared library. Plans are chosen by measuring and run near the limit of\nthe machine they find.")
set(CPACK_COMPONENT_LIBRIDGE-DEV_DESCRIPTION
  "transforms, filter banks, stencils and image operators: development files\nHeaders of the C++20 library, the static library, CMake and pkg-config files.")
set(CPACK_COMPONENT_LIBRIDGE-FFTW3_DESCRIPTION
  "drop-in for FFTW 3 on Ridgeline's plans\nThe C interface of FFTW 3 in both precisions, with threads and Fortran\nentries, for LD_PRELOAD, by FFTW's file names, or to link with.")
set(CPACK_COMPONENT_PYTHON3-RIDGE_DESCRIPTION
  "transforms, filter banks, stencils and image operators for Python\nThe functions of scipy.fft, stencils from traced functions, filter banks,\nradar and images for NumPy's arrays.")
include(CPack)

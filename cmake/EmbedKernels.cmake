# Embeds the kernel files src/<module>/**/<name>.cl into the library; device::kernel_text("<module>/<name>")
# (src/device/kernel_text.hpp) returns their text.
#
# ridge_embed_kernels(VARIABLE) creates one source file with all kernels and stores its name in VARIABLE. The same file,
# run as a script when a kernel has changed, writes that source file.
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "," ";" kernels "${RIDGE_KERNELS}")
  set(table "")
  foreach(kernel ${kernels})
    string(REGEX REPLACE "^src/([^/]+)/(.*/)?([^/]+)\\.cl$" "\\1/\\3" name "${kernel}")
    file(READ ${RIDGE_SOURCE_DIR}/${kernel} text)
    string(APPEND table "    {\"${name}\", R\"kernel(${text})kernel\"},\n")
  endforeach()
  file(WRITE ${RIDGE_OUTPUT} "// Written by cmake/EmbedKernels.cmake from the .cl files under src/.
#include \"device/kernel_text.hpp\"

namespace ridge::detail {

const std::map<std::string, std::string, std::less<>>& embedded_kernels() {
  static const std::map<std::string, std::string, std::less<>> kernels{
${table}  };
  return kernels;
}

}  // namespace ridge::detail
")
  return()
endif()

set(RIDGE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(ridge_embed_kernels variable)
  set(output ${PROJECT_BINARY_DIR}/embedded_kernels.cpp)
  file(GLOB_RECURSE kernels RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cl)
  list(JOIN kernels "," names)  # on the command line, so that a removed file is noticed too
  list(TRANSFORM kernels PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DRIDGE_SOURCE_DIR=${PROJECT_SOURCE_DIR} -DRIDGE_KERNELS=${names} -DRIDGE_OUTPUT=${output}
      -P ${RIDGE_EMBED_SCRIPT}
    DEPENDS ${kernels} ${RIDGE_EMBED_SCRIPT}
    COMMENT "Embedding kernels" VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

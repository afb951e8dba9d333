# Compiles files once for float and once for double; ridge::Number is the type. ridge_numbers(SOURCES FILE...) adds the
# units of src/FILE-inl.hpp to the list SOURCES. FILE:3 is compiled in three parts, with ridge::kPart 0, 1 and 2.
function(ridge_numbers sources)
  foreach(entry ${ARGN})
    string(REGEX REPLACE ":.*" "" file ${entry})
    set(parts 0)
    set(says_part "")
    if(entry MATCHES ":([0-9]+)$")
      math(EXPR last "${CMAKE_MATCH_1} - 1")
      foreach(part RANGE 1 ${last})
        list(APPEND parts ${part})
      endforeach()
    endif()
    foreach(number float double)
      foreach(part ${parts})
        set(unit ${PROJECT_BINARY_DIR}/numbers/${file}_${number}.cpp)
        if(part GREATER 0)
          set(unit ${PROJECT_BINARY_DIR}/numbers/${file}_${number}_${part}.cpp)
        endif()
        if(entry MATCHES ":")
          set(says_part "\ninline constexpr int kPart = ${part};")
        endif()
        file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT [[
namespace ridge {
using Number = @number@;@says_part@
}
#include "@file@-inl.hpp"
]])
        list(APPEND ${sources} ${unit})
      endforeach()
    endforeach()
  endforeach()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

ridge_numbers(ridge_sources fft/host/mixed/codelets:3 fft/host/mixed/engine fft/host/power2/simd/simd_engine
  fft/host/power2/tangent/tangent_engine fft/host/real/tiny_table
  papers/stencil/dlt_kernels stencil/host/kernels/linear_kernels stencil/host/kernels/sweep_simd stencil/host/kernels/vector_kernels
  stencil/layers/cpml_rows
  stencil/problems/euler_rows)
# Tangent-form products and sums are meant to be fused; vectors are passed to inlined functions only.
set_source_files_properties(${PROJECT_BINARY_DIR}/numbers/fft/host/power2/tangent/tangent_engine_float.cpp
  ${PROJECT_BINARY_DIR}/numbers/fft/host/power2/tangent/tangent_engine_double.cpp PROPERTIES COMPILE_OPTIONS "-ffp-contract=fast;-Wno-psabi")

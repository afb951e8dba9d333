// Run time of placed programs as text; the build fills it from the named headers.
#pragma once

namespace ridge::place::embedded {

extern const char* const session;  // include/ridge/placed/session.hpp
extern const char* const cuda;     // src/place/runtime/cuda.hpp
extern const char* const opencl;   // src/place/runtime/opencl.hpp

}  // namespace ridge::place::embedded

// Window functions by name.
#pragma once
#include <string>

#include <pybind11/pybind11.h>
#include <ridge/window.hpp>

namespace ridge::python {

inline Window window_named(const std::string& name) {
  constexpr const char* kNames[] = {"none",   "hamming",  "blackman",
                                    "kaiser", "gaussian", "taylor"};  // in the order of the enum
  for (int i = 0; i < 6; ++i) {
    if (name == kNames[i]) return static_cast<Window>(i);
  }
  throw pybind11::value_error("unknown window \"" + name +
                              "\": use none, hamming, blackman, kaiser, gaussian or taylor");
}

}  // namespace ridge::python

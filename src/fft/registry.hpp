// Every way to do a line of n points on this host.
#pragma once
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// Appends what a folder has for lines of n points. Its line in registry.cpp declares one of each type.
template <class T>
using LineLister = void(std::size_t n, std::vector<LineChoice<T>>& choices);
struct LineListers {
  LineLister<float>* for_float;
  LineLister<double>* for_double;

  template <class T>
  LineLister<T>* get() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return for_float;
    } else {
      return for_double;
    }
  }
};

// Best static choice first among those of one folder; the planner orders across them.
template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n);

// What the priors alone would choose: for the parts of larger algorithms.
template <class T>
LineChoice<T> default_choice(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> default_line(std::size_t n);

}  // namespace ridge::fft

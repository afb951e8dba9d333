// Every way to do a line of n points on this host.
#pragma once
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// Best static choice first among those of one folder; the planner orders across them.
template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n);

// What the priors alone would choose: for the parts of larger algorithms.
template <class T>
LineChoice<T> default_choice(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> default_line(std::size_t n);

}  // namespace ridge::fft

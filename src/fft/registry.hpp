// Registry of all variants that transform one line of n points on the host.
#pragma once
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"
#include "plan/lister.hpp"

namespace ridge::fft {

// Appends the variants of a folder for lines of n points. Its line in registry.cpp declares one lister per type.
template <class T>
using LineLister = void(std::size_t n, std::vector<LineChoice<T>>& choices);
using LineListers = planner::Listers<LineLister, float, double>;

// Lists the variants of each folder with its best static choice first; the planner orders across folders.
template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n);

// Returns the best choice by predicted cost alone: for parts of larger algorithms.
template <class T>
LineChoice<T> default_choice(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> default_line(std::size_t n);

}  // namespace ridge::fft

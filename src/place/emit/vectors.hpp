// Innermost loops that the host's compiler may make vectors of.
#pragma once
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::emit {

bool canonical(const Loop& loop);  // its test is its iterator against a bound, as OpenMP wants it
std::vector<int> vector_loops(const Nest& nest, const std::vector<analysis::Verdict>& verdicts);

}  // namespace ridge::place::emit

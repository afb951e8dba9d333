// Finds innermost loops that the host's compiler may vectorize (omp simd).
#pragma once
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::emit {

bool canonical(const Loop& loop);  // the test compares the iterator with a bound, as OpenMP requires
std::vector<int> vector_loops(const Nest& nest, const std::vector<analysis::Verdict>& verdicts);

}  // namespace ridge::place::emit

// What the flow costs, counted as its definition has it: 10 operations a product of the search, 16 and an exponential a
// pair of the filter.
#pragma once
#include <ridge/image.hpp>

namespace ridge::image::flow {

double searched_pixels(const FlowProblem& problem);  // both directions, all levels; half of the finest one's
double filter_pairs(const FlowProblem& problem);
double plain_operations(const FlowProblem& problem);

}  // namespace ridge::image::flow

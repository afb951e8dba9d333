// Cost model of the flow, counted by its definition: 10 operations per product of the search; 16 and an exponential per
// pair of the filter.
#pragma once
#include <ridge/image.hpp>

namespace ridge::image::flow {

double searched_pixels(const FlowProblem& problem);  // both directions, all levels; half the pixels of the finest
double filter_pairs(const FlowProblem& problem);
double plain_operations(const FlowProblem& problem);

}  // namespace ridge::image::flow

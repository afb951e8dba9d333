// Plain search of the flow for any radius and reach.
#pragma once
#include "image/flow/host/kernels.hpp"

namespace ridge::image::flow {

// As Kernels::search, with borders of radius + reach.
void search_general(const SearchJob& job, int radius, int reach, int begin, int end);

}  // namespace ridge::image::flow

#pragma once
#include <cstddef>
#include <string>

namespace ridge::cli {

// Median relative error of the variance by every method, float noise of variance 1 about growing means, and the time of
// each on 8-bit data; a table, and a plot where a name is given.
void run_variance_study(std::size_t window, std::size_t threads, const std::string& plot);

}  // namespace ridge::cli

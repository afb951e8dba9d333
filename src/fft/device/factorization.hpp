// How a length is shared out over passes.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::on_device {

// Factors of a length for that many passes, most even first; none where it has too large a prime.
std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_a_pass);

}  // namespace ridge::fft::on_device

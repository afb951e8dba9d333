// Division of a length into factors, one per pass; padded lengths.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::on_device {

// Factors of a length for that many passes, most even first; empty if a prime factor is too large.
std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_per_pass);

std::vector<std::size_t> padded_lengths(std::size_t n);  // for Bluestein's method, shortest first

}  // namespace ridge::fft::on_device

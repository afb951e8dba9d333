#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft::on_device {

std::vector<std::size_t> padded_lengths(std::size_t n);  // for Bluestein's method, shortest first

}  // namespace ridge::fft::on_device

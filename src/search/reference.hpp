// Plain sums over channels in double, with the delays that a variant applies.
#pragma once
#include <cstdint>
#include <span>

#include "search/layout.hpp"

namespace ridge::search {

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time);

// The same with exact delays: each channel, with its mean behind the row up to `period` samples, is interpolated by the
// periodic sinc of that period, which is even.
double interpolated_sum(const Layout& layout, std::size_t period, const std::uint8_t* in, std::size_t trial,
                        std::size_t time);

}  // namespace ridge::search

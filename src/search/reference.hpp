// Plain sums over channels in double, with the delays that a variant applies.
#pragma once
#include <cstdint>
#include <span>

#include "search/layout.hpp"

namespace ridge::search {

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time);

}  // namespace ridge::search

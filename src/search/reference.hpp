// Plain sums over channels in double, with the delays that a variant applies.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "search/layout.hpp"

namespace ridge::search {

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time);

struct SeriesPlace {
  std::size_t trial = 0, time = 0;
};

// The same with exact delays at some places: each channel, with its mean behind the row up to `period` samples, is
// interpolated by the periodic sinc of that period, which is even. Takes channels x row operations per place.
std::vector<double> interpolated_sums(const Layout& layout, std::size_t period, const std::uint8_t* in,
                                      std::span<const SeriesPlace> places);

}  // namespace ridge::search

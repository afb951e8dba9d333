#include "search/reference.hpp"

namespace ridge::search {

double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time) {
  double sum = 0;
  for (std::size_t c = 0; c < layout.channels; ++c) {
    sum += in[c * layout.row + time + static_cast<std::size_t>(delays[c])];
  }
  return sum;
}

}  // namespace ridge::search

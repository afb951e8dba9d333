// Instantiates the reference transform for double and for pairs of doubles.
#include "fft/reference.hpp"

namespace ridge::fft::reference {

template void transform<double>(const Point<double>*, std::size_t, std::size_t, Point<double>*,
                                const std::vector<Point<double>>&, std::size_t);
template void transform<DoubleDouble>(const Point<DoubleDouble>*, std::size_t, std::size_t, Point<DoubleDouble>*,
                                      const std::vector<Point<DoubleDouble>>&, std::size_t);

}  // namespace ridge::fft::reference

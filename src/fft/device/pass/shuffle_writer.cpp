// Exchange by shuffles, without local memory, for lines whose work-items are lanes of one sub-group.
#include <array>

#include "fft/device/pass/exchange_writer.hpp"

namespace ridge::fft::on_device {

// Transposes a square of points, one row per lane, one bit at a time: lanes that differ in the bit swap the
// off-diagonal elements of their 2 x 2 blocks.
void ExchangeWriter::exchange_by_shuffles() {
  const std::size_t side = stages_.front().radix;
  for (std::size_t bit = 1; bit < side; bit *= 2) {
    text_.open();
    text_.line("const int upper = t & {};", bit);
    for (std::size_t u = 0; u < side; ++u) {
      if ((u & bit) != 0) continue;
      text_.open();
      text_.line("real2 moved = upper ? v[{}] : v[{}];", u, u | bit);
      for (const char* member : {".x", ".y"}) text_.line("moved{0} = SHUFFLE_XOR(moved{0}, {1});", member, bit);
      text_.line("v[{0}] = upper ? moved : v[{0}];", u);
      text_.line("v[{0}] = upper ? v[{0}] : moved;", u | bit);
      text_.close();
    }
    text_.close();
  }
}

}  // namespace ridge::fft::on_device

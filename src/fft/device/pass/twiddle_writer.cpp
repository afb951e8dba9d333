#include "fft/device/pass/twiddle_writer.hpp"

#include <fmt/format.h>

namespace ridge::fft::on_device {

std::string TwiddleWriter::table_product(const std::string& exponent) const {
  return fmt::format("multiply(LOAD_CACHED(tables + {} + ({} >> {})), LOAD_CACHED(tables + {} + ({} & {}u)))",
                     tables_.coarse, exponent, tables_.fine_bits, tables_.fine, exponent,
                     (std::size_t{1} << tables_.fine_bits) - 1);
}

void TwiddleWriter::twiddle(const StageDesign& stage) {
  const std::string line = p_.two_orders() ? "line_out" : "line";
  const bool wide = d_.twiddle->order > (std::uint64_t{1} << 32);
  const char* type = wide ? "ulong" : "uint";
  text_.raw("\n");
  text_.line("// times exp(-2 pi i column k / {})", d_.twiddle->order);
  text_.open();
  text_.line("const {0} column = ({0})({1});", type, p_.table_offset(line, d_.twiddle->column));
  const auto loads = loaded_powers(stage.radix, d_.few_twiddles);
  for (std::size_t m = 0; m < loads.size(); ++m) {
    if (tables_.step_table) {
      text_.line("const real2 w{} = LOAD_CACHED(tables + {} + column);", loads[m],
                 tables_.step + m * d_.twiddle->columns);
    } else {
      text_.line("const real2 w{} = {};", loads[m],
                 table_product(fmt::format("(column * {}u)", loads[m] * stage.butterflies)));
    }
  }
  for (std::size_t round = 0; round < stage.rounds; ++round) {
    p_.open_round(stage, round);
    text_.line("const {0} exponent = column * ({0})i;", type);
    text_.line("const real2 w = {};", table_product("exponent"));
    text_.line("v[{0}] = multiply(v[{0}], w);", round * stage.radix);
    for (std::size_t u = 1; u < stage.radix; ++u) {
      const std::size_t slot = round * stage.radix + u;
      if (!d_.few_twiddles || u < 4) {
        text_.line("v[{0}] = multiply(v[{0}], multiply(w, w{1}));", slot, u);
      } else if (u % 4 == 0) {
        text_.line("const real2 from{0} = multiply(w, w{0});", u);
        text_.line("v[{0}] = multiply(v[{0}], from{1});", slot, u);
      } else {
        text_.line("v[{0}] = multiply(v[{0}], multiply(from{1}, w{2}));", slot, u / 4 * 4, u % 4);
      }
    }
    p_.close_round();
  }
  text_.close();
}

}  // namespace ridge::fft::on_device

#include <set>

#include <fmt/format.h>

#include "fft/device/pass_writer.hpp"

namespace ridge::fft::on_device {

// The lines of a tile stand side by side in local memory: point p of line c at p * lines + c.
void PassWriter::start_landing(const std::string& tile) {
  const std::size_t element = d_.float64 ? 16 : 8, row = d_.lines * element, bytes = d_.points * row;
  const std::string first = d_.lines == 1 ? tile : fmt::format("({} * {}u)", tile, d_.lines);
  const std::string from = fmt::format("in + (in_offset + {})", line_offset(first, d_.load.at));
  if (in_one_run()) {
    text_.line("if (item == 0) LANDING_START(landed, landing, {}, {}u);", from, bytes);
    return;
  }
  text_.line("if (item == 0) LANDING_EXPECT(landed, {}u);", bytes);
  text_.line("GLOBAL const real2* const rows = {};", from);
  text_.line("UNROLL");
  text_.open("for (int p = item; p < {}; p += {})", d_.points, d_.items());
  text_.line("LANDING_PART(landed, landing + p * {}, rows + {}, {}u);", d_.lines,
             scaled_index("p", 0, d_.load.at.point, d_.points), row);
  text_.close();
}

PassText PassWriter::write_ahead() {
  const std::size_t number = d_.float64 ? 8 : 4, bytes = d_.lines * d_.points * 2 * number, local = local_bytes();
  title();
  text_.line("// the next {} in local memory while {} transformed", d_.lines == 1 ? "line lands" : "lines land",
             d_.lines == 1 ? "a line is" : "others are");
  header(std::set<std::size_t>(d_.radices.begin(), d_.radices.end()));
  text_.open("{}", signature());
  text_.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text_.line("LOCAL real2* const landing = (LOCAL real2*)local_block;");
  text_.line("LOCAL real* const local_numbers = local_block + {};", bytes / number);
  if (!d_.split) text_.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text_.line("LOCAL ulong* const landed = (LOCAL ulong*)(local_block + {});", (local - 16) / number);
  text_.line("const int item = LOCAL_ID(0);");
  text_.line("real2 v[{}];", held_);
  text_.line("if (item == 0) LANDING_OPEN(landed);");
  text_.line("BARRIER();");
  text_.open();
  start_landing("GROUP_ID(0)");
  text_.close();
  text_.line("uint parity = 0;");
  text_.open("for (uint tile = GROUP_ID(0); tile * {}u < lines; tile += GROUPS(0))", d_.lines);
  group_ = "tile";
  place_items(d_.load_order, "");
  if (two_orders()) place_items(d_.store_order, "_out");
  text_.line("LANDING_WAIT(landed, parity);");
  text_.line("parity ^= 1;");
  load();
  text_.line("BARRIER();");
  text_.line("const uint next = tile + GROUPS(0);");
  text_.open("if (next * {}u < lines)", d_.lines);
  start_landing("next");
  text_.close();
  stages();
  store();
  text_.close();
  text_.close();
  return {{.name = fmt::format("fft {} points, the next ahead", d_.points), .text = text_.str()}, local};
}

}  // namespace ridge::fft::on_device

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "fft/device/pass_writer.hpp"

namespace ridge::fft::on_device {

std::size_t tile_rows(std::size_t points) { return std::min(points, kMostTileRows); }

void PassWriter::tile_place(const std::string& line, const Address& at) {
  Address within = at, array = at;
  within.line.back() = 0;
  std::fill(array.line.begin(), array.line.end(), 0);
  array.line.back() = 1;
  text_.line("const int column = 2 * (int)({});", line_offset(line, within));
  text_.line("const int array = (int)({});", line_offset(line, array));
}

void PassWriter::store_tile(const StageDesign& last) {
  const std::size_t half = d_.length / 2;
  text_.raw("\n");
  text_.line("// the tile leaves by itself, half by half through local memory");
  for (const std::size_t part : {0, 1}) {
    if (part > 0) text_.line("if (item == 0) TILES_READ();");
    text_.line("BARRIER();");
    for (std::size_t round = 0; round < last.rounds; ++round) {
      open_round(last, round);
      for (std::size_t u = part * last.radix / 2; u < (part + 1) * last.radix / 2; ++u) {
        const std::size_t constant = u * last.butterflies;
        const std::string place = constant == 0 ? "i" : fmt::format("i + {}", constant);
        const std::string value = natural(fmt::format("v[{}]", round * last.radix + u), place);
        text_.line("tile_points[i * {0} + {1} + {2}] = {3};", d_.lines, (constant - part * half) * d_.lines, c(last),
                   store_factored(value, "i", constant));
      }
      close_round();
    }
    text_.line("TILES_WRITTEN();");
    text_.line("BARRIER();");
    text_.open("if (item == 0)");
    tile_place(fmt::format("(tile * {}u)", d_.lines), d_.store.at);
    for (std::size_t p = 0; p < half; p += tile_rows(half)) {
      text_.line("TILE_STORE(out_map, column, {}, array, tile_points + {});", part * half + p, p * d_.lines);
    }
    text_.close();
  }
}

// The lines of a tile stand side by side in local memory: point p of line c at p * lines + c.
void PassWriter::start_landing(const std::string& tile) {
  const std::size_t element = d_.float64 ? 16 : 8, row = d_.lines * element, bytes = d_.points * row;
  const std::string first = d_.lines == 1 ? tile : fmt::format("({} * {}u)", tile, d_.lines);
  const std::string from = fmt::format("in + (in_offset + {})", line_offset(first, d_.load.at));
  if (d_.load.mapped) {
    text_.open("if (item == 0)");
    text_.line("LANDING_EXPECT(landed, {}u);", bytes);
    tile_place(first, d_.load.at);
    for (std::size_t p = 0; p < d_.points; p += tile_rows(d_.points)) {
      text_.line("LANDING_TILE(landed, landing + {}, in_map, column, {}, array);", p * d_.lines, p);
    }
    text_.close();
    return;
  }
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
  if (d_.store.mapped) text_.line("LOCAL real2* const tile_points = (LOCAL real2*)local_numbers;");
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
  if (d_.store.mapped) text_.line("if (item == 0) TILES_READ();");
  text_.line("BARRIER();");
  text_.line("const uint next = tile + GROUPS(0);");
  text_.open("if (next * {}u < lines)", d_.lines);
  start_landing("next");
  text_.close();
  stages();
  store();
  text_.close();
  if (d_.store.mapped) text_.line("if (item == 0) TILES_STORED();");
  text_.close();
  return {{.name = fmt::format("fft {} points, the next ahead", d_.points), .text = text_.str()}, local};
}

}  // namespace ridge::fft::on_device

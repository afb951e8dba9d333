#include <fmt/format.h>

#include "fft/device/pass_writer.hpp"

namespace ridge::fft::on_device {

PassText PassWriter::write_ahead() {
  const std::size_t number = d_.float64 ? 8 : 4, bytes = d_.points * 2 * number, local = local_bytes();
  title();
  text_.line("// the next line lands in local memory while a line is transformed");
  header(std::set<std::size_t>(d_.radices.begin(), d_.radices.end()));
  text_.open("{}", signature());
  text_.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text_.line("LOCAL real2* const landing = (LOCAL real2*)local_block;");
  text_.line("LOCAL real* const local_numbers = local_block + {};", bytes / number);
  if (!d_.split) text_.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text_.line("LOCAL ulong* const landed = (LOCAL ulong*)(local_block + {});", (local - 16) / number);
  text_.line("const int item = LOCAL_ID(0), t = item, c = 0, here = 1;");
  text_.line("real2 v[{}];", held_);
  const auto start = [&](const std::string& line) {
    text_.line("LANDING_START(landed, landing, in + (in_offset + {}), {}u);", line_offset(line, d_.load.at), bytes);
  };
  text_.open("if (item == 0)");
  text_.line("LANDING_OPEN(landed);");
  start("GROUP_ID(0)");
  text_.close();
  text_.line("BARRIER();");
  text_.line("uint parity = 0;");
  text_.open("for (uint line = GROUP_ID(0); line < lines; line += GROUPS(0))");
  text_.line("LANDING_WAIT(landed, parity);");
  text_.line("parity ^= 1;");
  load();
  text_.line("BARRIER();");
  text_.line("const uint next = line + GROUPS(0);");
  text_.open("if (item == 0 && next < lines)");
  start("next");
  text_.close();
  stages();
  store();
  text_.close();
  text_.close();
  return {{.name = fmt::format("fft {} points, the next ahead", d_.points), .text = text_.str()}, local};
}

// The points of the tile whose `line` is in scope; those of lines that are not there stay what they are.
void PassWriter::copy_ahead() {
  const StageDesign& first = stages_.front();
  text_.open();
  load_pointers();
  for (std::size_t round = 0; round < first.rounds; ++round) {
    open_round(first, round, "here");
    for (std::size_t s = 0; s < first.radix; ++s) {
      const std::string at = scaled_index("i", s * first.butterflies, d_.load.at.point, d_.points);
      text_.line("{}(landing + {} + item, from + ({}));", d_.float64 ? "COPY_AHEAD_16" : "COPY_AHEAD_8",
                 (round * first.radix + s) * d_.items(), at);
    }
    close_round();
  }
  text_.close();
  text_.line("COPIES_CLOSE();");
}

PassText PassWriter::write_tiles_ahead() {
  const std::size_t number = d_.float64 ? 8 : 4, local = local_bytes();
  const StageDesign& first = stages_.front();
  title();
  text_.line("// the next tile's points come while a tile is transformed, each work-item's own");
  header(std::set<std::size_t>(d_.radices.begin(), d_.radices.end()));
  text_.open("{}", signature());
  text_.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text_.line("LOCAL real2* const landing = (LOCAL real2*)local_block;");
  text_.line("LOCAL real* const local_numbers = local_block + {};", landing_elements() * 2);
  if (!d_.split) text_.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text_.line("const int item = LOCAL_ID(0);");
  text_.line("const uint tiles = (lines + {}u) / {}u;", d_.lines - 1, d_.lines);
  text_.line("real2 v[{}];", held_);
  text_.open();
  place_items(d_.load_order, "");
  copy_ahead();
  text_.close();
  group_ = "tile";
  text_.open("for (uint tile = GROUP_ID(0); tile < tiles; tile += GROUPS(0))");
  place_items(d_.load_order, "");
  if (two_orders()) place_items(d_.store_order, "_out");
  text_.line("COPIES_WAIT(0);");
  text_.line("BARRIER();  // others may still read what this one will exchange into");
  for (std::size_t round = 0; round < first.rounds; ++round) {
    open_round(first, round);
    for (std::size_t s = 0; s < first.radix; ++s) {
      const std::size_t slot = round * first.radix + s;
      const std::string value = fmt::format("landing[{} + item]", slot * d_.items());
      text_.line("v[{}] = {};", slot, inverse() ? fmt::format("exchanged({})", value) : value);
    }
    close_round();
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (i > 0) exchange(i - 1);
    stage(i);
    if (i > 0) continue;
    // The points have gone into the first butterflies: their places are free.
    text_.open("if (tile + GROUPS(0) < tiles)");
    group_ = "(tile + GROUPS(0))";
    place_items(d_.load_order, "");
    copy_ahead();
    group_ = "tile";
    text_.close();
  }
  store();
  text_.close();
  text_.close();
  return {{.name = fmt::format("fft {} points, the next tile ahead", d_.points), .text = text_.str()}, local};
}

}  // namespace ridge::fft::on_device

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

}  // namespace ridge::fft::on_device

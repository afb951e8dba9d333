// The second half of a cluster's kernel for real lines of n pairs, n = n1 n2. Value k of the transform of pairs needs
// value n - k: row k1 needs row n1 - k1, read backwards. A group has the rows of n1 / 2 / groups pairs, the first of
// which are rows 0 and n1 / 2, their own mirrors. The rows' values meet in local memory, and a work-item takes two at a
// time.
#include "fft/device/pass_writer.hpp"

#include <fmt/format.h>

#include "fft/device/butterfly.hpp"

namespace ridge::fft::on_device {

// `k` is the row; the first half of a group's rows are rows, the second their mirrors.
void PassWriter::to_row_or_mirror(std::size_t lines, std::size_t pitch, std::size_t slot) {
  const std::size_t rows = d_.length, pairs = lines / 2;
  text_.line("const int pair = k < {0} ? k : ({1} - k) % {0};", rows / 2, rows);
  text_.line("STORE_PEER(received + ((pair % {0} + (k < {1} ? 0 : {0})) * {2} + column), pair / {0}, v[{3}]);", pairs,
             rows / 2, pitch, slot);
}

void PassWriter::real_row_results(std::size_t pitch) {
  const StageDesign& last = stages_.back();
  text_.raw("\n");
  text_.line("// rows and mirrors meet in local memory");
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.line("received[{} * {} + i + {}] = v[{}];", c(last), pitch, u * last.butterflies, round * last.radix + u);
    }
    close_round();
  }
  text_.line("BARRIER();");
}

void PassWriter::real_values(std::uint64_t step, const std::string& k, const std::string& a, const std::string& b) {
  const std::uint64_t n = d_.twiddle->order / 2;
  const std::string half = literal(0.5 * d_.scale, d_.float64);
  const char* type = d_.twiddle->order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
  text_.line("const {} k = {};", type, k);
  text_.line("const real2 a = {}, b = conjugate({});", a, b);
  text_.line("const real2 w = {};", table_product("k"));
  text_.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
  text_.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), w);");
  text_.line("STORE(to + {}, add(even, odd));", scaled_index("k", 0, step, 2 * n));
  text_.line("STORE(to + {}, conjugate(subtract(even, odd)));",
             scaled_index(fmt::format("({} - k)", n), 0, step, 2 * n));
}

void PassWriter::write_real_rows(std::size_t pitch, std::size_t groups) {
  const std::size_t pairs = d_.lines / 2, rows = d_.lines * groups, length = d_.length, middle = length / 2;
  const std::size_t units = pairs * length, turns = (units + d_.items() - 1) / d_.items();
  const std::uint64_t step = d_.store.at.point / rows;  // from one value of the spectrum to the next
  text_.open();
  rows_received(pitch);
  real_row_results(pitch);
  text_.raw("\n");
  text_.line("// from the spectrum of pairs to that of the samples");
  text_.line("const uint rank = GROUP_ID(0) % {}u, whole_line = GROUP_ID(0) / {}u;", groups, groups);
  Address line_at = d_.store.at;
  line_at.line.erase(line_at.line.begin());
  std::string at;
  std::uint64_t divided = 1;
  for (std::size_t digit = 0; digit < line_at.line.size(); ++digit) {
    std::string value = fmt::format("whole_line / {}u", divided);
    if (digit + 1 < line_at.line.size()) value += fmt::format(" % {}u", d_.counts[digit + 1]);
    at += fmt::format(" + (ulong)({}) * {}ul", value, line_at.line[digit]);
    divided *= d_.counts[digit + 1];
  }
  text_.line("GLOBAL real2* const to = out + (out_offset{});", at);
  text_.line("UNROLL");
  text_.open("for (int turn = 0; turn < {}; ++turn)", turns);
  text_.line("const int unit = item + turn * {}, j = unit % {}, place = unit / {};", d_.items(), pairs, pairs);
  units % d_.items() == 0 ? text_.open() : text_.open("if (unit < {})", units);
  text_.line("int row = (int)rank * {} + j, from = j, k2 = place, mirror_from = j + {}, mirror = {} - place;", pairs,
             pairs, length - 1);
  // Rows 0 and n1 / 2: the places of the first half for one, of the second for the other.
  text_.open("if (row == 0)");
  text_.open("if (place < {})", (length + 1) / 2);
  text_.line("mirror_from = 0;");
  text_.line("mirror = place == 0 ? 0 : {} - place;", length);
  text_.close();
  text_.open("else");
  text_.line("row = {};", rows / 2);
  text_.line("from = mirror_from = {};", pairs);
  text_.line("k2 = place - {};", (length + 1) / 2);
  text_.line("mirror = {} - k2;", length - 1);
  text_.close();
  text_.close();
  real_values(step, fmt::format("row + k2 * {}", rows), fmt::format("received[from * {} + k2]", pitch),
              fmt::format("received[mirror_from * {} + mirror]", pitch));
  text_.close();
  text_.close();
  text_.line("// what is its own mirror");
  text_.open("if (rank == 0 && item == 0)");
  if (length % 2 == 0) {
    real_values(step, fmt::format("{}", middle * rows), fmt::format("received[{}]", middle),
                fmt::format("received[{}]", middle));
  } else {
    real_values(step, fmt::format("{}", rows / 2 + middle * rows), fmt::format("received[{}]", pairs * pitch + middle),
                fmt::format("received[{}]", pairs * pitch + middle));
  }
  text_.close();
  text_.close();
}

}  // namespace ridge::fft::on_device

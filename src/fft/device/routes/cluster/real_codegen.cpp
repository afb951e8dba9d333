// Row phase of a cluster kernel for real lines of n pairs, n = n1 n2. Value k of the transform of pairs needs value n -
// k: row k1 needs row n1 - k1, read backwards. A group holds n1 / 2 / groups pairs of rows, the first of which are rows
// 0 and n1 / 2, their own mirrors. The row results are exchanged in local memory, and a work-item combines two at a
// time.
#include "codegen/text.hpp"
#include "fft/device/routes/cluster/cluster.hpp"

#include <fmt/format.h>

namespace ridge::fft::on_device {

// `k` is the row index. The first half of a group's memory holds rows, the second half their mirrors.
void send_to_row_or_mirror(PassWriters& pass, std::size_t lines, std::size_t pitch, std::size_t slot) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const std::size_t rows = d.length, pairs = lines / 2;
  text.line("const int pair = k < {0} ? k : ({1} - k) % {0};", rows / 2, rows);
  text.line("TO_PEER(PEER(pair / {0}), received + ((pair % {0} + (k < {1} ? 0 : {0})) * {2} + column), v[{3}]);", pairs,
            rows / 2, pitch, slot);
}

namespace {

void real_row_results(PassWriters& pass, std::size_t pitch, bool reuse_buffer) {
  PassContext& context = pass.context;
  codegen::Text& text = context.source;
  const StageDesign& last = context.stages.back();
  text.raw("\n");
  text.line("// exchanges rows and their mirrors through local memory");
  if (reuse_buffer) context.local_free();
  for (std::size_t round = 0; round < last.rounds; ++round) {
    context.open_round(last, round);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text.line("received[{} * {} + i + {}] = v[{}];", context.c(last), pitch, u * last.butterflies,
                round * last.radix + u);
    }
    context.close_round();
  }
  text.line("BARRIER();");
}

void real_values(PassWriters& pass, std::uint64_t step, const std::string& k, const std::string& a,
                 const std::string& b) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const std::uint64_t n = d.twiddle->order / 2;
  const std::string half = codegen::literal(0.5 * d.scale, d.float64);
  const char* type = d.twiddle->order > (std::uint64_t{1} << 32) ? "ulong" : "uint";
  text.line("const {} k = {};", type, k);
  text.line("const real2 a = {}, b = conjugate({});", a, b);
  text.line("const real2 w = {};", pass.twiddle.table_product("k"));
  text.line("const real2 even = scaled(add(a, b), {0}), difference = scaled(subtract(a, b), {0});", half);
  text.line("const real2 odd = multiply(make_real2(difference.y, -difference.x), w);");
  text.line("STORE(to + {}, add(even, odd));", PassContext::scaled_index("k", 0, step, 2 * n));
  text.line("STORE(to + {}, conjugate(subtract(even, odd)));",
            PassContext::scaled_index(fmt::format("({} - k)", n), 0, step, 2 * n));
}

}  // namespace

void write_real_rows(PassWriters& pass, std::size_t pitch, std::size_t groups, bool reuse_buffer) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  const std::size_t pairs = d.lines / 2, rows = d.lines * groups, length = d.length, middle = length / 2;
  const std::size_t units = pairs * length, iterations = (units + d.items() - 1) / d.items();
  const std::uint64_t step = d.store.at.point / rows;  // stride of the spectrum's values
  text.open();
  load_received_rows(pass, pitch);
  real_row_results(pass, pitch, reuse_buffer);
  text.raw("\n");
  text.line("// from the spectrum of pairs to that of the samples");
  text.line("const uint rank = GROUP_ID(0) % {}u, whole_line = GROUP_ID(0) / {}u;", groups, groups);
  Address line_at = d.store.at;
  line_at.line.erase(line_at.line.begin());
  std::string at;
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < line_at.line.size(); ++dimension) {
    std::string value = fmt::format("whole_line / {}u", divided);
    if (dimension + 1 < line_at.line.size()) value += fmt::format(" % {}u", d.counts[dimension + 1]);
    at += fmt::format(" + (ulong)({}) * {}ul", value, line_at.line[dimension]);
    divided *= d.counts[dimension + 1];
  }
  text.line("GLOBAL real2* const to = out + (out_offset{});", at);
  text.line("UNROLL");
  text.open("for (int iteration = 0; iteration < {}; ++iteration)", iterations);
  text.line("const int unit = item + iteration * {}, j = unit % {}, place = unit / {};", d.items(), pairs, pairs);
  units % d.items() == 0 ? text.open() : text.open("if (unit < {})", units);
  text.line("int row = (int)rank * {} + j, from = j, k2 = place, mirror_from = j + {}, mirror = {} - place;", pairs,
            pairs, length - 1);
  // Rows 0 and n1 / 2: one uses the first half of the memory, the other the second.
  text.open("if (row == 0)");
  text.open("if (place < {})", (length + 1) / 2);
  text.line("mirror_from = 0;");
  text.line("mirror = place == 0 ? 0 : {} - place;", length);
  text.close();
  text.open("else");
  text.line("row = {};", rows / 2);
  text.line("from = mirror_from = {};", pairs);
  text.line("k2 = place - {};", (length + 1) / 2);
  text.line("mirror = {} - k2;", length - 1);
  text.close();
  text.close();
  real_values(pass, step, fmt::format("row + k2 * {}", rows), fmt::format("received[from * {} + k2]", pitch),
              fmt::format("received[mirror_from * {} + mirror]", pitch));
  text.close();
  text.close();
  text.line("// the value that is its own mirror");
  text.open("if (rank == 0 && item == 0)");
  if (length % 2 == 0) {
    real_values(pass, step, fmt::format("{}", middle * rows), fmt::format("received[{}]", middle),
                fmt::format("received[{}]", middle));
  } else {
    real_values(pass, step, fmt::format("{}", rows / 2 + middle * rows),
                fmt::format("received[{}]", pairs * pitch + middle),
                fmt::format("received[{}]", pairs * pitch + middle));
  }
  text.close();
  text.close();
}

}  // namespace ridge::fft::on_device

// Kernel text of persistent passes that prefetch the next lines or tiles by asynchronous copies.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"

namespace ridge::fft::on_device {

std::size_t tile_rows(std::size_t points) { return std::min(points, kMostTileRows); }

void tile_place(const PassContext& pass, const std::string& line, const Address& at) {
  Address within = at, array = at;
  within.line.back() = 0;
  std::fill(array.line.begin(), array.line.end(), 0);
  array.line.back() = 1;
  pass.source.line("const int column = 2 * (int)({});", pass.line_offset(line, within));
  pass.source.line("const int array = (int)({});", pass.line_offset(line, array));
}

namespace {

// Local memory layout of a tile: point p of line c is at p * lines + c.
void start_copy(const PassContext& pass, const std::string& tile) {
  const PassDesign& d = pass.design;
  codegen::Text& text = pass.source;
  const std::size_t element = d.float64 ? 16 : 8, row = d.lines * element, bytes = d.points * row;
  const std::string first = d.lines == 1 ? tile : fmt::format("({} * {}u)", tile, d.lines);
  const std::string from = fmt::format("in + (in_offset + {})", pass.line_offset(first, d.load.at));
  if (d.load.mapped) {
    text.open("if (item == 0)");
    text.line("COPY_BARRIER_EXPECT(arrived, {}u);", bytes);
    tile_place(pass, first, d.load.at);
    for (std::size_t p = 0; p < d.points; p += tile_rows(d.points)) {
      text.line("TMA_LOAD_TILE(arrived, copied + {}, in_map, column, {}, array);", p * d.lines, p);
    }
    text.close();
    return;
  }
  if (d.load.at.point == d.lines) {
    text.line("if (item == 0) BULK_COPY_EXPECT(arrived, copied, {}, {}u);", from, bytes);
    return;
  }
  text.line("if (item == 0) COPY_BARRIER_EXPECT(arrived, {}u);", bytes);
  text.line("GLOBAL const real2* const rows = {};", from);
  text.line("UNROLL");
  text.open("for (int p = item; p < {}; p += {})", d.points, d.items());
  text.line("BULK_COPY(arrived, copied + p * {}, rows + {}, {}u);", d.lines,
            PassContext::scaled_index("p", 0, d.load.at.point, d.points), row);
  text.close();
}

}  // namespace

PassText async_copy_text(const PassDesign& d) {
  codegen::Text text;
  PassWriters pass(d, text);
  PassContext& context = pass.context;
  const std::size_t number = d.float64 ? 8 : 4, bytes = d.lines * d.points * 2 * number, local = context.local_bytes();
  context.title();
  text.line("// the next {} to local memory while {} transformed", d.lines == 1 ? "line is copied" : "lines are copied",
            d.lines == 1 ? "a line is" : "others are");
  context.header(std::set<std::size_t>(d.radices.begin(), d.radices.end()));
  text.open("{}", context.signature());
  text.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text.line("LOCAL real2* const copied = (LOCAL real2*)local_block;");
  text.line("LOCAL real* const local_numbers = local_block + {};", bytes / number);
  if (!d.split) text.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  if (d.store.mapped) text.line("LOCAL real2* const tile_points = (LOCAL real2*)local_numbers;");
  text.line("LOCAL ulong* const arrived = (LOCAL ulong*)(local_block + {});", (local - 16) / number);
  text.line("AFTER_PREVIOUS_KERNEL();");
  text.line("const int item = LOCAL_ID(0);");
  text.line("real2 v[{}];", context.held);
  text.line("if (item == 0) COPY_BARRIER_INIT(arrived);");
  text.line("BARRIER();");
  text.open();
  start_copy(context, "GROUP_ID(0)");
  text.close();
  text.line("uint parity = 0;");
  text.open("for (uint tile = GROUP_ID(0); tile * {}u < lines; tile += GROUPS(0))", d.lines);
  context.group = "tile";
  context.place_items(d.load_order, "");
  if (context.two_orders()) context.place_items(d.store_order, "_out");
  text.line("MBARRIER_WAIT(arrived, parity);");
  text.line("parity ^= 1;");
  pass.load.load();
  if (d.store.mapped) text.line("if (item == 0) TILE_STORE_WAIT_READ();");
  text.line("BARRIER();");
  text.line("const uint next = tile + GROUPS(0);");
  text.open("if (next * {}u < lines)", d.lines);
  start_copy(context, "next");
  text.close();
  pass.exchange.stages();
  pass.store.store();
  text.close();
  if (d.store.mapped) text.line("if (item == 0) TILE_STORE_WAIT();");
  text.close();
  return {{.name = fmt::format("fft {} points, the next ahead", d.points), .text = text.str()}, local};
}

}  // namespace ridge::fft::on_device

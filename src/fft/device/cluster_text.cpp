#include "fft/device/pass_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::fft::on_device {

void PassWriter::write_columns(const PassDesign& rows, std::size_t pitch, bool mirrored) {
  text_.raw("\n");
  text_.line("// columns of {} points, {} a group", d_.length, d_.lines);
  text_.open();
  place_items(d_.load_order, "");
  load();
  stages();
  twiddle(stages_.back());
  const StageDesign& last = stages_.back();
  text_.raw("\n");
  text_.line("// each value to the group that has its row");
  text_.line("CLUSTER_WAIT();");
  for (std::size_t round = 0; round < last.rounds; ++round) {
    open_round(last, round);
    text_.line("const int column = (int)(line % {}u);", rows.length);
    for (std::size_t u = 0; u < last.radix; ++u) {
      text_.open();
      text_.line("const int k = i + {};", u * last.butterflies);
      const std::size_t slot = round * last.radix + u;
      if (mirrored) {
        to_row_or_mirror(rows.lines, pitch, slot);
      } else {
        text_.line("STORE_PEER(received + (k % {0} * {1} + column), k / {0}, v[{2}]);", rows.lines, pitch, slot);
      }
      text_.close();
    }
    close_round();
  }
  text_.close();
  text_.line("CLUSTER_ARRIVE();");
  text_.line("CLUSTER_WAIT();");
}

void PassWriter::rows_received(std::size_t pitch) {
  text_.raw("\n");
  text_.line("// rows of {} points, {} a group", d_.length, d_.lines);
  place_items(d_.load_order, "");
  const StageDesign& first = stages_.front();
  for (std::size_t round = 0; round < first.rounds; ++round) {
    open_round(first, round);
    for (std::size_t s = 0; s < first.radix; ++s) {
      text_.line("v[{}] = received[c * {} + i + {}];", round * first.radix + s, pitch, s * first.butterflies);
    }
    close_round();
  }
  stages();  // the cluster's barrier has freed the local memory
}

void PassWriter::write_rows(std::size_t pitch) {
  text_.open();
  rows_received(pitch);
  store();
  text_.close();
}

namespace {

// What the columns leave, and room for the exchanges beside it.
struct ClusterMemory {
  std::size_t pitch, received, local;
};
ClusterMemory memory_of(const ClusterDesign& design, const PassWriter& columns, const PassWriter& rows) {
  const std::size_t pitch = design.rows.length + 1;  // odd, so that rows side by side meet no bank twice
  const std::size_t received = (design.rows.lines * pitch * (design.rows.float64 ? 16 : 8) + 15) / 16 * 16;
  const std::size_t exchange = (std::max(columns.exchange_bytes(), rows.exchange_bytes()) + 15) / 16 * 16;
  return {pitch, received, received + exchange};
}

}  // namespace

std::size_t local_bytes_of(const ClusterDesign& design) {
  Text text;
  return memory_of(design, PassWriter(design.columns, text), PassWriter(design.rows, text)).local;
}

PassText cluster_text(const ClusterDesign& design) {
  const PassDesign &columns = design.columns, &rows = design.rows;
  Text text;
  text.line("// {} points by clusters of {} groups: {} columns of {}, then {} rows of {}", columns.length * rows.length,
            design.groups, rows.length, columns.length, columns.length, rows.length);
  PassWriter first(columns, text), second(rows, text, table_offsets(columns).end);
  std::set<std::size_t> radices(columns.radices.begin(), columns.radices.end());
  radices.insert(rows.radices.begin(), rows.radices.end());
  first.header(radices);
  const std::size_t number = columns.float64 ? 8 : 4;
  const auto [pitch, received, local] = memory_of(design, first, second);
  text.open(
      "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) CLUSTER({}) void {}(GLOBAL const real2* in, GLOBAL real2* out, "
      "GLOBAL const real2* RESTRICT tables, ulong in_offset, ulong out_offset, uint lines)",
      columns.items(), columns.resident, design.groups, kKernelName);
  text.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text.line("LOCAL real2* const received = (LOCAL real2*)local_block;");
  text.line("LOCAL real* const local_numbers = local_block + {};", received / number);
  if (!columns.split || !rows.split) text.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text.line("const int item = LOCAL_ID(0);");
  text.line("real2 v[{}];", std::max(first.held(), second.held()));
  text.line("CLUSTER_ARRIVE();  // the others may not be there yet when this group has something for them");
  first.write_columns(rows, pitch, design.real);
  design.real ? second.write_real_rows(pitch, design.groups) : second.write_rows(pitch);
  text.close();
  return {{.name = fmt::format("fft {} points in clusters", columns.length * rows.length), .text = text.str()}, local};
}

}  // namespace ridge::fft::on_device

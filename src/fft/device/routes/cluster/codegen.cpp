// Kernel text of the cluster route: the column phase writes to the local memory of the group that holds each row; the
// row phase follows.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/routes/cluster/cluster.hpp"

namespace ridge::fft::on_device {

void load_received_rows(PassWriters& pass, std::size_t pitch, std::size_t side) {
  PassContext& context = pass.context;
  const PassDesign& d = context.design;
  codegen::Text& text = context.source;
  text.raw("\n");
  text.line("// rows of {} points, {} per group", d.length, d.lines);
  context.place_items(d.load_order, "");
  const StageDesign& first = context.stages.front();
  for (std::size_t round = 0; round < first.rounds; ++round) {
    context.open_round(first, round);
    for (std::size_t s = 0; s < first.radix; ++s) {
      const std::size_t slot = round * first.radix + s, point = s * first.butterflies;
      if (side > 1) {
        text.line("v[{}] = received[(i + {}) * {} + c];", slot, point, pitch);
      } else {
        text.line("v[{}] = received[c * {} + i + {}];", slot, pitch, point);
      }
    }
    context.close_round();
  }
  pass.exchange.stages();
}

namespace {

// Expressions for the group that holds row i + u * butterflies, and for the row's index within it.
struct RowPlace {
  std::string group, within;
};
RowPlace place_of_row(std::size_t lines, std::size_t butterflies, std::size_t u) {
  const std::size_t first = u * butterflies;
  // If the group is known at generation time, its address is computed once for all rounds.
  if (lines % butterflies == 0) return {fmt::format("peer{}", first / lines), fmt::format("i + {}", first % lines)};
  return {fmt::format("PEER((i + {}) / {})", first, lines), fmt::format("(i + {}) % {}", first, lines)};
}

// Writes the column phase: from global memory to the local memory of the group that holds each row.
void write_columns(PassWriters& pass, const ClusterDesign& design, std::size_t pitch) {
  PassContext& context = pass.context;
  const PassDesign &d = context.design, &rows = design.rows;
  codegen::Text& text = context.source;
  text.raw("\n");
  text.line("// columns of {} points, {} per group", d.length, d.lines);
  text.open();
  context.place_items(d.load_order, "");
  pass.load.load();
  pass.exchange.stages();
  if (design.reuse_buffer)
    text.line("CLUSTER_ARRIVE();  // from here on other groups may store to the memory of this exchange");
  pass.twiddle.twiddle(context.stages.back());
  const StageDesign& last = context.stages.back();
  text.raw("\n");
  text.line("// sends each value to the group that holds its row");
  text.line("CLUSTER_WAIT();");
  const std::size_t side = design.side, each = rows.lines / side;  // rows per column
  for (std::size_t g = 0; g < design.groups && !design.real && each % last.butterflies == 0; ++g) {
    text.line("const uint peer{0} = PEER({0});", g);
  }
  for (std::size_t round = 0; round < last.rounds; ++round) {
    context.open_round(last, round);
    if (side > 1) {
      text.line("const int across = (int)(line % {0}u), column = (int)(line / {0}u % {1}u);", side, rows.length);
    } else {
      text.line("const int column = (int)(line % {}u);", rows.length);
    }
    for (std::size_t u = 0; u < last.radix; ++u) {
      const std::size_t slot = round * last.radix + u;
      if (design.real) {
        text.open();
        text.line("const int k = i + {};", u * last.butterflies);
        send_to_row_or_mirror(pass, rows.lines, pitch, slot);
        text.close();
      } else {
        const RowPlace row = place_of_row(each, last.butterflies, u);
        if (side > 1) {
          text.line("TO_PEER({}, received + (column * {} + ({}) * {} + across), v[{}]);", row.group, pitch, row.within,
                    side, slot);
          continue;
        }
        text.line("TO_PEER({}, received + (({}) * {} + column), v[{}]);", row.group, row.within, pitch, slot);
      }
    }
    context.close_round();
  }
  text.close();
  if (design.counted) {
    text.line("MBARRIER_WAIT(arrived, 0);");
  } else {
    text.line("CLUSTER_ARRIVE();");
    text.line("CLUSTER_WAIT();");
  }
}

// Writes the row phase: from local to global memory.
void write_rows(PassWriters& pass, std::size_t pitch, std::size_t side) {
  codegen::Text& text = pass.context.source;
  text.open();
  load_received_rows(pass, pitch, side);
  pass.store.store();
  text.close();
}

constexpr std::size_t kArrival = 16;  // bytes after the rows: the barrier that counts received bytes

// Local memory layout: the received rows, and the area for exchanges.
struct ClusterMemory {
  std::size_t pitch, exchanges, local;  // exchanges: byte offset of that area
};
ClusterMemory memory_of(const ClusterDesign& design, const PassContext& columns, const PassContext& rows) {
  // Rows are padded by one point, so that neighbouring rows use different banks. With adjacent columns, the same point
  // of all rows is contiguous, padded by one set of columns if two sets fit one access.
  const std::size_t lines = design.rows.lines, length = design.rows.length, element = design.rows.float64 ? 16 : 8;
  const std::size_t pitch = design.side == 1 ? length + 1 : lines + (design.side * element < 128 ? design.side : 0);
  const std::size_t received = ((design.side == 1 ? lines : length) * pitch * element + 15) / 16 * 16;
  const std::size_t exchange = (std::max(columns.exchange_bytes(), rows.exchange_bytes()) + 15) / 16 * 16;
  if (design.reuse_buffer) return {pitch, 0, std::max(received, exchange) + (design.counted ? kArrival : 0)};
  return {pitch, received, received + exchange};
}

}  // namespace

std::size_t local_bytes_of(const ClusterDesign& design) {
  codegen::Text text;
  return memory_of(design, PassContext(design.columns, text), PassContext(design.rows, text)).local;
}

PassText cluster_text(const ClusterDesign& design) {
  const PassDesign &columns = design.columns, &rows = design.rows;
  codegen::Text text;
  text.line("// {} points by clusters of {} groups: {} columns of {}, then {} rows of {}", columns.length * rows.length,
            design.groups, rows.length, columns.length, columns.length, rows.length);
  PassWriters first(columns, text), second(rows, text, table_offsets(columns).end);
  std::set<std::size_t> radices(columns.radices.begin(), columns.radices.end());
  radices.insert(rows.radices.begin(), rows.radices.end());
  first.context.header(radices);
  text.line("#define TO_PEER(peer, p, v) {}",
            design.counted ? "SEND_PEER(peer, p, v, arrived)" : "STORE_PEER(peer, p, v)");
  const std::size_t number = columns.float64 ? 8 : 4;
  const auto [pitch, exchanges, local] = memory_of(design, first.context, second.context);
  text.open(
      "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) CLUSTER({}) void {}(GLOBAL const {}* in, GLOBAL real2* out, "
      "GLOBAL const real2* RESTRICT tables, {}{}ulong in_offset, ulong out_offset, uint lines)",
      columns.items(), columns.resident, design.groups, kKernelName, first.context.in_type(),
      factor_parameter(columns.load.factor, "load_factor"), factor_parameter(rows.store.factor, "store_factor"));
  text.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text.line("LOCAL real2* const received = (LOCAL real2*)local_block;");
  text.line("LOCAL real* const local_numbers = local_block + {};", exchanges / number);
  if (!columns.split || !rows.split) text.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text.line("AFTER_PREVIOUS_KERNEL();");
  text.line("const int item = LOCAL_ID(0);");
  text.line("real2 v[{}];", std::max(first.context.held, second.context.held));
  if (design.counted) {
    const std::size_t bytes = rows.lines * rows.length * 2 * number;
    text.line("LOCAL ulong* const arrived = (LOCAL ulong*)(local_block + {});", (local - kArrival) / number);
    text.open("if (item == 0)");
    text.line("COPY_BARRIER_INIT(arrived);");
    text.line("COPY_BARRIER_EXPECT(arrived, {}u);  // before the other groups may send", bytes);
    text.close();
  }
  if (design.reuse_buffer) {
    // A barrier is needed: the rows are read from the memory in which they will be exchanged.
    second.context.local_free();
  } else {
    text.line("CLUSTER_ARRIVE();  // a group may store only to groups that have started");
  }
  write_columns(first, design, pitch);
  design.real ? write_real_rows(second, pitch, design.groups, design.reuse_buffer)
              : write_rows(second, pitch, design.side);
  text.close();
  return {{.name = fmt::format("fft {} points in clusters", columns.length * rows.length), .text = text.str()}, local};
}

}  // namespace ridge::fft::on_device

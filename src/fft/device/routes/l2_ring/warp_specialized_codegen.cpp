// Kernel text of the warp-specialized ring (Hopper). A producer warpgroup in each work-group takes tickets, waits for
// other groups, fetches the next tile into local memory by TMA and signals stored tiles. The consumer warps only
// transform.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/pass/text/writers.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {
namespace {

bool has_mirrors(const PassDesign& pass) { return pass.mirror_rows() > 0; }
std::size_t point_bytes(const PassDesign& pass) { return pass.float64 ? 16 : 8; }
std::size_t tile_bytes(const PassDesign& pass) {
  return (has_mirrors(pass) ? 2 * row_points(pass) : pass.points) * pass.lines * point_bytes(pass);
}
std::size_t copied_bytes(const PassDesign& pass) {
  return tile_bytes(pass) + (has_mirrors(pass) ? kMirrorsApart * point_bytes(pass) : 0);
}

// Copies rows and their mirrors, one run each. The first line consists of row 0 and the middle row.
void write_rows_and_mirrors(codegen::Text& text, const RingDesign& design) {
  const PassDesign& rows = design.second;
  const std::uint64_t row = row_points(rows), lines = rows.lines, bytes = row * point_bytes(rows);
  const std::uint64_t all = rows.mirror_rows(), mirrors = lines * row + kMirrorsApart;
  text.line("GLOBAL const real2* const from = between + (first_slot + slot) * {}ul;", design.slot);
  text.line("COPY_BARRIER_EXPECT(arrived, {}u);", tile_bytes(rows));
  text.line("BULK_COPY(arrived, copied, from + group * {}u, {}u);", lines * row, lines * bytes);
  text.open("if (group > 0)");
  text.line("BULK_COPY(arrived, copied + {}, from + ({}u - group * {}u), {}u);", mirrors, (all - lines + 1) * row,
            lines * row, lines * bytes);
  text.close();
  text.open("else");
  text.line("BULK_COPY(arrived, copied + {}, from + {}u, {}u);", mirrors, (all - lines + 1) * row, (lines - 1) * bytes);
  text.line("BULK_COPY(arrived, copied + {}, from + {}u, {}u);", mirrors + (lines - 1) * row, all / 2 * row, bytes);
  text.close();
}

constexpr std::size_t kProducerRegisters = 32;
// Registers per consumer work-item after the producer has released its surplus (setmaxnreg); 0: unchanged.
std::size_t consumer_registers(std::size_t items, std::size_t resident) {
  constexpr std::size_t kUnit = 65536, kStep = 8, kMost = 240;
  const std::size_t group = items + kProducerItems, each = kUnit / (group * resident) / kStep * kStep;
  const std::size_t more = (each * group - kProducerRegisters * kProducerItems) / items / kStep * kStep;
  return items % kProducerItems == 0 && more > each ? std::min(more, kMost) : 0;
}

// First word of the producer's message about a tile: which pass, and whether its slot must become free first. The other
// words are chunk, slot and group.
enum TileMessage : unsigned { kSecond = 0, kFirst = 1, kWaits = 2, kEnd = 4 };

// Chooses a second-pass tile of the chunk, preferring this compute unit's L2 partition. The counters are read after the
// whole chunk has been written, so no tile of the slot's previous chunk is left. If the partition has no tile left, its
// counter is decremented again and a tile of the other partition is taken.
void write_choice(codegen::Text& text, const RingDesign& design) {
  const std::uint64_t each = design.second_tiles() / 2;
  text.line("uint chosen_tile = group;");
  text.open("if (!is_first)");
  text.line("GLOBAL uint* const picks = read + slots + 2 * slot;");
  text.line("uint whose = own_partition, pick = ATOMIC_INCREMENT(picks + whose) - lap * {}u;", each);
  text.open("if (pick >= {}u)", each);
  text.line("ATOMIC_ADD(picks + whose, 0xffffffffu);");
  text.line("whose ^= 1;");
  text.line("pick = ATOMIC_INCREMENT(picks + whose) - lap * {}u;", each);
  text.close();
  text.line("chosen_tile = 2 * pick + whose;");
  text.close();
}

// Copies a second-pass tile block by block.
void write_partition_copies(codegen::Text& text, const RingDesign& design) {
  const PassDesign& rows = design.second;
  const std::size_t points = rows.lines * rows.points, block = PartitionBlocks(rows.float64).block();
  text.line("GLOBAL const real2* const ring_slot = between + slot * {}ul;", design.slot_step());
  PartitionPointers partition_local(text, rows.float64, "from", "GLOBAL const real2", "ring_slot");
  if (design.l2_partitions > 1) {
    partition_local.begin(fmt::format("group * {}u", points));
  } else {
    partition_local.begin(fmt::format("chosen_tile / 2 * {}u", points), "(chosen_tile & 1u)");
  }
  text.line("COPY_BARRIER_EXPECT(arrived, {}u);", tile_bytes(rows));
  for (std::size_t p = 0; p < points; p += block) {
    const std::string from = partition_local(p);
    text.line("BULK_COPY(arrived, copied + {}, {}, {}u);", p, from, kPartitionBlock);
  }
}

void write_producer(codegen::Text& text, const RingDesign& design) {
  const PassDesign &columns = design.first, &rows = design.second;
  const std::uint64_t first = design.first_tiles(), second = design.second_tiles();
  text.line("uint consumed_phase = 0, stored_phase = 0;");
  if (design.l2_partitions > 1) {
    text.line("// chunks of this unit's L2 partition, then those left over by the other partition");
    text.line("uint partition = units[3 + COMPUTE_UNIT_ID() % {}u];", kMostUnits);
    text.open("for (uint part = 0; part < units[0]; ++part, partition ^= 1)");
  }
  write_partition(text, design);
  if (design.partition_local && design.l2_partitions == 1)
    text.line("const uint own_partition = units[3 + COMPUTE_UNIT_ID() % {}u] & 1u;", kMostUnits);
  text.line("uint ticket = ATOMIC_INCREMENT(control), unsignalled = 0;");
  text.open("for (;;)");
  text.line("const int valid = ticket < lead + chunks * {}u;", first + second);
  write_tile_of_ticket(text, first, second);
  text.open("if (valid && is_first && chunk >= chunks)");
  text.line("ticket = ATOMIC_INCREMENT(control);");
  text.line("continue;");
  text.close();
  text.line("// the first pass's tiles of that chunk; one of them may have been stored by this group");
  text.open("while (valid ? !is_first && SIGNAL_COUNT(written + slot) < (lap + 1) * {}u : unsignalled != 0)", first);
  text.open("if (unsignalled != 0 && MBARRIER_TEST(stored, stored_phase))");
  text.line("SIGNAL(written + (unsignalled - 1));");
  text.line("unsignalled = 0;");
  text.line("stored_phase ^= 1;");
  text.close();
  text.close();
  text.line("if (!valid) break;");
  text.line("message[0] = !is_first ? {}u : lap > 0 ? {}u : {}u;", unsigned{kSecond}, kFirst | kWaits,
            unsigned{kFirst});
  text.line("message[1] = base + chunk;");
  text.line("message[2] = first_slot + slot;");
  const bool chooses = design.partition_local && design.l2_partitions == 1;
  if (chooses) write_choice(text, design);
  text.line("message[3] = {};", chooses ? "chosen_tile" : "group");
  if (design.partition_local) {
    text.line("const uint page_bits = units[{}u + slot];", kUnitsTable);
    if (!chooses) text.line("message[4] = local_partition;");
    text.line("message[5] = page_bits;");
  }
  text.open("if (is_first)");
  text.line("COPY_BARRIER_EXPECT(arrived, {}u);", tile_bytes(columns));
  for (std::size_t p = 0; p < columns.points; p += tile_rows(columns.points)) {
    text.line("TMA_LOAD_TILE_ONCE(arrived, copied + {}, in_map, (int)(group * {}u), {}, (int)(base + chunk));",
              p * columns.lines, 2 * columns.lines, p);
  }
  text.close();
  text.open("else");
  text.line("ASYNC_PROXY_FENCE();");
  if (design.partition_local) {
    write_partition_copies(text, design);
  } else if (has_mirrors(rows)) {
    write_rows_and_mirrors(text, design);
  } else {
    text.line("BULK_COPY_EXPECT(arrived, copied, between + ((first_slot + slot) * {}ul + group * {}ul), {}u);",
              design.slot, rows.lines * rows.points, tile_bytes(rows));
  }
  text.close();
  text.open("if (unsignalled != 0)");
  text.line("MBARRIER_WAIT(stored, stored_phase);");
  text.line("stored_phase ^= 1;");
  text.line("SIGNAL(written + (unsignalled - 1));");
  text.close();
  text.line("unsignalled = is_first ? slot + 1 : 0;");
  text.open("if (is_first && lap > 0)");
  text.line("while (SIGNAL_COUNT(read + slot) < lap * {}u) {{}}", second);
  text.line("MBARRIER_ARRIVE(slot_free);");
  text.close();
  text.line("MBARRIER_WAIT(consumed, consumed_phase);");
  text.line("consumed_phase ^= 1;");
  text.line("if (!is_first) ATOMIC_INCREMENT(read + slot);");
  text.line("ticket = ATOMIC_INCREMENT(control);");
  text.close();
  if (design.l2_partitions > 1) text.close();
  text.line("message[0] = {}u;", unsigned{kEnd});
  text.line("COPY_BARRIER_EXPECT(arrived, 0u);");
  write_end(text, design, "");
}

void write_tile(PassWriters& pass, const std::string& before_store) {
  PassContext& context = pass.context;
  context.before_store = before_store;
  context.group = "group";
  context.place_items(context.design.load_order, "");
  if (context.two_orders()) context.place_items(context.design.store_order, "_out");
  if (context.design.mirrored()) {
    context.after_item_load = "MBARRIER_ARRIVE(consumed);";
    return write_mirrored_rows(pass);
  }
  pass.load.load();
  context.source.line("MBARRIER_ARRIVE(consumed);");
  context.source.line("BARRIER();");
  pass.exchange.stages();
  pass.store.store();
}

// Loop of the consumer warps: transforms the tiles that the producer has fetched.
void write_consumers(PassWriters& first, PassWriters& second, const RingDesign& design) {
  const PassDesign& rows = design.second;
  codegen::Text& text = first.context.source;
  text.line("uint parity = 0, free_phase = 0;");
  text.open("for (;;)");
  text.line("MBARRIER_WAIT(arrived, parity);");
  text.line("parity ^= 1;");
  text.line("const uint kind = message[0], chunk = message[1], slot = message[2], group = message[3];");
  text.line("if (kind == {}) break;", unsigned{kEnd});
  write_accesses(text, "(*(p))", "(*(p) = (v))");
  text.open("if (kind != {})", unsigned{kSecond});
  text.line("GLOBAL real2* const out = between;");
  text.line("const ulong out_offset = slot * {}ul;", design.slot_step());
  if (design.partition_local) text.line("const uint page_bits = message[5];");
  if (design.partition_local && design.l2_partitions > 1) text.line("const uint local_partition = message[4];");
  text.line("const uint lines = {};", design.first_lines);
  write_tile(first, fmt::format("if (kind == {}) {{ MBARRIER_WAIT(slot_free, free_phase); free_phase ^= 1; }}",
                                kFirst | kWaits));
  text.line("MBARRIER_ARRIVE(stored);");
  text.close();
  write_accesses(text, "(*(p))", rows.store.once ? "STORE_ONCE(p, v)" : "(*(p) = (v))");
  text.open("if (kind == {})", unsigned{kSecond});
  text.line("GLOBAL real2* const out = target;");
  text.line("const uint base = 0;");  // included in the chunk number of the message
  text.line("const ulong out_offset = out_start{};", chunk_offset(design, design.store));
  if (rows.store.factor != FactorKind::none) {
    text.line("GLOBAL const {}* const store_factor = factors_of_store{};",
              rows.store.factor == FactorKind::real ? "real" : "real2", chunk_offset(design, design.store_factors));
  }
  text.line("const uint lines = {};", design.second_lines);
  write_tile(second, {});
  text.close();
  text.close();
}

}  // namespace

PassText warp_specialized_text(const RingDesign& design) {
  const PassDesign &columns = design.first, &rows = design.second;
  codegen::Text text;
  text.line("// warp-specialized: passes of {} and {} points in one launch, an L2 ring of chunks between them",
            columns.length, rows.length);
  PassWriters first(columns, text), second(rows, text, table_offsets(columns).end);
  std::set<std::size_t> radices(columns.radices.begin(), columns.radices.end());
  radices.insert(rows.radices.begin(), rows.radices.end());
  first.context.header(radices);
  const std::size_t number = columns.float64 ? 8 : 4, items = columns.items();
  const std::size_t copied = (std::max(copied_bytes(columns), copied_bytes(rows)) + 127) / 128 * 128;
  const std::size_t exchange =
      (std::max(first.context.exchange_bytes(), second.context.exchange_bytes()) + 15) / 16 * 16;
  const std::size_t resident = std::min(columns.resident, rows.resident), more = consumer_registers(items, resident);
  constexpr std::size_t kBarriers = 4, kMessageBytes = 32;
  const std::size_t local = copied + exchange + kBarriers * 8 + kMessageBytes;
  text.open(
      "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(GLOBAL const real2* source, GLOBAL real2* target, "
      "GLOBAL const real2* RESTRICT tables, {}{}GLOBAL real2* between, GLOBAL uint* counters, {}ulong in_start, "
      "ulong out_start, uint all_chunks, uint slots, uint lead, TILE_MAP(in_map))",
      items + kProducerItems, resident, kKernelName, factor_parameter(columns.load.factor, "load_factor"),
      factor_parameter(rows.store.factor, "factors_of_store"),
      design.needs_unit_table() ? "GLOBAL const uint* RESTRICT units, " : "");
  text.line("LOCAL_BLOCK(real, local_block, {});", local / number);
  text.line("LOCAL real2* const copied = (LOCAL real2*)local_block;");
  text.line("LOCAL real* const local_numbers = local_block + {};", copied / number);
  if (!columns.split || !rows.split || has_mirrors(rows))
    text.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text.line("LOCAL ulong* const arrived = (LOCAL ulong*)(local_block + {});", (copied + exchange) / number);
  text.line("LOCAL ulong* const consumed = arrived + 1;");
  text.line("LOCAL ulong* const stored = arrived + 2;");
  text.line("LOCAL ulong* const slot_free = arrived + 3;");
  text.line("LOCAL uint* const message = (LOCAL uint*)(arrived + {});", kBarriers);
  text.line("AFTER_PREVIOUS_KERNEL();");
  text.line("const int item = LOCAL_ID(0);");
  text.open("if (item == 0)");
  text.line("COPY_BARRIER_INIT(arrived);");
  text.line("MBARRIER_INIT(consumed, {});", items);
  text.line("MBARRIER_INIT(stored, {});", items);
  text.line("MBARRIER_INIT(slot_free, 1);");
  text.close();
  text.line("BARRIER();");
  text.open("if (item >= {})", items);
  if (more > 0) text.line("RELEASE_REGISTERS({});", kProducerRegisters);
  text.open("if (item == {})", items);
  write_producer(text, design);
  text.close();
  text.line("return;");
  text.close();
  if (more > 0) text.line("CLAIM_REGISTERS({});", more);
  text.raw(fmt::format("#undef BARRIER\n#define BARRIER() NAMED_BARRIER(0, {})\n", items));
  text.line("real2 v[{}];", std::max(first.context.held, second.context.held));
  write_consumers(first, second, design);
  text.close();
  return {{.name = fmt::format("fft {} x {} points through an L2 ring, warp-specialized", columns.length, rows.length),
           .text = text.str()},
          local};
}

}  // namespace ridge::fft::on_device

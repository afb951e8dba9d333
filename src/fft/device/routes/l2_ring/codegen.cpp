// Kernel text of the L2-resident ring: tickets, slot counters and both passes in one persistent kernel.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {

std::string chunk_offset(const RingDesign& design, const std::vector<std::uint64_t>& strides) {
  std::string sum;
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) {
    std::string value = divided == 1 ? "(chunk + base)" : fmt::format("(chunk + base) / {}u", divided);
    if (dimension + 1 < strides.size()) value = fmt::format("{} % {}u", value, design.counts[dimension]);
    sum += fmt::format(" + (ulong)({}) * {}ul", value, strides[dimension]);
    divided *= design.counts[dimension];
  }
  return sum;
}

void write_partition(codegen::Text& text, const RingDesign& design) {
  if (design.l2_partitions == 1) {
    text.line("const uint partition = 0, base = 0, chunks = all_chunks, first_slot = 0;");
  } else {
    if (design.partition_local) text.line("const uint local_partition = partition;");
    text.line("const uint of_first = (uint)((ulong)all_chunks * units[1] / units[2]);");
    text.line(
        "const uint base = partition == 0 ? 0 : of_first, chunks = partition == 0 ? of_first : all_chunks - of_first;");
    text.line("const uint first_slot = {};", design.partition_local ? "0" : "partition * slots");
  }
  text.line("GLOBAL uint* const control = counters + partition * ({}u + 2 * slots);", kRingControl);
  text.line("GLOBAL uint* const written = control + {};  // first-pass tiles written, per slot", kRingControl);
  text.line("GLOBAL uint* const read = written + slots;  // second-pass tiles read, per slot");
}

// Tile of a ticket: `lead` tiles of the first pass, then tiles of both passes in proportion. A tile waits only for
// tiles with smaller tickets, so any number of work-groups may be resident. `lap` counts how often the slot was used
// before.
void write_tile_of_ticket(codegen::Text& text, std::uint64_t first, std::uint64_t second) {
  text.line("// tile of the ticket: first-pass tiles up to the lead, then tiles of both passes in proportion");
  text.line("uint is_first = 1, tile = ticket;");
  text.open("if (ticket >= lead)");
  text.line("const uint round = (ticket - lead) / {0}u, part = (ticket - lead) % {0}u;", first + second);
  text.line("const uint before = part * {}u / {}u;", first, first + second);
  text.line("is_first = (part + 1) * {}u / {}u > before;", first, first + second);
  text.line("tile = is_first ? lead + round * {}u + before : round * {}u + (part - before);", first, second);
  text.close();
  text.line("const uint chunk = is_first ? tile / {}u : tile / {}u, slot = chunk % slots, lap = chunk / slots;", first,
            second);
  text.line("const uint group = tile - chunk * (is_first ? {}u : {}u);", first, second);
}

void write_end(codegen::Text& text, const RingDesign& design, const char* condition) {
  text.line("// the last group resets the counters for the next launch");
  text.open("if ({}SIGNAL(counters + 1) == GROUPS(0) - 1)", condition);
  text.line("for (uint i = 0; i < {}u * ({}u + {}u * slots); ++i) counters[i] = 0;", design.l2_partitions, kRingControl,
            design.partition_local && design.l2_partitions == 1 ? 4 : 2);
  text.close();
}

void write_accesses(codegen::Text& text, const char* load, const char* store) {
  text.raw("#undef LOAD\n#undef STORE\n");
  text.raw(fmt::format("#define LOAD(p) {}\n#define STORE(p, v) {}\n", load, store));
}

namespace {

// One work-item polls the counter on behalf of its group.
std::string wait_until(const std::string& counter, const std::string& count) {
  return fmt::format("if (item == 0) {{ while (SIGNAL_COUNT({}) < {}) {{}} }} BARRIER();", counter, count);
}

// Writes one pass; its tile, arrays and offsets are variables of the kernel. `after_group_load` is emitted after all
// work-items of the group have loaded their points, `before_store` before the first point is stored.
void write_pass(PassWriters& pass, const std::string& after_group_load, const std::string& before_store) {
  PassContext& context = pass.context;
  context.group = "group";
  context.after_group_load = after_group_load;
  context.before_store = before_store;
  context.place_items(context.design.load_order, "");
  if (context.two_orders()) context.place_items(context.design.store_order, "_out");
  if (context.design.mirrored()) return write_mirrored_rows(pass);
  pass.load.load();
  if (context.stages.size() == 1 && !context.after_group_load.empty()) {
    context.source.line("BARRIER();");
    context.source.line("{}", context.after_group_load);
  }
  pass.exchange.stages();
  pass.store.store();
}

// Requests the next ticket just before the stores, which hide its latency. Requested earlier, its tile would delay the
// groups that wait for it.
constexpr const char* kTakeTicket = "if (item == 0) next = ATOMIC_INCREMENT(control);";

// First pass: reads the source and writes a slot of the ring, after the slot's previous chunk has been read.
void write_first_pass(PassWriters& first, const RingDesign& design) {
  const PassDesign& columns = design.first;
  codegen::Text& text = first.context.source;
  write_accesses(text, columns.load.once ? "LOAD_ONCE(p)" : "(*(p))", "(*(p) = (v))");
  text.open("if (is_first && chunk < chunks)");
  text.line("GLOBAL const {}* const in = source;", first.context.in_type());
  text.line("GLOBAL real2* const out = between;");
  text.line("const ulong in_offset = in_start{}, out_offset = (first_slot + slot) * {}ul;",
            chunk_offset(design, design.load), design.slot_step());
  text.line("const uint lines = {};", design.first_lines);
  write_pass(first, {},
             fmt::format("if (lap > 0) {{ {} }} {}",
                         wait_until("read + slot", fmt::format("lap * {}u", design.second_tiles())), kTakeTicket));
  text.close();
}

// Second pass: reads a slot of the ring when all tiles of its chunk are written, and writes the target.
void write_second_pass(PassWriters& second, const RingDesign& design) {
  const PassDesign& rows = design.second;
  codegen::Text& text = second.context.source;
  write_accesses(text, "LOAD_L2(p)", rows.store.once ? "STORE_ONCE(p, v)" : "(*(p) = (v))");
  text.open("if (!is_first)");
  text.line("{}", wait_until("written + slot", fmt::format("(lap + 1) * {}u", design.first_tiles())));
  text.line("GLOBAL const real2* const in = between;");
  text.line("GLOBAL real2* const out = target;");
  text.line("const ulong in_offset = (first_slot + slot) * {}ul, out_offset = out_start{};", design.slot_step(),
            chunk_offset(design, design.store));
  if (rows.store.factor != FactorKind::none) {
    text.line("GLOBAL const {}* const store_factor = factors_of_store{};",
              rows.store.factor == FactorKind::real ? "real" : "real2", chunk_offset(design, design.store_factors));
  }
  text.line("const uint lines = {};", design.second_lines);
  // The loaded points are in registers, so this counter needs no fence.
  write_pass(second, "if (item == 0) ATOMIC_INCREMENT(read + slot);", kTakeTicket);
  text.close();
}

}  // namespace

PassText ring_text(const RingDesign& design) {
  const PassDesign &columns = design.first, &rows = design.second;
  const std::uint64_t first_tiles = design.first_tiles(), second_tiles = design.second_tiles();
  codegen::Text text;
  text.line("// passes of {} and {} points in one launch, an L2 ring of chunks between them", columns.length,
            rows.length);
  PassWriters first(columns, text), second(rows, text, table_offsets(columns).end);
  std::set<std::size_t> radices(columns.radices.begin(), columns.radices.end());
  radices.insert(rows.radices.begin(), rows.radices.end());
  first.context.header(radices);
  const std::size_t number = columns.float64 ? 8 : 4;
  const std::size_t exchange = (std::max(first.context.local_bytes(), second.context.local_bytes()) + 15) / 16 * 16;
  text.open(
      "KERNEL WORK_GROUP_RESIDENT({}, 1, 1, {}) void {}(GLOBAL const {}* source, GLOBAL real2* target, "
      "GLOBAL const real2* RESTRICT tables, {}{}GLOBAL real2* between, GLOBAL uint* counters, {}ulong in_start, "
      "ulong out_start, uint all_chunks, uint slots, uint lead)",
      columns.items(), std::min(columns.resident, rows.resident), kKernelName, first.context.in_type(),
      factor_parameter(columns.load.factor, "load_factor"), factor_parameter(rows.store.factor, "factors_of_store"),
      design.l2_partitions > 1 ? "GLOBAL const uint* RESTRICT units, " : "");
  text.line("LOCAL_BLOCK(real, local_numbers, {});", exchange / number + 16 / number);
  if (!columns.split || !rows.split) text.line("LOCAL real2* const local_points = (LOCAL real2*)local_numbers;");
  text.line("LOCAL uint* const local_ticket = (LOCAL uint*)(local_numbers + {});", exchange / number);
  text.line("AFTER_PREVIOUS_KERNEL();");
  text.line("const int item = LOCAL_ID(0);");
  text.line("real2 v[{}];", std::max(first.context.held, second.context.held));
  if (design.l2_partitions > 1) {
    text.line("// chunks of this unit's L2 partition, then those left over by the other partition");
    text.line("uint partition = units[3 + COMPUTE_UNIT_ID() % {}u];", kMostUnits);
    text.open("for (uint part = 0; part < units[0]; ++part, partition ^= 1)");
  }
  write_partition(text, design);
  if (design.l2_partitions > 1) text.line("BARRIER();");
  text.line("if (item == 0) local_ticket[0] = ATOMIC_INCREMENT(control);");
  text.line("BARRIER();");
  text.line("uint ticket = local_ticket[0], parity = 1;");
  text.open("while (ticket < lead + chunks * {}u)", first_tiles + second_tiles);
  text.line("uint next = 0;");
  write_tile_of_ticket(text, first_tiles, second_tiles);
  if (design.partition_local) text.line("const uint page_bits = units[{}u + slot];", kUnitsTable);
  text.raw("\n");
  write_first_pass(first, design);
  write_second_pass(second, design);
  text.open("if (is_first && chunk >= chunks)");
  text.line("{}", kTakeTicket);
  text.close();
  text.line("if (item == 0) local_ticket[parity] = next;");
  text.line("BARRIER();");
  text.line("ticket = local_ticket[parity];");
  text.line("parity ^= 1;");
  text.line("if (item == 0 && is_first && chunk < chunks) SIGNAL(written + slot);");
  text.close();
  if (design.l2_partitions > 1) text.close();
  text.raw("\n");
  write_end(text, design, "item == 0 && ");
  text.close();
  return {{.name = fmt::format("fft {} x {} points through a ring", columns.length, rows.length), .text = text.str()},
          exchange + 16};
}

}  // namespace ridge::fft::on_device

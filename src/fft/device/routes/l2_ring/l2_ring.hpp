// Design of the L2-resident ring: one persistent kernel runs both passes of a transform, and the intermediate data stay
// in a ring buffer in the L2 cache. docs/design/fft-devices.md explains chunks, slots, tickets and why it cannot
// deadlock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/text.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

inline constexpr std::size_t kRingControl = 32;  // counters before those of the slots; each slot has two, or four

// Two passes in one launch. Work-groups take tiles of both passes by tickets; the intermediate data go through a ring
// of a few chunks that stays in L2. A chunk is one transform, or several adjacent ones: the unit that both passes
// share.
struct RingDesign {
  PassDesign first = {}, second = {};                // of one chunk; intermediate addresses count from its slot
  std::uint64_t first_lines = 0, second_lines = 0;   // of a chunk
  std::vector<std::uint64_t> counts = {};            // batch dimensions of a chunk's number; the last one is unlimited
  std::vector<std::uint64_t> load = {}, store = {};  // strides of the chunks, one per batch dimension
  std::vector<std::uint64_t> store_factors = {};     // the same for the store factors; empty: shared by all chunks
  std::uint64_t slot = 0;                            // elements of one chunk in the ring
  std::size_t slots = 2;                             // chunks that the ring holds
  std::size_t lead = 1;                              // first-pass tiles issued before the first second-pass tile
  std::size_t groups = 1;                            // work-groups in total
  std::size_t l2_partitions = 1;  // each partition has its own slots and lead; chunks are divided among the partitions
  bool warp_specialized = false;  // a producer warpgroup fetches tiles by TMA (warp_specialized_codegen.cpp)
  // Stores the ring in blocks local to one L2 partition (pass/partition_blocks.hpp). With two partitions their slots
  // alternate in memory. With one ring for both, each second-pass tile is stored in the partition whose compute units
  // take it as long as they can.
  bool partition_local = false;

  std::uint64_t first_tiles() const { return (first_lines + first.lines - 1) / first.lines; }
  std::uint64_t second_tiles() const { return (second_lines + second.lines - 1) / second.lines; }
  std::uint64_t slot_step() const {
    return partition_local && l2_partitions > 1 ? 2 * slot : slot;
  }  // between slots of one partition
  bool needs_unit_table() const { return l2_partitions > 1 || partition_local; }
  std::size_t counters() const {  // of one partition
    return kRingControl + (partition_local && l2_partitions == 1 ? 4 : 2) * slots;
  }
};

// Kernel text with both passes (CUDA). Arguments: source, target, tables, factors, between (the ring), control (zero
// between launches), ulong in_offset, ulong out_offset, uint chunks, uint slots, uint lead.
PassText ring_text(const RingDesign& design);
// As ring_text(), but a producer warpgroup fetches tiles by TMA (Hopper). The last argument is a tensor map of the
// source.
PassText warp_specialized_text(const RingDesign& design);
inline constexpr std::size_t kProducerItems = 128;  // one warpgroup: setmaxnreg applies to whole warpgroups

// The L2 partition next to each compute unit, measured once per device: number of partitions, compute units of the
// first one and of both, then 0 or 1 per compute unit.
inline constexpr std::size_t kMostUnits = 512, kUnitsTable = kMostUnits + 3;
const std::vector<std::uint32_t>& unit_partitions(const Device& device);
KernelSource unit_partitions_source();  // the measuring kernel, compiled together with the others

// Per slot of the ring, one bit per 2 MB page: blocks of the first partition are those whose page offset has that
// parity. All zero if it cannot be measured: half of the blocks are then remote, which costs time and no correctness.
std::vector<std::uint32_t> partition_pages(const Device& device, const Buffer& ring, std::uint64_t slot_bytes,
                                           std::size_t slots);
KernelSource partition_pages_source();

// Text shared by both kernels. write_partition(): counters (control, written, read), chunks (base, chunks) and slots
// (first_slot) of `partition`. chunk_offset(): address of a chunk. write_tile_of_ticket(): is_first, chunk, slot,
// lap and group of `ticket`. write_end(): resets the counters. write_accesses(): defines LOAD and STORE from here on.
void write_partition(codegen::Text& text, const RingDesign& design);
std::string chunk_offset(const RingDesign& design, const std::vector<std::uint64_t>& strides);
void write_tile_of_ticket(codegen::Text& text, std::uint64_t first, std::uint64_t second);
void write_end(codegen::Text& text, const RingDesign& design, const char* condition);
void write_accesses(codegen::Text& text, const char* load, const char* store);

std::shared_ptr<const StepDesign> ring_step(const RingDesign& design);
// The ring of a step, or nullptr if the step has none.
const RingDesign* ring_of(const Step& step);

// Largest and preferred ring size in bytes; the rest of the H200's 50 MB L2 is left to streaming data.
inline constexpr double kMostRing = 36e6, kGoodRing = 27e6;
inline constexpr std::uint64_t kLeastPartitioned = 16;  // fewest chunks that are divided among the L2 partitions

struct GroupShape {
  std::size_t items, most_held;
  bool all_twiddles = false;  // load every twiddle power instead of multiplying some
  bool long_only = false;     // for tiles of 16 lines of 1024 points, one per compute unit
};
// Best first, as measured on an H200.
inline constexpr GroupShape kGroupShapes[] = {
    {256, 32}, {512, 32, false, true}, {256, 32, true}, {256, 16}, {256, 16, true}};

// Chooses radices and lines per group for exactly shape.items work-items, with runs of at least 64 bytes. False: see
// `why`.
bool shaped(const Device& device, PassDesign& pass, const GroupShape& shape, std::string& why);

// Radices and work-items per line of both passes for work-groups of `items`, best first (group_pairs.cpp).
struct GroupPair {
  std::vector<std::size_t> first, second;  // radices
  std::size_t first_threads, second_threads, items;
};
std::vector<GroupPair> group_pairs(const PassDesign& first, const PassDesign& second, std::size_t most);

// Chooses the lead of the first pass and the number of slots. A tile that reuses a slot waits for second-pass tiles of
// the slot's previous chunk, so the lead is limited: those tiles must have smaller tickets.
bool sized(const Device& device, RingDesign& ring, std::uint64_t chunks, double most_bytes);
// Places ring slots in 4 KB blocks local to one L2 partition. Supported: slot pairs of 0.5, 1, 2 or 4 MB, and one ring
// whose second-pass tiles are read by the producer's copies. Returns false and changes nothing if the layout does not
// allow it.
bool set_partition_local(RingDesign& ring, bool partition_local);

// 2D transforms of a batch of planes. Real planes (an even number of columns) transform the columns first, as pairs of
// neighbouring reals (pass/text/folded_rows_codegen.cpp); strides of their samples count pairs.
struct PlaneProblem {
  bool float64 = false, real = false;
  Direction direction = Direction::forward;
  std::size_t rows = 1, columns = 1;  // a column has `rows` points
  std::uint64_t in_point = 1, out_point = 1, in_row = 1, out_row = 1;
  std::vector<std::uint64_t> counts = {};  // batch dimensions of a plane's number; at least one
  std::vector<std::uint64_t> in_chunk = {}, out_chunk = {};
  double scale = 1;
  std::uint64_t planes() const;
};
// Parameters that identify a candidate: radices, lines, slots, lead.
std::vector<std::pair<std::string, std::string>> ring_parameters(const RingDesign& ring);
double plane_bytes(const PlaneProblem& plane);
std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane);

}  // namespace ridge::fft::on_device

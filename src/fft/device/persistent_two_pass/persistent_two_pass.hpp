// A persistent kernel that does two passes in one launch: what lies between them stays in the L2 cache. Its design, and
// what the routes that take it share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/text.hpp"
#include "fft/device/pass/codegen.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

inline constexpr std::size_t kRingControl = 32;  // counters before those of the slots, which have two each, or four

// Two passes in one launch: groups take the tiles of both in turn, and what lies between them goes through a ring of a
// few chunks that stays in the cache all compute units share. A chunk is a whole line, or lines side by side.
struct PersistentDesign {
  PassDesign first = {}, second = {};                // of one chunk; between them, addresses count from its slot
  std::uint64_t first_lines = 0, second_lines = 0;   // of a chunk
  std::vector<std::uint64_t> counts = {};            // of the digits of a chunk's number; the last one is unlimited
  std::vector<std::uint64_t> load = {}, store = {};  // where chunks begin, one a digit
  std::vector<std::uint64_t> store_factors = {};     // where theirs begin, the same; none: all have the same
  std::uint64_t slot = 0;                            // elements of a chunk between the passes
  std::size_t slots = 2;                             // of the ring
  std::size_t ahead = 1;                             // tiles of the first pass before the second begins
  std::size_t groups = 1;                            // on all compute units
  std::size_t halves = 1;  // of the shared cache: slots and ahead are those of one, chunks are shared out
  bool conducted = false;  // tiles come by themselves (conducted_codegen.cpp)
  // In blocks of one half of the cache (near_blocks.hpp): slots of two halves lie in turn, or in one ring for both the
  // tiles of the second pass, each in the half whose units take it while they can.
  bool near = false;

  std::uint64_t first_tiles() const { return (first_lines + first.lines - 1) / first.lines; }
  std::uint64_t second_tiles() const { return (second_lines + second.lines - 1) / second.lines; }
  std::uint64_t slot_step() const { return near && halves > 1 ? 2 * slot : slot; }  // between slots of one half
  bool knows_units() const { return halves > 1 || near; }
  std::size_t counters() const {  // of a half
    return kRingControl + (near && halves == 1 ? 4 : 2) * slots;
  }
};

// Both passes in one kernel (CUDA). Arguments: source, target, tables, factors, between (the ring), control (kept zero
// between launches), ulong in_offset, ulong out_offset, uint chunks, uint slots, uint ahead.
PassText persistent_text(const PersistentDesign& design);
// The same for tiles that come by themselves (Hopper): groups have a conductor more, and a map of the source comes
// last.
PassText conducted_text(const PersistentDesign& design);
inline constexpr std::size_t kConductor = 128;  // work-items: by so many registers are given and taken

// For each compute unit the half of the shared cache that is near to it, as measured: how many halves, units of the
// first and of both, then 0 or 1 for each unit.
inline constexpr std::size_t kMostUnits = 512, kUnitsTable = kMostUnits + 3;
const std::vector<std::uint32_t>& unit_halves(const Device& device);
KernelSource unit_halves_source();  // what measures it, to be compiled beside other kernels

// For each of so many slots of a ring of near blocks, one bit for each page of 2 MB: the first half's blocks are those
// whose place in the page has that parity. All zero where it could not be measured: then half of them are not near.
std::vector<std::uint32_t> near_pages(const Device& device, const Buffer& ring, std::uint64_t slot_bytes,
                                      std::size_t slots);
KernelSource near_pages_source();

// Parts of the texts of both: from `half` on its counters (control, written, read), its chunks (base, chunks) and slots
// (first_slot); where a chunk begins, from the digits of its number; is_first, chunk, slot, turn and
// group from `ticket`; how points are loaded and stored from here on.
void write_half(codegen::Text& text, const PersistentDesign& design);
std::string chunk_offset(const PersistentDesign& design, const std::vector<std::uint64_t>& strides);
void write_tile_of_ticket(codegen::Text& text, std::uint64_t first, std::uint64_t second);
void write_end(codegen::Text& text, const PersistentDesign& design, const char* who);
void write_accesses(codegen::Text& text, const char* load, const char* store);

std::shared_ptr<const StepDesign> persistent_step(const PersistentDesign& design);
// The design of such a step; nullptr of others.
const PersistentDesign* persistent_of(const Step& step);

// Of the H200's 50 MB: what comes and goes needs room too.
inline constexpr double kMostRing = 36e6, kGoodRing = 27e6;
inline constexpr std::uint64_t kLeastShared = 16;  // chunks that are shared out to halves of the cache

struct GroupShape {
  std::size_t items, most_held;
  bool all_twiddles = false;  // loaded, none multiplied together
  bool long_only = false;     // tiles of 16 lines of 1024 points, a compute unit each
};
// Best first, as measured on an H200.
inline constexpr GroupShape kGroupShapes[] = {
    {256, 32}, {512, 32, false, true}, {256, 32, true}, {256, 16}, {256, 16, true}};

// Radices and lines for exactly so many work-items a group, at least 64 bytes side by side.
bool shaped(const Device& device, PassDesign& pass, const GroupShape& shape, std::string& why);

// Radices and work-items a line of both passes that share groups of `items`, best first (group_pairs.cpp).
struct GroupPair {
  std::vector<std::size_t> first, second;  // radices
  std::size_t first_threads, second_threads, items;
};
std::vector<GroupPair> group_pairs(const PassDesign& first, const PassDesign& second, std::size_t most);

// How far the first pass runs ahead, and how long the ring is. A tile that is stored into a slot for the second time
// waits for tiles of the second pass: ahead is never so much that these would come after it.
bool sized(const Device& device, PersistentDesign& ring, std::uint64_t chunks, double most_bytes);
// In blocks of 4 KB: slots of both halves in turn, together half a megabyte, or one, or two, or four; or in one ring
// the tiles of the second pass, if the copies of a conductor read them. False, and nothing of it, where they do not
// serve.
bool set_near(PersistentDesign& ring, bool near);

// Planes whose rows and columns are transformed. Real ones, of an even number of columns, go columns first, as pairs of
// neighbouring reals (pass/folded_rows_codegen.cpp); steps of their samples count pairs.
struct PlaneProblem {
  bool float64 = false, real = false;
  Direction direction = Direction::forward;
  std::size_t rows = 1, columns = 1;  // the columns are as long as there are rows
  std::uint64_t in_point = 1, out_point = 1, in_row = 1, out_row = 1;
  std::vector<std::uint64_t> counts = {};  // of the digits of a plane's number; at least one
  std::vector<std::uint64_t> in_chunk = {}, out_chunk = {};
  double scale = 1;
  std::uint64_t planes() const;
};
// What tells a ring's candidate from others: radices, lines, the ring.
std::vector<std::pair<std::string, std::string>> persistent_parameters(const PersistentDesign& ring);
double plane_bytes(const PlaneProblem& plane);
std::vector<Route> list_planes(const Device& device, const PlaneProblem& plane);

}  // namespace ridge::fft::on_device

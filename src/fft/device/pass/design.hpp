// One pass over memory: what a generated kernel does to every line of a set, in plain numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

#include "fft/variant.hpp"

namespace ridge::fft::on_device {

// Where the points of the lines stand, in elements of the array: the lines are counted by digits, fastest first.
struct Address {
  std::uint64_t point = 1;
  std::vector<std::uint64_t> line = {};  // one a digit
  bool operator==(const Address&) const = default;
};

// What neighbouring work-items run along: the points of a line, or lines side by side.
enum class Order { points, lines };

// What a point in registers is in memory.
enum class Values {
  complex,
  reals,      // a real number; nothing imaginary
  pairs,      // two neighbouring reals: an even and an odd sample of a real line
  half,       // the n + 1 first values of the spectrum of 2 n reals that were loaded, or will be stored, as pairs
  hermitian,  // load only: the first half of a spectrum, the rest its mirror
};

enum class FactorKind { none, real, complex };

struct PassSide {
  Address at = {};
  Values values = Values::complex;
  std::uint64_t pair = 1;                // Values::pairs: elements from the even sample to the odd one; 0: real_kind
  FactorKind factor = FactorKind::none;  // from a table, one a point
  Address factor_at = {};
  std::uint64_t factor_pair = 1;
  // Points whose number is not below are zeros, or not stored; 0: all are there. Values::half: of the spectrum's
  // values.
  std::size_t valid = 0;
  Address valid_at = {};  // a point's number
  Storage storage = Storage::same;
  bool once = false;     // stream: nobody reads it again from the cache
  bool staged = false;   // the group's lines lie one after the other: moved in one run through local memory
  bool mapped = false;   // ahead only: the lines of a group move as tiles, by a map of the array
  bool near = false;     // in the blocks of one half of the shared cache (near_blocks.hpp)
  bool in_turn = false;  // near, with `block`: every other block of points is the other half's
  // Store only. Points in blocks: point k stands at k / block * block_step + k % block * at.point; 0: one block.
  std::uint64_t block = 0, block_step = 0;
};

// Between two passes: the point k of the line in column c is multiplied by exp(-2 pi i c k / order).
struct Twiddle {
  std::uint64_t order = 0;
  std::uint64_t columns = 0;  // c < columns
  Address column = {};        // c = sum of digit * column.line
};

enum class PrimeMethod {
  none,
  bluestein,  // transform, multiply by a table, transform back
  rader,      // the same, between a gather and a scatter by a generator's powers
  filter,     // the same with a table of the caller's, a part of it for each line
};

// Points between a tile's rows and their mirrors in local memory: lanes that load one each find them in other banks.
inline constexpr std::size_t kMirrorsApart = 8;

struct PassDesign {
  bool float64 = false;
  Direction direction = Direction::forward;
  std::size_t length = 1;  // of the transform in registers
  std::size_t points = 1;  // of a line in memory: the length, but for convolutions
  std::vector<std::size_t> radices = {1};
  std::size_t threads = 1;  // work-items a line
  std::size_t lines = 1;    // lines a work-group
  Order load_order = Order::points, store_order = Order::points;
  bool split = false;                 // exchange real and imaginary parts one after the other, in half the memory
  bool shuffles = false;              // the exchange goes from register to register of a sub-group's lanes
  std::size_t parts = 1;              // turns of an exchange, each in that share of the memory; split, one line a group
  bool few_twiddles = true;           // load some powers of a twiddle and multiply for the rest
  std::vector<std::uint64_t> counts;  // of the digits of a line's number; the last one is unlimited
  PassSide load = {}, store = {};
  Samples samples = Samples::same;  // on load
  double scale = 1;                 // on store
  bool in_place = false;
  std::optional<Twiddle> twiddle = {};
  PrimeMethod method = PrimeMethod::none;
  Address filter_at = {};  // PrimeMethod::filter: the factor of each value
  // Instead of a table: a function of the caller's, `real filter_factor(GLOBAL const double* table, ulong mode, ulong
  // line)`, where filter_at gives the mode and filter_line the line.
  std::string filter_function = {};
  Address filter_line = {};
  std::size_t resident = 1;  // work-groups that should fit on a compute unit at once
  // Groups stay, and their next lines land in local memory while those before are transformed; lines side by side are
  // all there, and come as they lie in memory: in one run, or one for each point.
  bool ahead = false;
  // Rows of a transform of pairs of reals: a work-item does row r + 1 and its mirror, row mirrored - 1 - r, where r is
  // the first digit of the line's number, and stores the spectrum of the samples. 0: a row is a row.
  std::uint64_t mirrored = 0;
  // So many rows of a real array whose columns go as pairs of reals (folded_rows_codegen.cpp): a line is row r and its
  // mirror, where r is the first digit of the line's number, at most half of them. Forward from rows of points / 2
  // pairs to rows of half a spectrum, and back. 0: a line is a line.
  std::uint64_t folded = 0;
  // Mirrored or folded rows, of an even number, chunk by chunk: r is row r, and the first line is row 0 with the middle
  // one, which mirror themselves. Whole groups of lines.
  bool own_mirrors = false;
  // Real lines two by two as one complex line (twin_lines_codegen.cpp): a line of the design is two of the problem's.
  bool twins = false;
  bool fold_lanes = false;  // forward: each row's values are loaded once, by every other lane, which exchange them
  // The lines are those of a real-to-real transform of so many points, reals on both sides: what it does before and
  // after the transform in its middle is done on load and on store (real_kind_writer.hpp).
  std::optional<RealKind> real_kind = {};
  std::size_t real_points = 0;
  bool any_offset = false;  // launches may begin at elements that are no multiples of four
  // Columns of an array by sets of counts[0], where counts[2] sets are more than there are columns: so many there are.
  // 0: all lines are there.
  std::uint64_t across = 0;

  std::size_t items() const { return threads * lines; }
};

// Points of a row of an array whose rows have mirrors: folded ones are pairs of reals.
inline std::size_t row_points(const PassDesign& design) {
  return design.folded > 0 ? design.points / 2 : design.points;
}

// A butterfly stage of a design: after `before` points' worth of earlier radices.
struct StageDesign {
  std::size_t radix, before, butterflies, rounds;
  std::size_t table;  // of its twiddles, in complex elements of the pass's tables
  Order order;
};

// The stages in order; a convolution has those of its way there and, with the radices turned round, of its way back.
std::vector<StageDesign> stages_of(const PassDesign& design);

// The powers of a twiddle that are loaded; the others are products of two of them.
std::vector<std::size_t> loaded_powers(std::size_t radix, bool few);

// Where each table starts, in complex elements.
struct TableOffsets {
  std::size_t coarse = 0, fine = 0, step = 0, filter = 0, chirp = 0, half = 0, kind = 0, end = 0;
  int fine_bits = 0;        // of an exponent
  bool step_table = false;  // else the steps come from coarse and fine too
};
TableOffsets table_offsets(const PassDesign& design);

}  // namespace ridge::fft::on_device

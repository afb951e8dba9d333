// Parameters of one pass over memory: what a generated kernel does to every line (one-dimensional transform) of a
// batch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

#include "fft/variant.hpp"

namespace ridge::fft::on_device {

// Strides in elements of the array: between the points of a line, and per batch dimension, fastest first.
struct Address {
  std::uint64_t point = 1;
  std::vector<std::uint64_t> line = {};  // one per batch dimension
  bool operator==(const Address&) const = default;
};

// The direction along which neighbouring work-items access memory: points of a line, or adjacent lines.
enum class Order { points, lines };

// The meaning in memory of a complex point in registers.
enum class Values {
  complex,
  reals,      // a real number; the imaginary part is zero
  pairs,      // two neighbouring reals: an even and an odd sample of a real line
  half,       // the first n + 1 values of the spectrum of 2 n reals, which the other side stores as pairs
  hermitian,  // load only: the first half of a Hermitian spectrum; the rest is its mirror
};

enum class FactorKind { none, real, complex };

struct PassSide {
  Address at = {};
  Values values = Values::complex;
  std::uint64_t pair = 1;                // Values::pairs: elements from the even sample to the odd one; 0: real_kind
  FactorKind factor = FactorKind::none;  // from a table, one per point
  Address factor_at = {};
  std::uint64_t factor_pair = 1;
  // Number of valid points per line. Later points read as zero and are not stored. 0 means all are valid. With
  // Values::half it counts values of the spectrum.
  std::size_t valid = 0;
  Address valid_at = {};  // index of a point, for `valid`
  // The array holds only box_count points of a line, from box_first on, which may continue at the beginning of the
  // line. Other points read as zero and are not stored. 0: all points.
  std::size_t box_first = 0, box_count = 0;
  Storage storage = Storage::same;
  bool once = false;                    // streaming access: the data are not read again from the cache
  bool staged = false;                  // the group's lines are contiguous and move in one run through local memory
  bool mapped = false;                  // with `ahead` only: the lines of a group move as tiles, by a tensor map (TMA)
  bool partition_local = false;         // in blocks local to one L2 partition (partition_blocks.hpp)
  bool interleaved_partitions = false;  // with `block`: blocks of points alternate between the L2 partitions
  // Store only. Points in blocks: point k is stored at k / block * block_step + k % block * at.point. 0: one block.
  std::uint64_t block = 0, block_step = 0;
};

// Twiddle between two passes: point k of the line in column c is multiplied by exp(-2 pi i c k / order).
struct Twiddle {
  std::uint64_t order = 0;
  std::uint64_t columns = 0;  // c < columns
  Address column = {};        // c = sum over the batch dimensions of index * column.line
};

// The kinds of lines that a pass transforms.

struct ComplexLines {};

// A transform, a multiplication by a table, and the inverse transform.
struct Convolution {
  enum Method {
    bluestein,
    rader,   // between a gather and a scatter by powers of a generator
    filter,  // with the caller's table; each line uses its own part
  };
  Method method = bluestein;
  Address filter_at = {};  // filter: index of the factor of each value
  // Source text of a function that replaces the table: `real filter_factor(GLOBAL const double* table, ulong mode,
  // ulong line)`; filter_at gives the mode and filter_line the line.
  std::string filter_function = {};
  Address filter_line = {};
};

// Rows of a real transform that was computed on pairs of samples. A work-item transforms row r + 1 and its mirror, row
// rows - 1 - r, and stores the spectrum of the samples; r is the index in the first batch dimension.
struct MirroredRows {
  std::uint64_t rows = 0;
  // Even numbers of rows, chunk by chunk: rows 0 and rows / 2, which are their own mirrors, form the first line. Needs
  // full groups of lines.
  bool self_mirrored = false;
};

// Rows of a real array whose columns were transformed as pairs of reals (text/folded_rows_codegen.cpp). A line is row r
// and its mirror; r, the index in the first batch dimension, is at most rows / 2. Forward: from rows of points / 2
// pairs to rows of half a spectrum. Inverse: the reverse.
struct FoldedRows {
  std::uint64_t rows = 0;
  bool self_mirrored = false;  // as for mirrored rows
  bool lanes = false;          // forward: each value of a row and its mirror is loaded once and exchanged between lanes
};

// Two real lines as the real and imaginary part of one complex line (text/paired_lines_codegen.cpp).
struct PairedLines {};

// A real-to-real transform of `points` reals: its pre- and post-processing is part of the load and the store
// (real_kind.hpp).
struct RealToReal {
  RealKind kind = {};
  std::size_t points = 0;
};

using LineKind = std::variant<ComplexLines, Convolution, MirroredRows, FoldedRows, PairedLines, RealToReal>;

// Padding, in points, between a tile's rows and their mirrors in local memory; avoids bank conflicts.
inline constexpr std::size_t kMirrorsApart = 8;

struct PassDesign {
  bool float64 = false;
  Direction direction = Direction::forward;
  std::size_t length = 1;  // of the transform in registers
  std::size_t points = 1;  // of a line in memory; differs from the length for convolutions only
  std::vector<std::size_t> radices = {1};
  std::size_t threads = 1;  // work-items per line
  std::size_t lines = 1;    // lines per work-group
  Order load_order = Order::points, store_order = Order::points;
  bool split = false;     // exchange real and imaginary parts one after another, in half of the local memory
  bool shuffles = false;  // exchange by shuffles within a sub-group instead of local memory
  std::size_t parts =
      1;  // an exchange is done in this many parts, each in 1 / parts of the memory; needs split, one line per group
  bool few_twiddles = true;           // load some powers of a twiddle and compute the others by multiplication
  std::vector<std::uint64_t> counts;  // batch dimensions of a line's number; the last one is unlimited
  PassSide load = {}, store = {};
  Samples samples = Samples::same;  // on load
  double scale = 1;                 // on store
  bool in_place = false;
  std::optional<Twiddle> twiddle = {};
  LineKind kind = ComplexLines{};
  std::size_t resident = 1;  // work-groups per compute unit that the registers should allow
  // Persistent groups, double buffered: the next lines are copied into local memory while the current ones are
  // transformed. Needs full groups of lines. The copy is one run, or one run per point for adjacent lines.
  bool ahead = false;
  bool any_offset = false;  // launches may start at elements that are not multiples of four
  // Number of columns if they are processed in sets of counts[0] and the last of the counts[2] sets is incomplete.
  // 0: all sets are complete.
  std::uint64_t across = 0;

  std::size_t items() const { return threads * lines; }
  const Convolution* convolution() const { return std::get_if<Convolution>(&kind); }
  bool convolves_by(Convolution::Method method) const { return convolution() && convolution()->method == method; }
  const MirroredRows* mirrored() const { return std::get_if<MirroredRows>(&kind); }
  const FoldedRows* folded() const { return std::get_if<FoldedRows>(&kind); }
  std::uint64_t mirror_rows() const { return mirrored() ? mirrored()->rows : folded() ? folded()->rows : 0; }
  bool self_mirrored() const { return mirrored() ? mirrored()->self_mirrored : folded() && folded()->self_mirrored; }
  bool fold_lanes() const { return folded() && folded()->lanes; }
  bool paired_lines() const { return std::holds_alternative<PairedLines>(kind); }
  const RealToReal* real_to_real() const { return std::get_if<RealToReal>(&kind); }
};

// Points per row of a mirrored or folded array; a point of a folded row is a pair of reals.
inline std::size_t row_points(const PassDesign& design) { return design.folded() ? design.points / 2 : design.points; }

// One butterfly stage; `before` is the product of the earlier radices.
struct StageDesign {
  std::size_t radix, before, butterflies, rounds;
  std::size_t table;  // offset of its twiddles in the tables of the pass, in complex elements
  Order order;
};

// The stages in order. A convolution has the stages of its forward transform and, with reversed radices, of its
// inverse.
std::vector<StageDesign> stages_of(const PassDesign& design);

// Twiddle powers that are loaded; the others are products of two of them.
std::vector<std::size_t> loaded_powers(std::size_t radix, bool few);

// Start of each table, in complex elements.
struct TableOffsets {
  std::size_t coarse = 0, fine = 0, step = 0, filter = 0, chirp = 0, half = 0, kind = 0, end = 0;
  int fine_bits = 0;        // low bits of an exponent, which index the fine table
  bool step_table = false;  // false: steps are computed from the coarse and fine tables
};
TableOffsets table_offsets(const PassDesign& design);

}  // namespace ridge::fft::on_device

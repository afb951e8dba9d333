// The problem of transforming one axis on a device.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <ridge/fft/tensor.hpp>
#include <ridge/plan.hpp>

#include "fft/device/step.hpp"
#include "fft/layout.hpp"

namespace ridge::fft::on_device {

// A batch of lines of one length, all transformed in the same way.
struct AxisProblem {
  bool float64 = false;
  Direction direction = Direction::forward;
  Kind kind = Kind::complex;
  std::size_t length = 1;             // for real lines: number of samples
  std::vector<std::uint64_t> counts;  // batch dimensions, fastest first; at least one
  Address in, out;
  bool in_place = false;
  Samples samples = Samples::same;
  Storage load_storage = Storage::same, store_storage = Storage::same;
  bool float16() const { return load_storage != Storage::same || store_storage != Storage::same; }
  FactorTable load = {}, store = {};  // indexed by the points of the whole shape
  Address load_at = {}, store_at = {};
  double scale = 1;
  // Set for real-to-real transforms of real_points points, around the transform described here.
  std::optional<RealKind> real_kind = {};
  std::size_t real_points = 0;
  bool any_offset = false;  // runs may start at elements that are not multiples of four
  // Even real lengths: number of values of the spectrum that are stored or given; the others are zero. 0: all. Only
  // one_pass supports it.
  std::size_t kept = 0;

  // Number of rows of a real array whose columns are transformed as pairs of reals. A line is row r, the index in the
  // first batch dimension, together with row folded - r (pass/text/folded_rows_codegen.cpp). 0: ordinary lines. Only
  // one_pass supports it.
  std::uint64_t folded = 0;

  // The arrays hold only these points of each side; the others are read as zero, or not stored. Only one_pass supports
  // it.
  bool boxed = false;
  AxisRange read{}, written{};

  std::uint64_t lines() const;
};

// Merges batch dimensions whose strides continue each other and puts the one with the shortest stride first.
void normalize(AxisProblem& problem);

// Least number of bytes that a pass over the data moves.
double problem_bytes(const AxisProblem& problem);
double usual_flops(const AxisProblem& problem);

// Description of an axis for the planner; the key of its wisdom.
planner::Problem planner_problem(const AxisProblem& problem);

Order order_of(const Address& at);

// Index of a packed table with one value per point of a side.
Address factor_places(const Side& side, std::size_t axes, std::size_t axis);

// Contiguous lines, as a route stores them in its own arrays.
Address packed_lines(const AxisProblem& problem, std::size_t points);

// True if the lines are columns of an array, in the input and in the output: adjacent lines, strided points.
bool are_columns(const AxisProblem& problem);

// Lines per index of the last batch dimension.
std::uint64_t inner_lines(const AxisProblem& problem);

}  // namespace ridge::fft::on_device

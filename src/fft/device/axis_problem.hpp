// What one axis of a transform asks of a device.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <ridge/fft/tensor.hpp>
#include <ridge/plan.hpp>

#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

// Lines of one length, all transformed the same way.
struct AxisProblem {
  bool float64 = false;
  Direction direction = Direction::forward;
  Kind kind = Kind::complex;
  std::size_t length = 1;             // real: of the samples
  std::vector<std::uint64_t> counts;  // of the digits that number the lines, fastest first; at least one
  Address in, out;
  bool in_place = false;
  Samples samples = Samples::same;
  Storage load_storage = Storage::same, store_storage = Storage::same;
  bool halves() const { return load_storage != Storage::same || store_storage != Storage::same; }
  FactorTable load = {}, store = {};  // of the points of a whole shape
  Address load_at = {}, store_at = {};
  double scale = 1;
  // Lines of a real-to-real transform of so many points, around the transform that is described here.
  std::optional<RealKind> real_kind = {};
  std::size_t real_points = 0;
  bool any_offset = false;  // runs may begin at elements that are no multiples of four
  // Real lines of even length: so many values of the spectrum are stored, or are there, and the others are zero; 0: all
  // of them. Only one_pass knows of it.
  std::size_t kept = 0;

  // So many rows of a real array whose columns go as pairs of reals: the points of a line are those of row r, its first
  // digit, and those of row folded - r (pass/folded_rows_codegen.cpp). 0: a line is a line. Only one_pass knows of it.
  std::uint64_t folded = 0;

  std::uint64_t lines() const;
};

// Digits whose strides continue each other become one, and the one with the shortest steps comes first.
void normalize(AxisProblem& problem);

// The least a pass over the problem's data moves.
double problem_bytes(const AxisProblem& problem);
double usual_flops(const AxisProblem& problem);

// What the planner is told of an axis, and wisdom is kept under.
planner::Problem planner_problem(const AxisProblem& problem);

Order order_of(const Address& at);

// Lines one after the other, as a route keeps them on its own.
Address packed_lines(const AxisProblem& problem, std::size_t points);

// The lines of one value of the last digit.
std::uint64_t inner_lines(const AxisProblem& problem);

}  // namespace ridge::fft::on_device

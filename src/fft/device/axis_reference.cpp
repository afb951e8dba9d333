// Loads the lines of an axis problem on the host, transforms them in double, and stores the expected values.
#include "fft/device/axis_reference.hpp"

#include <algorithm>
#include <cstring>

#include "base/threads.hpp"
#include "fft/direct_values.hpp"
#include "fft/float16.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kFewPoints = std::size_t{1} << 16;  // of a line that one thread loads

std::vector<std::complex<double>> values_of(const FactorTable& table) {
  if (table.later) return table.later();
  if (!table.complex.empty()) return table.complex.all();
  return {table.real.begin(), table.real.end()};
}

template <class Number>
double number_at(const std::byte* in, std::uint64_t index) {
  Number number;
  std::memcpy(&number, in + index * sizeof(Number), sizeof(Number));
  return static_cast<double>(number);
}

bool is_samples(const AxisProblem& problem, bool input) { return input == (problem.direction == Direction::forward); }

}  // namespace

std::uint64_t side_points(const AxisProblem& problem, bool input) {
  if (problem.real_kind) return problem.real_points;
  if (problem.boxed) return input ? problem.read.count : problem.written.count;
  if (problem.folded > 0) return problem.length + (is_samples(problem, input) ? 0 : 2);  // of both rows
  if (problem.kept > 0 && !is_samples(problem, input)) return problem.kept;
  return problem.kind == Kind::real && !is_samples(problem, input) ? problem.length / 2 + 1 : problem.length;
}

std::size_t element_bytes(const AxisProblem& problem, bool input) {
  const std::size_t number = problem.float64 ? sizeof(double) : sizeof(float);
  const bool float16 = (input ? problem.load_storage : problem.store_storage) != Storage::same;
  const std::size_t each = float16                                      ? 2
                           : input && problem.samples == Samples::int8  ? 1
                           : input && problem.samples == Samples::int16 ? 2
                                                                        : number;
  const bool reals = problem.real_kind || (problem.kind == Kind::real && is_samples(problem, input));
  return reals ? each : 2 * each;
}

std::uint64_t side_extent(const AxisProblem& problem, bool input) {
  const Address& at = input ? problem.in : problem.out;
  std::uint64_t last = (side_points(problem, input) / (problem.folded > 0 ? 2 : 1) - 1) * at.point;
  for (std::size_t dimension = 0; dimension < problem.counts.size(); ++dimension) {
    const std::uint64_t count = dimension == 0 && problem.folded > 0 ? problem.folded : problem.counts[dimension];
    last += (count - 1) * at.line[dimension];
  }
  return last + 1;
}

std::uint64_t value_place(const AxisProblem& problem, bool input, std::uint64_t line, std::uint64_t i) {
  const Address& at = input ? problem.in : problem.out;
  const std::uint64_t start = line_start(problem, at, line), each = side_points(problem, input) / 2;
  if (problem.folded == 0 || i < each) return start + i * at.point;
  const std::uint64_t row = line % problem.counts.front(), mirror = (problem.folded - row) % problem.folded;
  return start - row * at.line.front() + mirror * at.line.front() + (i - each) * at.point;
}

std::uint64_t line_start(const AxisProblem& problem, const Address& at, std::uint64_t number) {
  std::uint64_t start = 0;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    start += number % problem.counts[dimension] * at.line[dimension];
    number /= problem.counts[dimension];
  }
  return start;
}

AxisReference::AxisReference(const AxisProblem& problem)
    : problem_(problem), load_(values_of(problem.load)), store_(values_of(problem.store)) {}

LineKernel<double>& AxisReference::kernel() const {
  if (!kernel_) kernel_ = default_line<double>(problem_.length);
  return *kernel_;
}

std::complex<double> AxisReference::loaded(const std::byte* in, std::uint64_t element) const {
  const bool pair = !problem_.real_kind && (problem_.kind == Kind::complex || !is_samples(problem_, true));
  const auto number = [&](std::uint64_t index) {
    if (problem_.load_storage != Storage::same) {
      std::uint16_t bits;
      std::memcpy(&bits, in + index * sizeof(bits), sizeof(bits));
      return static_cast<double>(from_stored(problem_.load_storage, bits));
    }
    if (problem_.samples == Samples::int8) return number_at<std::int8_t>(in, index);
    if (problem_.samples == Samples::int16) return number_at<std::int16_t>(in, index);
    return problem_.float64 ? number_at<double>(in, index) : number_at<float>(in, index);
  };
  if (!pair) return number(element);
  return {number(2 * element), number(2 * element + 1)};
}

std::vector<std::complex<double>> AxisReference::real_to_real(const std::byte* in, std::uint64_t start) const {
  const std::size_t n = problem_.real_points;
  const TensorPlan<double> plan = cached_tensor_plan<double>({.kind = TensorKind::real_to_real,
                                                              .axes = {{n, 1, 1}},
                                                              .real_kinds = {*problem_.real_kind},
                                                              .scale = problem_.scale},
                                                             {.effort = Effort::quick, .save_wisdom = false});
  std::vector<double> samples(n), values(n);
  for (std::uint64_t i = 0; i < n; ++i) samples[i] = loaded(in, start + i * problem_.in.point).real();
  plan.run(samples.data(), values.data());
  return {values.begin(), values.end()};
}

std::vector<std::complex<double>> AxisReference::folded(const std::byte* in, std::uint64_t number) const {
  using Value = std::complex<double>;
  const std::size_t n = problem_.length, half = n / 2;
  const Value i_unit(0, 1);
  const auto value = [&](std::uint64_t i) { return loaded(in, value_place(problem_, true, number, i)); };
  base::AlignedArray<Value> points(n), result(n), scratch(kernel().scratch() + 1);
  const bool forward = problem_.direction == Direction::forward;
  for (std::size_t i = 0; i < half; ++i) {
    if (forward) {
      const Value row = value(i), mirror = std::conj(value(half + i));
      points[2 * i] = (row + mirror) / 2.0;
      points[2 * i + 1] = (row - mirror) / (2.0 * i_unit);
    } else {
      points[i] = i == 0 ? (value(0) + std::conj(value(half + 1))) / 2.0 : value(i);
      points[half + i] = i == 0 ? (value(half) + std::conj(value(n + 1))) / 2.0 : std::conj(value(half + 1 + half - i));
    }
  }
  kernel().run(problem_.direction, points.data(), result.data(), scratch.data());
  std::vector<Value> values(side_points(problem_, false));
  const std::size_t each = values.size() / 2;
  for (std::size_t i = 0; i < each; ++i) {
    values[i] = problem_.scale * (forward ? result[i] : result[2 * i] + i_unit * result[2 * i + 1]);
    values[each + i] = problem_.scale * (forward ? std::conj(result[(n - i) % n])
                                                 : std::conj(result[2 * i]) + i_unit * std::conj(result[2 * i + 1]));
  }
  return values;
}

// The points that the line's transform begins with.
base::AlignedArray<std::complex<double>> AxisReference::loaded_line(const std::byte* in, std::uint64_t number) const {
  const std::size_t n = problem_.length;
  const std::uint64_t start = line_start(problem_, problem_.in, number);
  const std::uint64_t load_start = load_.empty() ? 0 : line_start(problem_, problem_.load_at, number);
  base::AlignedArray<std::complex<double>> points(n);
  const std::uint64_t given = side_points(problem_, true);
  if (problem_.boxed) std::fill(points.begin(), points.end(), std::complex<double>());
  base::parallel(n < kFewPoints ? 1 : 0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(given, thread, threads);
    for (std::uint64_t i = share.begin; i < share.end; ++i) {
      std::complex<double>& point = points[(i + (problem_.boxed ? problem_.read.first : 0)) % n];
      point = loaded(in, start + i * problem_.in.point);
      if (!load_.empty()) point *= load_[load_start + i * problem_.load_at.point];
    }
  });
  if ((given < n && !problem_.boxed) || (problem_.kind == Kind::real && !is_samples(problem_, true))) {
    // The rest of a spectrum is the mirror of its first half; values that are their own mirror are real.
    if (!problem_.boxed) std::fill(points.begin() + given, points.end(), std::complex<double>());
    points[0] = points[0].real();
    if (n % 2 == 0 && n > 1) points[n / 2] = points[n / 2].real();
    for (std::size_t k = 1; k < n - n / 2; ++k) points[n - k] = std::conj(points[k]);
  }
  return points;
}

// Value i of a line as it is stored, from its transform.
std::complex<double> AxisReference::stored(std::complex<double> value, std::uint64_t number, std::uint64_t i) const {
  value *= store_.empty() ? problem_.scale
                          : store_[line_start(problem_, problem_.store_at, number) + i * problem_.store_at.point];
  return problem_.kind == Kind::real && is_samples(problem_, false) ? value.real() : value;
}

std::vector<std::complex<double>> AxisReference::line(const std::byte* in, std::uint64_t number) const {
  if (problem_.real_kind) return real_to_real(in, line_start(problem_, problem_.in, number));
  if (problem_.folded > 0) return folded(in, number);
  const std::size_t n = problem_.length;
  const auto points = loaded_line(in, number);
  base::AlignedArray<std::complex<double>> result(n), scratch(kernel().scratch() + 1);
  kernel().run(problem_.direction, points.data(), result.data(), scratch.data());
  std::vector<std::complex<double>> values(side_points(problem_, false));
  for (std::uint64_t i = 0; i < values.size(); ++i)
    values[i] = stored(result[(i + (problem_.boxed ? problem_.written.first : 0)) % n], number, i);
  return values;
}

std::vector<std::complex<double>> AxisReference::values(const std::byte* in, std::uint64_t number,
                                                        std::span<const std::uint64_t> wanted) const {
  const auto points = loaded_line(in, number);
  std::vector<std::uint64_t> places(wanted.begin(), wanted.end());
  for (std::uint64_t& place : places) place = (place + (problem_.boxed ? problem_.written.first : 0)) % problem_.length;
  std::vector<std::complex<double>> values = direct_values(points.span(), problem_.direction, places);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = stored(values[i], number, wanted[i]);
  return values;
}

}  // namespace ridge::fft::on_device

// Checks cosine, sine and Hartley transforms of which a box is given and a box wanted, and columns of a spectrum. The
// reference multiplies by the matrix of each axis in long double. Boxes of Fourier transforms: direction.hpp.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/fft/columns.hpp>
#include <ridge/fft/real_boxes.hpp>

#include "check/check.hpp"

namespace ridge::check {
namespace {

using fft::Box;
using fft::RealKind;
using WideBox = std::complex<long double>;
constexpr long double kBoxPi = std::numbers::pi_v<long double>;

// Rows are wanted values, columns given samples.
struct BoxMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<WideBox> values{};
  void transpose() {
    BoxMatrix other{columns, rows, std::vector<WideBox>(values.size())};
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) other.values[c * rows + r] = values[r * columns + c];
    *this = std::move(other);
  }
};

// exp(sign 2 pi i k j / n).
WideBox fourier_factor(int sign, std::size_t n, std::size_t k, std::size_t j) {
  const long double turns = static_cast<long double>(k * j % n) / static_cast<long double>(n);
  return std::polar(1.0L, static_cast<long double>(sign) * 2 * kBoxPi * turns);
}

// FFTW's definitions (include/ridge/fft/tensor.hpp); not the half-complex kinds.
long double real_factor(RealKind kind, std::size_t points, std::size_t row, std::size_t column) {
  const auto n = static_cast<long double>(points), k = static_cast<long double>(row),
             j = static_cast<long double>(column);
  const bool last = column + 1 == points;
  switch (kind) {
    case RealKind::hartley:
      return std::cos(2 * kBoxPi * k * j / n) + std::sin(2 * kBoxPi * k * j / n);
    case RealKind::dct1:
      return (column == 0 || last ? 1 : 2) * std::cos(kBoxPi * j * k / (n - 1));
    case RealKind::dct2:
      return 2 * std::cos(kBoxPi * (j + 0.5L) * k / n);
    case RealKind::dct3:
      return (column == 0 ? 1 : 2) * std::cos(kBoxPi * j * (k + 0.5L) / n);
    case RealKind::dct4:
      return 2 * std::cos(kBoxPi * (j + 0.5L) * (k + 0.5L) / n);
    case RealKind::dst1:
      return 2 * std::sin(kBoxPi * (j + 1) * (k + 1) / (n + 1));
    case RealKind::dst2:
      return 2 * std::sin(kBoxPi * (j + 0.5L) * (k + 1) / n);
    case RealKind::dst3:
      return (last ? 1 : 2) * std::sin(kBoxPi * (j + 1) * (k + 0.5L) / n);
    default:
      return 2 * std::sin(kBoxPi * (j + 0.5L) * (k + 0.5L) / n);
  }
}

// Matrix of an axis of n points: factor(row, column) of the points of two ranges, which wrap at n.
template <class Factor>
BoxMatrix box_matrix(std::size_t n, std::pair<std::size_t, std::size_t> rows,
                     std::pair<std::size_t, std::size_t> columns, const Factor& factor) {
  BoxMatrix matrix{rows.second, columns.second, {}};
  for (std::size_t r = 0; r < rows.second; ++r) {
    for (std::size_t c = 0; c < columns.second; ++c)
      matrix.values.emplace_back(factor((rows.first + r) % n, (columns.first + c) % n));
  }
  return matrix;
}

// Multiplies one axis after another.
std::vector<WideBox> apply_box_matrices(std::vector<WideBox> data, const std::vector<BoxMatrix>& axes) {
  std::size_t outer = 1;
  for (const BoxMatrix& axis : axes) {
    const std::size_t inner = data.size() / outer / axis.columns;
    std::vector<WideBox> next(outer * axis.rows * inner);
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t r = 0; r < axis.rows; ++r) {
        for (std::size_t c = 0; c < axis.columns; ++c) {
          const WideBox factor = axis.values[r * axis.columns + c];
          for (std::size_t i = 0; i < inner; ++i)
            next[(o * axis.rows + r) * inner + i] += factor * data[(o * axis.columns + c) * inner + i];
        }
      }
    }
    data = std::move(next);
    outer *= axis.rows;
  }
  return data;
}

// Size of the values that random input gives if the factors have the size 1: the least divisor of an error, because a
// few values may all be small.
long double expected_box_square(long double input, std::size_t count, const std::vector<BoxMatrix>& axes) {
  long double square = input / static_cast<long double>(count);
  for (const BoxMatrix& axis : axes) square *= static_cast<long double>(axis.values.size());
  return square;
}

// 8 units of the type's precision in the L2 norm.
template <class T, class Value>
Outcome compare_boxes(const std::vector<Value>& got, const std::vector<WideBox>& wanted, long double least) {
  long double square = 0, difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    WideBox value = wanted[i];
    if constexpr (std::is_same_v<Value, T>) value = value.real();
    square += std::norm(value);
    difference += std::norm(WideBox(got[i]) - value);
  }
  const auto error = static_cast<double>(std::sqrt(difference));
  const double allowed =
      8 * double{std::numeric_limits<T>::epsilon()} * static_cast<double>(std::sqrt(std::max(square, least)));
  if (error <= allowed) return {};
  return {.wrong = fmt::format("error {:.2e} in the L2 norm, allowed {:.2e}", error, allowed)};
}

template <class T, class Value>
std::vector<Value> box_noise(std::size_t count, std::uint64_t seed) {
  std::vector<Value> values(count);
  fill_values(std::as_writable_bytes(std::span(values)), sizeof(T) == 4 ? Values::float32 : Values::float64, seed);
  return values;
}

template <class Value>
long double box_square(const std::vector<Value>& values) {
  long double sum = 0;
  for (const Value& value : values) sum += std::norm(WideBox(value));
  return sum;
}

// A range per axis of these lengths, which may continue at the beginning of its axis.
Box draw_real_box(Random& random, const std::vector<std::size_t>& lengths) {
  Box box;
  for (const std::size_t n : lengths) {
    const bool whole = random.chance(0.3);
    const std::size_t first = whole ? 0 : random.below(n);
    box.first.push_back(first);
    box.count.push_back(whole ? n : random.between(1, n));
  }
  return box;
}

std::string box_text(const Box& box) {
  return fmt::format("{} from {}", fmt::join(box.count, "x"), fmt::join(box.first, ","));
}

std::vector<std::size_t> draw_box_shape(Draw& draw, std::size_t axes) {
  constexpr std::size_t kMostBoxPoints = 20'000;  // products of the reference: these times the longest axis
  const auto most = static_cast<double>(std::min(draw.points, kMostBoxPoints));
  const auto side = static_cast<std::size_t>(std::pow(most, 1.0 / static_cast<double>(axes)));
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < axes; ++i)
    shape.push_back(draw.random.length(std::max<std::size_t>(1, std::min<std::size_t>(side, 300))));
  return shape;
}

std::pair<std::size_t, std::size_t> range_of_axis(const Box& box, std::size_t axis) {
  return {box.first[axis], box.count[axis]};
}

template <class T>
Outcome check_real_boxes(Draw& draw) {
  Random& random = draw.random;
  static const std::vector<RealKind> kinds{RealKind::hartley, RealKind::dct1, RealKind::dct2,
                                           RealKind::dct3,    RealKind::dct4, RealKind::dst1,
                                           RealKind::dst2,    RealKind::dst3, RealKind::dst4};
  const bool transposed = random.chance(0.4);
  const std::uint64_t data = random.bits();
  const std::size_t axes = random.between(1, 4);
  fft::RealBoxesProblem problem{.shape = draw_box_shape(draw, axes), .threads = random.below(3)};
  for (std::size_t& n : problem.shape) {
    problem.kinds.push_back(random.one_of(kinds));
    n = std::max<std::size_t>(n, problem.kinds.back() == RealKind::dct1 ? 2 : 1);
  }
  problem.given = draw_real_box(random, problem.shape);
  problem.wanted = draw_real_box(random, problem.shape);
  draw.problem = fmt::format("{} boxes of {}: {} given, {} wanted, kinds", sizeof(T) == 4 ? "f32" : "f64",
                             fmt::join(problem.shape, "x"), box_text(problem.given), box_text(problem.wanted));
  std::vector<BoxMatrix> matrices;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t n = problem.shape[i];
    draw.problem += fmt::format(" {}", fft::to_string(problem.kinds[i]));
    matrices.push_back(
        box_matrix(n, range_of_axis(problem.wanted, i), range_of_axis(problem.given, i),
                   [&](std::size_t k, std::size_t j) { return real_factor(problem.kinds[i], n, k, j); }));
    if (transposed) matrices.back().transpose();
  }
  if (transposed) draw.problem += ", transposed";
  const fft::RealBoxes<T> whole(draw.device, problem);
  const fft::RealBoxes<T> plan = transposed ? whole.adjoint() : whole;
  const std::vector<T> in = box_noise<T, T>(plan.input_size(), data);
  std::vector<T> out(plan.output_size(), std::numeric_limits<T>::quiet_NaN());
  plan.run(in, out);
  draw.answered(std::as_writable_bytes(std::span(out)));
  std::vector<WideBox> wide(in.begin(), in.end());
  return compare_boxes<T>(out, apply_box_matrices(std::move(wide), matrices),
                          expected_box_square(box_square(in), in.size(), matrices));
}

// Draws columns, with at most one of each pair of conjugate modes for real grids. Returns the modes' places.
std::vector<std::size_t> draw_columns(Random& random, fft::ColumnsProblem& problem) {
  const auto& shape = problem.shape;
  const bool real = problem.kind == fft::Kind::real;
  const double chance = random.uniform();
  std::vector<std::size_t> places;
  std::vector<bool> taken(shape[0] * shape[1], false);
  for (std::size_t line = 0; line < shape[0] * shape[1]; ++line) {
    const std::size_t x = line / shape[1], y = line % shape[1];
    const std::size_t mirror = (shape[0] - x) % shape[0] * shape[1] + (shape[1] - y) % shape[1];
    if (!random.chance(chance) || (real && taken[mirror])) continue;
    taken[line] = true;
    fft::Column column{.x = x, .y = y, .first = random.below(shape[2]), .count = random.below(shape[2] + 1)};
    if (real && mirror == line) {  // one of z and -z
      column.first = random.below(shape[2] / 2 + 1);
      column.count = random.below(shape[2] / 2 + 2 - column.first);
    }
    problem.columns.push_back(column);
    for (std::size_t i = 0; i < column.count; ++i) places.push_back(line * shape[2] + (column.first + i) % shape[2]);
  }
  if (places.empty()) {  // lists without modes are refused
    problem.columns.assign(1, {.count = 1});
    places.push_back(0);
  }
  return places;
}

template <class T, class Sample>
Outcome check_column_lists(Draw& draw) {
  Random& random = draw.random;
  constexpr bool kReal = std::is_same_v<Sample, T>;
  const bool inverse = random.chance(0.5);
  const std::uint64_t data = random.bits();
  fft::ColumnsProblem problem{.shape = draw_box_shape(draw, 3),
                              .kind = kReal ? fft::Kind::real : fft::Kind::complex,
                              .threads = random.below(3)};
  const auto& shape = problem.shape;
  const std::vector<std::size_t> places = draw_columns(random, problem);
  draw.problem =
      fmt::format("{}{} columns of {}: {} columns, {} modes{}", sizeof(T) == 4 ? "f32" : "f64", kReal ? " real" : "",
                  fmt::join(shape, "x"), problem.columns.size(), places.size(), inverse ? ", inverse" : "");
  const fft::ColumnTransform<T> plan(draw.device, problem);
  const std::size_t points = shape[0] * shape[1] * shape[2];
  std::vector<WideBox> whole(points), got, wanted;
  long double square = 0;
  if (inverse) {
    const auto modes = box_noise<T, std::complex<T>>(places.size(), data);
    std::vector<Sample> samples(points, Sample(std::numeric_limits<T>::quiet_NaN()));
    plan.inverse(std::span<const std::complex<T>>(modes), std::span(samples));
    draw.answered(std::as_writable_bytes(std::span(samples)));
    got.assign(samples.begin(), samples.end());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t z = places[i] % shape[2], y = places[i] / shape[2] % shape[1],
                        x = places[i] / shape[2] / shape[1];
      const std::size_t other =
          ((shape[0] - x) % shape[0] * shape[1] + (shape[1] - y) % shape[1]) * shape[2] + (shape[2] - z) % shape[2];
      const WideBox mode(modes[i]);
      whole[places[i]] = kReal && other == places[i] ? WideBox(mode.real()) : mode;
      if (kReal && other != places[i]) whole[other] = std::conj(mode);
    }
    square = box_square(whole);
  } else {
    const auto samples = box_noise<T, Sample>(points, data);
    std::vector<std::complex<T>> modes(places.size(), std::complex<T>(std::numeric_limits<T>::quiet_NaN()));
    plan.forward(std::span<const Sample>(samples), std::span(modes));
    draw.answered(std::as_writable_bytes(std::span(modes)));
    got.assign(modes.begin(), modes.end());
    whole.assign(samples.begin(), samples.end());
    square = box_square(samples);
  }
  std::vector<BoxMatrix> matrices;
  for (const std::size_t n : shape) {
    matrices.push_back(box_matrix(
        n, {0, n}, {0, n}, [&](std::size_t k, std::size_t j) { return fourier_factor(inverse ? 1 : -1, n, k, j); }));
  }
  whole = apply_box_matrices(std::move(whole), matrices);
  for (std::size_t i = 0; i < got.size(); ++i) wanted.push_back(whole[inverse ? i : places[i]]);
  return compare_boxes<T>(got, wanted, square * static_cast<long double>(got.size()));
}

template <class T>
Outcome check_one_box(Draw& draw) {
  if (draw.random.chance(0.5)) return check_real_boxes<T>(draw);
  return draw.random.chance(0.5) ? check_column_lists<T, T>(draw) : check_column_lists<T, std::complex<T>>(draw);
}

}  // namespace

Outcome check_boxes(Draw& draw) {
  const bool wide = draw.random.chance(0.5) && draw.device.limits().float64;
  return wide ? check_one_box<double>(draw) : check_one_box<float>(draw);
}

}  // namespace ridge::check

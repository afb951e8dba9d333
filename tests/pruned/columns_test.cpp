// Transforms of a list of columns: against sums in long double, and in the shape of a plane-wave code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>

#include <ridge/fft/columns.hpp>

#include "device/cuda/nvrtc.hpp"
#include "fft/columns/geometry.hpp"
#include "fft/device/boxes/box_copy.hpp"
#include "fft/device/boxes/columns.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::fft {
namespace {

using testing::HasSubstr;
using Wide = std::complex<long double>;

// Position of every mode of the list in the packed spectrum.
std::vector<std::size_t> mode_places(const ColumnsProblem& problem) {
  std::vector<std::size_t> found;
  for (const Column& column : problem.columns) {
    for (std::size_t i = 0; i < column.count; ++i) {
      found.push_back((column.x * problem.shape[1] + column.y) * problem.shape[2] +
                      (column.first + i) % problem.shape[2]);
    }
  }
  return found;
}

// Sum over the points `from` of values times exp(sign 2 pi i k.r) at the points `to`.
template <class T>
std::vector<Wide> sums(const std::vector<std::size_t>& shape, const std::vector<std::size_t>& from,
                       const std::vector<std::complex<T>>& values, const std::vector<std::size_t>& to, int sign) {
  const auto split = [&](std::size_t at) {
    return std::array{at / (shape[1] * shape[2]), at / shape[2] % shape[1], at % shape[2]};
  };
  std::vector<Wide> out;
  for (const std::size_t place : to) {
    const auto r = split(place);
    Wide sum = 0;
    for (std::size_t j = 0; j < from.size(); ++j) {
      const auto k = split(from[j]);
      long double turns = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        turns += static_cast<long double>(k[i] * r[i] % shape[i]) / static_cast<long double>(shape[i]);
      }
      sum += Wide(values[j]) * std::polar(1.0L, sign * 2 * std::numbers::pi_v<long double> * turns);
    }
    out.push_back(sum);
  }
  return out;
}

template <class T>
std::vector<std::complex<T>> column_noise(std::size_t count, unsigned seed) {
  std::vector<std::complex<T>> values(count);
  unsigned state = seed;
  const auto next = [&] { return static_cast<T>((state = state * 1664525u + 1013904223u) >> 8) / T(1 << 23) - 1; };
  for (auto& value : values) value = {next(), next()};
  return values;
}

template <class T>
double column_error(const std::vector<std::complex<T>>& got, const std::vector<Wide>& expected) {
  long double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(Wide(got.at(i)) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return static_cast<double>(std::sqrt(difference / norm));
}

template <class T>
void expect_sums(const ColumnsProblem& problem, const Device& device = host()) {
  const ColumnTransform<T> transform(device, problem, {.effort = Effort::quick, .use_wisdom = false});
  const std::size_t points = problem.shape[0] * problem.shape[1] * problem.shape[2];
  std::vector<std::size_t> all(points);
  for (std::size_t i = 0; i < points; ++i) all[i] = i;
  const auto listed = mode_places(problem);
  ASSERT_EQ(transform.size(), listed.size());
  const auto samples = column_noise<T>(points, 1), modes = column_noise<T>(listed.size(), 2);
  const std::complex<T> nan(std::numeric_limits<T>::quiet_NaN());
  std::vector<std::complex<T>> got_modes(listed.size(), nan), got_samples(points, nan);
  transform.forward(samples, got_modes);
  transform.inverse(modes, got_samples);
  EXPECT_LE(column_error(got_modes, sums(problem.shape, all, samples, listed, -1)),
            4 * std::numeric_limits<T>::epsilon());
  EXPECT_LE(column_error(got_samples, sums(problem.shape, listed, modes, all, 1)),
            4 * std::numeric_limits<T>::epsilon());
}

TEST(Columns, EqualSumsInAwkwardShapes) {
  expect_sums<double>({.shape = {1, 1, 1}, .columns = {{0, 0, 0, 1}}});
  expect_sums<double>({.shape = {2, 3, 7}, .columns = {{1, 2, 5, 4}, {0, 2, 0, 7}, {1, 0, 3, 0}}});
  expect_sums<float>({.shape = {5, 1, 6}, .columns = {{4, 0, 5, 3}, {0, 0, 0, 1}}});
  expect_sums<float>({.shape = {3, 11, 4}, .columns = {{1, 10, 2, 2}, {1, 0, 0, 4}, {1, 1, 3, 3}}});
}

// The shape with 4099 points has lines too long for a work-group, of which devices store all points.
using ColumnsOnDevices = ridge::test::NeedsAccelerator<>;
TEST_F(ColumnsOnDevices, EqualSums) {
  for (const Device& device : ridge::test::accelerators()) {
    expect_sums<float>({.shape = {1, 1, 1}, .columns = {{0, 0, 0, 1}}}, device);
    expect_sums<float>({.shape = {4, 9, 5}, .columns = {{3, 8, 4, 3}, {0, 0, 1, 2}, {3, 0, 0, 5}}}, device);
    expect_sums<float>({.shape = {1, 4099, 2}, .columns = {{0, 4098, 1, 2}, {0, 1, 0, 1}}}, device);
    if (!device.limits().float64) continue;
    expect_sums<double>({.shape = {3, 11, 4}, .columns = {{1, 10, 2, 2}, {1, 0, 0, 4}, {1, 1, 3, 3}}}, device);
  }
}

// Sum of the modes listed and of their conjugates at all points, or the sum over real samples at the modes listed.
template <class T>
void expect_real_sums(ColumnsProblem problem, const Device& device = host()) {
  problem.kind = Kind::real;
  const ColumnTransform<T> transform(device, problem, {.effort = Effort::quick, .use_wisdom = false});
  const auto& shape = problem.shape;
  const std::size_t points = shape[0] * shape[1] * shape[2];
  std::vector<std::size_t> all(points), terms;
  for (std::size_t i = 0; i < points; ++i) all[i] = i;
  const auto listed = mode_places(problem);
  const auto modes = column_noise<T>(listed.size(), 2);
  std::vector<std::complex<T>> given, values;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::size_t x = listed[i] / (shape[1] * shape[2]), y = listed[i] / shape[2] % shape[1],
                      z = listed[i] % shape[2];
    const std::size_t other =
        ((shape[0] - x) % shape[0] * shape[1] + (shape[1] - y) % shape[1]) * shape[2] + (shape[2] - z) % shape[2];
    terms.push_back(listed[i]);
    values.push_back(other == listed[i] ? std::complex<T>(modes[i].real()) : modes[i]);
    if (other == listed[i]) continue;
    terms.push_back(other);
    values.push_back(std::conj(modes[i]));
  }
  std::vector<T> samples;
  for (const auto& value : column_noise<T>(points, 1)) samples.push_back(value.real());
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<std::complex<T>> got_modes(listed.size(), nan), wide(samples.begin(), samples.end()), got;
  std::vector<T> got_samples(points, nan);
  transform.forward(std::span<const T>(samples), std::span(got_modes));
  transform.inverse(std::span<const std::complex<T>>(modes), std::span(got_samples));
  got.assign(got_samples.begin(), got_samples.end());
  EXPECT_LE(column_error(got_modes, sums(shape, all, wide, listed, -1)), 4 * std::numeric_limits<T>::epsilon());
  EXPECT_LE(column_error(got, sums(shape, terms, values, all, 1)), 4 * std::numeric_limits<T>::epsilon());

  // Adjoints, for the real part of the inner product.
  const ColumnTransform<T> adjoint = transform.adjoint();
  std::vector<T> back(points);
  std::vector<std::complex<T>> gathered(listed.size());
  adjoint.inverse(std::span<const std::complex<T>>(modes), std::span(back));
  adjoint.forward(std::span<const T>(samples), std::span(gathered));
  double left = 0, right = 0, second_left = 0, second_right = 0, size = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    left += static_cast<double>((std::conj(modes[i]) * got_modes[i]).real());
    second_right += static_cast<double>((std::conj(gathered[i]) * modes[i]).real());
    size += static_cast<double>(std::abs(modes[i]) * std::abs(got_modes[i]));
  }
  for (std::size_t i = 0; i < points; ++i) {
    right += static_cast<double>(back[i] * samples[i]);
    second_left += static_cast<double>(samples[i] * got_samples[i]);
  }
  const double gate = 20 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::max(size, 1e-300);
  EXPECT_LE(std::abs(left - right), gate);
  EXPECT_LE(std::abs(second_left - second_right), gate);
}

// Columns on both sides of n/2, on the planes of conjugate values x = 0 and n/2, and modes that are their own
// conjugates.
TEST(Columns, OfRealGridsEqualSums) {
  expect_real_sums<double>({.shape = {1, 1, 1}, .columns = {{0, 0, 0, 1}}});
  expect_real_sums<double>({.shape = {4, 6, 8}, .columns = {{0, 0, 0, 5}, {2, 3, 4, 4}, {2, 1, 3, 8}, {3, 5, 6, 5}}});
  expect_real_sums<double>({.shape = {5, 3, 7}, .columns = {{0, 1, 5, 4}, {4, 0, 0, 7}, {3, 2, 6, 2}, {1, 2, 3, 1}}});
  expect_real_sums<float>({.shape = {6, 1, 9}, .columns = {{3, 0, 0, 5}, {5, 0, 7, 4}, {2, 0, 0, 0}}});
  expect_real_sums<float>({.shape = {1, 11, 4}, .columns = {{0, 10, 2, 3}, {0, 0, 0, 3}, {0, 3, 1, 4}}});
}

// Their imaginary parts are dropped: transforms may use that of n/2, which samples do not have.
TEST(Columns, PlanesOfConjugateValuesAreZeroAndTheMiddle) {
  const auto planes = [](std::size_t x, std::vector<Column> columns, Kind kind = Kind::real) {
    return column_geometry({.shape = {x, 2, 4}, .columns = std::move(columns), .kind = kind}).symmetric_planes();
  };
  using List = std::vector<std::size_t>;
  EXPECT_EQ(planes(6, {{0, 0, 0, 1}, {3, 1, 1, 1}}), (List{0, 3}));
  EXPECT_EQ(planes(6, {{2, 0, 0, 1}, {3, 1, 1, 1}}), (List{1}));
  EXPECT_EQ(planes(7, {{0, 0, 0, 1}, {3, 1, 1, 1}}), (List{0}));
  EXPECT_EQ(planes(6, {{1, 0, 0, 1}, {5, 1, 1, 1}}), (List{}));
  EXPECT_EQ(planes(6, {{0, 0, 0, 1}, {3, 1, 1, 1}}, Kind::complex), (List{}));
}

TEST_F(ColumnsOnDevices, OfRealGridsEqualSums) {
  for (const Device& device : ridge::test::accelerators()) {
    expect_real_sums<float>({.shape = {4, 6, 8}, .columns = {{0, 0, 0, 5}, {2, 3, 4, 4}, {2, 1, 3, 8}, {3, 5, 6, 5}}},
                            device);
    if (!device.limits().float64) continue;
    expect_real_sums<double>({.shape = {5, 3, 7}, .columns = {{4, 0, 0, 7}, {3, 2, 6, 2}}}, device);
  }
}

// Half of the sphere gives a real wave function of all its modes.
TEST(Columns, OfRealGridsHoldHalfOfASphere) {
  const std::array<std::array<double, 3>, 3> basis{{{-1, -1, 1}, {1, 1, 1}, {-1, 1, -1}}};
  const std::vector<std::size_t> shape{18, 20, 18};
  const ColumnTransform<double> whole({.shape = shape, .columns = sphere_columns(shape, basis, 6.0)});
  const ColumnTransform<double> half(
      {.shape = shape, .columns = sphere_columns(shape, basis, 6.0, Kind::real), .kind = Kind::real});
  EXPECT_EQ(whole.size(), 2 * half.size() - 1);
  EXPECT_LT(half.share(), 0.6);
  const auto modes = column_noise<double>(half.size(), 12);
  std::vector<double> field(18 * 20 * 18);
  half.inverse(std::span<const std::complex<double>>(modes), std::span(field));
  std::vector<std::complex<double>> wide(field.begin(), field.end()), all(whole.size());
  whole.forward(wide, all);
  double square = 0, listed = 0;
  for (const auto& value : all) square += std::norm(value);
  for (std::size_t i = 0; i < modes.size(); ++i) listed += 2 * std::norm(modes[i]);
  const double points = 18 * 20 * 18;
  // Mode 0 is its own conjugate: it counts once, with its real part. Both lists ascend, so it is the first mode of the
  // half.
  const std::size_t zero = all.size() / 2;
  EXPECT_NEAR(all[zero].real(), points * modes[0].real(), 1e-9 * points);
  listed -= std::norm(modes[0]) * 2 - modes[0].real() * modes[0].real();
  EXPECT_NEAR(square, points * points * listed, 1e-10 * square);
}

TEST_F(ColumnsOnDevices, HaveAdjoints) {
  const ColumnsProblem problem{.shape = {6, 5, 9},
                               .columns = {{5, 1, 7, 4}, {0, 0, 2, 3}, {2, 4, 0, 9}},
                               .scale_forward = 0.5,
                               .scale_inverse = 3};
  std::vector<Device> all = ridge::test::accelerators();
  all.push_back(host());
  for (const Device& device : all) {
    const ColumnTransform<float> transform(device, problem);
    const ColumnTransform<float> adjoint = transform.adjoint();
    const auto x = column_noise<float>(6 * 5 * 9, 6), g = column_noise<float>(transform.size(), 7);
    std::vector<std::complex<float>> y(g.size()), back(x.size()), field(x.size()), gathered(g.size());
    transform.forward(x, y);
    adjoint.inverse(g, back);
    transform.inverse(g, field);
    adjoint.forward(x, gathered);
    std::complex<double> left = 0, right = 0, second_left = 0, second_right = 0;
    const auto times = [](std::complex<float> a, std::complex<float> b) {
      return std::conj(std::complex<double>(a)) * std::complex<double>(b);
    };
    for (std::size_t i = 0; i < g.size(); ++i) left += times(g[i], y[i]), second_right += times(gathered[i], g[i]);
    for (std::size_t i = 0; i < x.size(); ++i) right += times(back[i], x[i]), second_left += times(x[i], field[i]);
    EXPECT_LE(std::abs(left - right), 1e-5 * std::abs(left)) << device.id();
    EXPECT_LE(std::abs(second_left - second_right), 1e-5 * std::abs(second_left)) << device.id();
  }
}

TEST_F(ColumnsOnDevices, UseTheCallersBuffers) {
  const Device device = ridge::test::accelerators().front();
  const ColumnsProblem problem{.shape = {4, 9, 5}, .columns = {{3, 8, 4, 3}, {0, 0, 1, 2}}};
  const ColumnTransform<float> transform(device, problem), on_host(problem);
  const auto samples = column_noise<float>(4 * 9 * 5, 8);
  std::vector<std::complex<float>> got(5), expected(5);
  Queue queue = device.queue();
  const Buffer from = device.buffer(samples.size() * 8), to = device.buffer(5 * 8), small = device.buffer(8);
  queue.upload(std::span<const std::complex<float>>(samples), from);
  transform.enqueue_forward(queue, from, to);
  queue.download(to, std::span(got));
  queue.finish();
  on_host.forward(samples, expected);
  EXPECT_LE(column_error(got, {expected.begin(), expected.end()}), 1e-6);
  const auto refusal = [](const auto& call) { return ridge::test::error_of(call, ErrorKind::invalid_argument); };
  EXPECT_THAT(refusal([&] { transform.enqueue_forward(queue, from, small); }), HasSubstr("has 8 bytes"));
  EXPECT_THAT(refusal([&] { on_host.enqueue_forward(queue, from, to); }), HasSubstr("this one is on the host"));
}

// The copies of columns and boxes as CUDA text; needs no GPU.
TEST(Columns, CopiesCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC here";
  for (const bool float64 : {false, true})
    EXPECT_FALSE(detail::compile_for(on_device::columns_text(float64), "sm_90").empty());
  for (const bool pads : {false, true}) {
    const on_device::BoxCopy copy{.type = "double",
                                  .reals = true,
                                  .counts = {7, 3},
                                  .in = {.point = 7, .line = {1, 35}},
                                  .out = {.point = 7, .line = {1, 70}},
                                  .pads = pads,
                                  .length = 10,
                                  .box = {8, 5}};
    EXPECT_FALSE(detail::compile_for(on_device::box_copy_text(copy), "sm_90").empty());
  }
}

// Silicon as in Quantum ESPRESSO's examples: face-centred cubic, wave functions within a cutoff on the grid of their
// densities. The local potential acts on a wave function by an inverse transform, a product and a forward transform.
TEST(Columns, ApplyALocalPotentialToPlaneWaves) {
  const std::array<std::array<double, 3>, 3> basis{{{-1, -1, 1}, {1, 1, 1}, {-1, 1, -1}}};  // 2 pi / a
  const std::vector<std::size_t> shape{18, 20, 18};
  const double cutoff = 6.0;  // sqrt(Ry) a / (2 pi)
  const auto columns = sphere_columns(shape, basis, cutoff);
  std::size_t inside = 0;  // counted one mode at a time
  for (int i = -9; i <= 9; ++i) {
    for (int j = -9; j <= 9; ++j) {
      for (int l = -9; l <= 9; ++l) {
        double square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const double k = i * basis[0][axis] + j * basis[1][axis] + l * basis[2][axis];
          square += k * k;
        }
        if (square <= cutoff * cutoff) ++inside;
      }
    }
  }
  const ColumnsProblem problem{.shape = shape, .columns = columns, .scale_forward = 1.0 / (18 * 20 * 18)};
  const ColumnTransform<double> transform(problem);
  ASSERT_EQ(transform.size(), inside);
  EXPECT_LT(transform.share(), 0.75);
  EXPECT_THAT(transform.explain(), HasSubstr("columns: "));
  std::vector<double> potential;
  for (const auto& value : column_noise<double>(18 * 20 * 18, 3)) potential.push_back(value.real());
  const auto apply = [&](const std::vector<std::complex<double>>& wave) {
    std::vector<std::complex<double>> field(potential.size()), out(wave.size());
    transform.inverse(wave, field);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] *= potential[i];
    transform.forward(field, out);
    return out;
  };
  const auto a = column_noise<double>(inside, 4), b = column_noise<double>(inside, 5);
  const auto va = apply(a), vb = apply(b);
  std::complex<double> left = 0, right = 0;  // <a, V b> and <V a, b>
  for (std::size_t i = 0; i < inside; ++i) {
    left += std::conj(a[i]) * vb[i];
    right += std::conj(va[i]) * b[i];
  }
  EXPECT_LE(std::abs(left - right), 1e-12 * std::abs(left));
  // The whole transform with all zeros stored gives the same answer.
  const auto whole = plan<double>(host(), {.shape = shape, .scale_forward = problem.scale_forward});
  const auto listed = mode_places(problem);
  std::vector<std::complex<double>> spectrum(potential.size()), field(potential.size());
  for (std::size_t i = 0; i < inside; ++i) spectrum[listed[i]] = a[i];
  whole.inverse(std::span<const std::complex<double>>(spectrum), std::span(field));
  for (std::size_t i = 0; i < field.size(); ++i) field[i] *= potential[i];
  whole.forward(std::span<const std::complex<double>>(field), std::span(spectrum));
  std::vector<Wide> expected;
  for (const std::size_t place : listed) expected.emplace_back(spectrum[place]);
  EXPECT_LE(column_error(va, expected), 1e-15);
}

TEST(Columns, RefuseListsInWords) {
  const auto refusal = [](const ColumnsProblem& problem) {
    return ridge::test::error_of([&] { ColumnTransform<float>{problem}; }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refusal({.shape = {4, 4}}), HasSubstr("needs three axes of at least one point, got 2 axes"));
  EXPECT_THAT(refusal({.shape = {4, 4, 4}}), HasSubstr("at least one column, got none"));
  EXPECT_THAT(refusal({.shape = {4, 4, 4}, .columns = {{1, 0, 0, 0}}}), HasSubstr("at least one mode, got 1 columns"));
  EXPECT_THAT(refusal({.shape = {4, 4, 4}, .columns = {{4, 0, 0, 1}}}), HasSubstr("column (4, 0) with 1 modes from 0"));
  EXPECT_THAT(refusal({.shape = {4, 4, 4}, .columns = {{1, 0, 0, 1}, {1, 0, 2, 1}}}), HasSubstr("in the list twice"));
  const auto real = [&](const std::vector<Column>& columns) {
    return refusal({.shape = {4, 6, 8}, .columns = columns, .kind = Kind::real});
  };
  EXPECT_THAT(real({{1, 2, 0, 1}, {3, 4, 5, 1}}),
              HasSubstr("columns (1, 2) and (3, 4) hold conjugate modes of a real grid: leave one of them out"));
  EXPECT_THAT(real({{2, 3, 7, 3}}), HasSubstr("column (2, 3) holds the conjugate modes 1 and 7 of a real grid"));
  const ColumnTransform<float> half({.shape = {4, 6, 8}, .columns = {{1, 2, 0, 1}}, .kind = Kind::real});
  std::vector<std::complex<float>> grid(192), modes(1);
  EXPECT_THAT(ridge::test::error_of([&] { half.inverse(modes, grid); }, ErrorKind::invalid_argument),
              HasSubstr("the plan's samples are real: pass an array of real numbers"));
  EXPECT_THAT(ridge::test::error_of(
                  [] {
                    sphere_columns({8, 8, 8}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 4);
                  },
                  ErrorKind::invalid_argument),
              HasSubstr("outside axis 0 of 8 points: use a longer axis"));
  for (const double cutoff : {1e30, static_cast<double>(INFINITY)}) {
    EXPECT_THAT(ridge::test::error_of(
                    [&] {
                      sphere_columns({1, 1, 8}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, cutoff);
                    },
                    ErrorKind::invalid_argument),
                HasSubstr("of the sphere is outside axis 2 of 8 points"));
  }
  const std::size_t large = std::size_t{1} << 33;
  EXPECT_THAT(refusal({.shape = {large, large, 1}, .columns = {{1, 2, 0, 1}}}), HasSubstr("too large for any memory"));
}

}  // namespace
}  // namespace ridge::fft

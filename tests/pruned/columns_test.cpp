// Transforms of a list of columns: against sums in long double, and in the shape of a plane-wave code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>

#include <ridge/fft/columns.hpp>

#include "device/cuda/nvrtc.hpp"
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
  EXPECT_THAT(ridge::test::error_of(
                  [] {
                    sphere_columns({8, 8, 8}, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 4);
                  },
                  ErrorKind::invalid_argument),
              HasSubstr("outside axis 0 of 8 points: use a longer axis"));
}

}  // namespace
}  // namespace ridge::fft

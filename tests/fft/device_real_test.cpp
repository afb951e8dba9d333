// Real transforms and fused operators on every accelerator of this machine.
#include <cstdint>
#include <type_traits>

#include "device_support.hpp"
#include "fft/device/axis_plan.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"
#include "support/emulated_cuda.hpp"

namespace ridge::fft::device_tests {
namespace {

using DeviceReal = OnDevices;
using DeviceOperators = OnDevices;

template <class T>
std::vector<T> real_points(std::size_t n, unsigned seed) {
  std::vector<T> points(n);
  const auto both = reference::random_points<T>(n, seed);
  for (std::size_t i = 0; i < n; ++i) points[i] = both[i].real();
  return points;
}

// Both directions against the reference, every line.
template <class T>
void check_lines(const Device& device, std::size_t n, const std::string& variant) {
  const std::size_t batch = 3, half = n / 2 + 1;
  const Plan<T> plan(device, {.shape = {n}, .batch = batch, .kind = Kind::real}, only(variant));
  const auto in = real_points<T>(n * batch, static_cast<unsigned>(n));
  std::vector<std::complex<T>> out(half * batch);
  plan.forward(std::span<const T>(in), std::span<std::complex<T>>(out));
  LineErrors there(n, gate_of(plan, n)), back(n, gate_of(plan, n));
  for (std::size_t line = 0; line < batch; ++line) {
    const auto samples = part(in, line * n, n);
    auto expected = nd_dft({samples.begin(), samples.end()}, {n}, false);
    expected.resize(half);
    there.add(distance(part(out, line * half, half), expected));
  }
  EXPECT_LE(there.value(), 1) << n << " " << variant << " on " << device.id();
  // The inverse starts from a valid spectrum: the forward result without imaginary parts where a real signal has none.
  std::vector<T> samples(n * batch);
  plan.inverse(std::span<const std::complex<T>>(out), std::span<T>(samples));
  for (std::size_t line = 0; line < batch; ++line) {
    std::vector<std::complex<double>> spectrum(n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::complex<double> value(out[line * half + std::min(k, n - k)]);
      spectrum[k] = k == 0 || 2 * k == n ? value.real() : 2 * k < n ? value : std::conj(value);
    }
    std::vector<double> expected;
    for (const auto& value : nd_dft(spectrum, {n}, true)) expected.push_back(value.real());
    back.add(distance(part(samples, line * n, n), expected));
  }
  EXPECT_LE(back.value(), 1) << n << " " << variant << " inverse on " << device.id();
}

TEST_F(DeviceReal, EvenOddAndPrimeLines) {
  for (const Device& device : accelerators()) {
    for (const std::size_t n : {1, 2, 3, 8, 15, 64, 74, 90}) check_lines<float>(device, n, "");
    if (!device.limits().float64) continue;
    for (const std::size_t n : {15, 64}) check_lines<double>(device, n, "");
  }
}

// Only the first values of a spectrum: the others are neither stored nor read by the inverse.
TEST_F(DeviceReal, PartsOfASpectrum) {
  struct Part {
    std::size_t length, kept;
  };
  for (const Device& device : accelerators()) {
    for (const auto& [length, kept] : {Part{64, 5}, Part{90, 16}, Part{256, 100}}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        on_device::AxisProblem problem;
        problem.kind = Kind::real;
        problem.direction = direction;
        problem.length = length;
        problem.kept = kept;
        problem.counts = {7};
        problem.in.line = problem.out.line = {length};
        (direction == Direction::forward ? problem.out : problem.in).line = {kept};
        std::vector<planner::Decision> decisions;
        const auto route = on_device::planned_route(device, problem, only(""), decisions);
        const planner::Comparison result = on_device::AxisTrials(device, problem).compare(*route);
        EXPECT_TRUE(result.right()) << kept << " of " << length << " on " << device.id() << ": " << result.worst
                                    << " at " << result.where << ", allowed " << result.allowed;
      }
    }
  }
}

TEST_F(DeviceReal, LinesTooLongForOnePass) {
  for (const Device& device : accelerators()) {
    check_lines<float>(device, 2048, "two_pass");
    check_lines<float>(device, 1125, "two_pass");
    check_lines<float>(device, 2048, "real_two_pass");
    check_lines<float>(device, 3150, "real_two_pass");  // an odd number of rows
    check_lines<float>(device, 1031, "long_bluestein");
    check_lines<float>(device, 1031, "fused_bluestein");
  }
}

// Clusters of 4 and of 3 groups; the last ones have rows of odd length.
TEST_F(DeviceReal, LinesThroughClusters) {
  bool any = false;
  for (const Device& device : accelerators()) {
    if (!device.limits().clusters) continue;
    any = true;
    for (const std::size_t n : {65536, 40000, 2 * 144 * 135}) check_lines<float>(device, n, "cluster");
  }
  if (!any) GTEST_SKIP() << "no device with clusters of work-groups";
}

TEST_F(DeviceReal, ImaginaryPartsThatNoRealSignalHasAreDropped) {
  const std::size_t n = 16;
  for (const Device& device : accelerators()) {
    const Plan<float> plan(device, {.shape = {n}, .kind = Kind::real}, quick());
    auto spectrum = reference::random_points<float>(n / 2 + 1, 2);
    std::vector<float> with(n), without(n);
    plan.inverse(std::span<const std::complex<float>>(spectrum), std::span<float>(with));
    spectrum.front().imag(0);
    spectrum.back().imag(0);
    plan.inverse(std::span<const std::complex<float>>(spectrum), std::span<float>(without));
    EXPECT_EQ(with, without) << device.id();
  }
}

TEST_F(DeviceReal, TwoAxesRoundTrip) {
  const std::vector<std::size_t> shape{10, 24};
  const std::size_t points = product(shape), half = 10 * 13;
  for (const Device& device : accelerators()) {
    for (const bool in_place : {false, true}) {
      const Plan<float> plan(device,
                             {.shape = shape,
                              .kind = Kind::real,
                              .in_place = in_place,
                              .scale_inverse = 1.0 / static_cast<double>(points)},
                             quick());
      const auto in = real_points<float>(points, 4);
      const auto expected = nd_dft({in.begin(), in.end()}, shape, false);
      std::vector<std::complex<float>> out(half);
      std::vector<float> back(points);
      if (in_place) {
        auto* samples = reinterpret_cast<float*>(out.data());
        for (std::size_t i = 0; i < points; ++i) samples[i / 24 * 26 + i % 24] = in[i];
        plan.forward(std::span<const float>(samples, 260), std::span<std::complex<float>>(out));
      } else {
        plan.forward(std::span<const float>(in), std::span<std::complex<float>>(out));
      }
      std::vector<std::complex<double>> first_half;
      for (std::size_t i = 0; i < points; ++i) {
        if (i % 24 < 13) first_half.push_back(expected[i]);
      }
      EXPECT_LE(distance(out, first_half), gate_of(plan, points)) << in_place << " on " << device.id();
      if (in_place) {
        auto* samples = reinterpret_cast<float*>(out.data());
        plan.inverse(std::span<const std::complex<float>>(out), std::span<float>(samples, 260));
        for (std::size_t i = 0; i < points; ++i) back[i] = samples[i / 24 * 26 + i % 24];
      } else {
        plan.inverse(std::span<const std::complex<float>>(out), std::span<float>(back));
      }
      EXPECT_LE(distance(back, in), 2 * gate_of(plan, points)) << in_place << " on " << device.id();
    }
  }
}

// Columns of pairs first, then rows with their mirrors, in separate launches or in one: against the host in double,
// forward, and inverse from a spectrum without conjugate symmetry.
template <class T>
void check_columns_first(const Device& device, const std::vector<std::size_t>& shape, std::size_t batch, bool in_place,
                         const char* variant = "columns_first", const char* expected_text = "rows with their mirrors") {
  const Problem problem{.shape = shape,
                        .batch = batch,
                        .kind = Kind::real,
                        .in_place = in_place,
                        .scale_forward = 0.5,
                        .scale_inverse = 1.0 / static_cast<double>(product(shape))};
  const Plan<T> plan(device, problem, only(variant));
  EXPECT_NE(plan.explain().find(expected_text), std::string::npos) << plan.explain();
  Problem apart = problem;
  apart.in_place = false;
  const Plan<double> host_plan(host(), apart, quick());
  const std::size_t n = shape.back(), rows = product(shape) / n * batch, half = n / 2 + 1;
  const std::size_t pitch = in_place ? 2 * half : n;
  const auto in = real_points<T>(rows * n, 4);
  std::vector<T> samples(rows * pitch);
  for (std::size_t i = 0; i < in.size(); ++i) samples[i / n * pitch + i % n] = in[i];
  std::vector<std::complex<T>> out(rows * half);
  std::vector<std::complex<double>> expected(rows * half);
  host_plan.forward(std::span<const double>(std::vector<double>(in.begin(), in.end())),
                    std::span<std::complex<double>>(expected));
  auto* const shared = reinterpret_cast<T*>(out.data());
  if (in_place) std::copy(samples.begin(), samples.end(), shared);
  plan.forward(std::span<const T>(in_place ? shared : samples.data(), samples.size()), std::span<std::complex<T>>(out));
  const double gate = gate_of(plan, product(shape));
  EXPECT_LE(distance(out, expected), gate) << shape[0] << "x" << n << " in place " << in_place << " on " << device.id();

  const auto spectrum = reference::random_points<T>(rows * half, 9);
  std::vector<double> wanted(rows * n);
  host_plan.inverse(
      std::span<const std::complex<double>>(std::vector<std::complex<double>>(spectrum.begin(), spectrum.end())),
      std::span<double>(wanted));
  out.assign(spectrum.begin(), spectrum.end());
  plan.inverse(std::span<const std::complex<T>>(out), std::span<T>(in_place ? shared : samples.data(), samples.size()));
  if (in_place) std::copy(shared, shared + samples.size(), samples.begin());
  std::vector<T> back(rows * n);
  for (std::size_t i = 0; i < back.size(); ++i) back[i] = samples[i / n * pitch + i % n];
  EXPECT_LE(distance(back, wanted), gate) << shape[0] << "x" << n << " inverse on " << device.id();
}

TEST_F(DeviceReal, ColumnsFirst) {
  for (const Device& device : accelerators()) {
    for (const bool in_place : {false, true}) check_columns_first<float>(device, {10, 24}, 3, in_place);
    check_columns_first<float>(device, {7, 60}, 1, false);
    check_columns_first<float>(device, {33, 130}, 2, true);
    if (device.limits().float64) check_columns_first<double>(device, {4, 512}, 2, false);
    if (device.info().backend != Backend::cuda) continue;
    check_columns_first<float>(device, {4096, 320}, 2, false);
    check_columns_first<float>(device, {1024, 512}, 3, true);
    check_columns_first<double>(device, {2048, 256}, 2, false);
  }
}

// Pairs of short lines in groups that are not all full: every value against the host in double.
TEST_F(DeviceReal, PairedLines) {
  std::vector<Device> devices = test::devices_of(Backend::cuda);
  const bool emulated = devices.empty() && std::getenv("RIDGE_SLOW") != nullptr;
  if (emulated) devices.emplace_back(std::make_shared<test::EmulatedCuda>());
  if (devices.empty()) GTEST_SKIP() << "no CUDA device on this machine; RIDGE_SLOW=1 emulates one";
  using namespace on_device;
  for (const Device& device : devices) {
    for (const std::size_t n : {16, 32, 64}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        const bool forward = direction == Direction::forward;
        AxisProblem problem;
        problem.direction = direction;
        problem.kind = Kind::real;
        problem.length = n;
        problem.counts = {emulated ? 38U : 4134U};
        problem.in.line = {forward ? n : n / 2 + 1};
        problem.out.line = {forward ? n / 2 + 1 : n};
        problem.scale = 0.75;
        AxisTrials trials(device, problem);
        std::size_t found = 0;
        for (const Route& route : list_routes(device, problem)) {
          if (route.candidate.name().find("paired_lines") == std::string::npos) continue;
          const CompiledRoute compiled(device, route, false);
          const planner::Comparison result = trials.compare(compiled);
          EXPECT_TRUE(result.right()) << n << (forward ? " forward " : " inverse ") << route.candidate.name() << ": "
                                      << result.worst << " at " << result.where << ", allowed " << result.allowed;
          ++found;
        }
        EXPECT_EQ(found, 2u) << n;
      }
    }
  }
}

// A NaN or an infinity in one line of a pair affects that line only.
TEST_F(DeviceReal, NaNInOneOfTwoPairedLines) {
  std::vector<Device> devices = test::devices_of(Backend::cuda);
  if (devices.empty()) devices.emplace_back(std::make_shared<test::EmulatedCuda>());
  constexpr std::size_t kLength = 16, kLines = 6;
  for (const Device& device : devices) {
    on_device::AxisProblem problem;
    problem.kind = Kind::real;
    problem.length = kLength;
    problem.counts = {kLines};
    problem.in.line = {kLength};
    problem.out.line = {kLength / 2 + 1};
    std::string paired;
    for (const on_device::Route& route : on_device::list_routes(device, problem)) {
      const std::string name = route.candidate.name();
      if (paired.empty() && name.find("paired_lines") != std::string::npos) paired = name;
    }
    ASSERT_NE(paired, "");
    const Plan<float> plan(device, {.shape = {kLength}, .batch = kLines, .kind = Kind::real}, only(paired));
    for (const std::size_t spoilt : {std::size_t{2}, std::size_t{3}}) {
      for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        std::vector<float> samples(kLength * kLines), back(samples.size());
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(static_cast<float>(i));
        std::vector<std::complex<float>> spectrum(plan.output_size());
        samples[spoilt * kLength + 5] = value;
        plan.forward(std::span<const float>(samples), std::span(spectrum));
        for (std::size_t i = 0; i < spectrum.size(); ++i) {
          const bool finite = std::isfinite(spectrum[i].real()) && std::isfinite(spectrum[i].imag());
          EXPECT_EQ(finite, i / (kLength / 2 + 1) != spoilt) << "forward, value " << i;
        }
        samples[spoilt * kLength + 5] = 0;
        plan.forward(std::span<const float>(samples), std::span(spectrum));
        spectrum[spoilt * (kLength / 2 + 1) + 3] = {0, value};
        plan.inverse(std::span<const std::complex<float>>(spectrum), std::span(back));
        for (std::size_t i = 0; i < back.size(); ++i) {
          EXPECT_EQ(std::isfinite(back[i]), i / kLength != spoilt) << "inverse, sample " << i;
        }
      }
    }
  }
}

TEST_F(DeviceReal, PlanesInOneLaunch) {
  std::vector<Device> devices = test::devices_of(Backend::cuda);
  const bool emulated = devices.empty() && std::getenv("RIDGE_SLOW") != nullptr;
  if (emulated) devices.emplace_back(std::make_shared<test::EmulatedCuda>());
  if (devices.empty()) GTEST_SKIP() << "no CUDA device on this machine; RIDGE_SLOW=1 emulates one";
  const auto check = [](const Device& device, const std::vector<std::size_t>& shape, std::size_t batch, bool in_place) {
    check_columns_first<float>(device, shape, batch, in_place, "plane", "through a ring");
  };
  for (const Device& device : devices) {
    check(device, {3, 16, 64}, 2, true);
    if (emulated) {
      check(device, {64, 32}, 3, false);
      check(device, {128, 256}, 5, false);
      check(device, {1024, 128}, 2, false);
      continue;
    }
    check(device, {64, 64}, 200, true);
    check(device, {3, 256, 256}, 7, false);
    check(device, {1024, 2048}, 3, false);
    check_columns_first<double>(device, {256, 128}, 20, false, "plane", "through a ring");
  }
}

// The reference is the host's result of the same problem in double, which its own tests compare with the definition.
// Each factor adds one rounding, so twice the limit is allowed.
template <class Sample>
void check_as_host(const Device& device, const Problem& problem, const std::vector<Sample>& in,
                   const std::string& variant = "") {
  const Plan<float> ours(device, problem, only(variant));
  const Plan<double> host_plan(host(), problem, quick());
  std::vector<std::complex<float>> actual(ours.output_size());
  std::vector<std::complex<double>> expected(ours.output_size());
  ours.forward(std::span<const Sample>(in), std::span<std::complex<float>>(actual));
  if constexpr (std::is_same_v<Sample, std::complex<float>>) {
    const auto wider = wide(in);
    host_plan.forward(std::span<const std::complex<double>>(wider), std::span<std::complex<double>>(expected));
  } else {
    host_plan.forward(std::span<const Sample>(in), std::span<std::complex<double>>(expected));
  }
  const std::size_t points = product(problem.shape), each = actual.size() / problem.batch;
  test::Worst worst;
  for (std::size_t line = 0; line < problem.batch; ++line) {
    worst.add(distance(part(actual, line * each, each), part(expected, line * each, each)));
  }
  EXPECT_LE(worst.value(), 2 * gate_of(ours, points)) << device.id() << ", " << points << " points";
}

std::vector<double> window(std::size_t n) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 0.5 + 0.4 * static_cast<double>(i) / static_cast<double>(n);
  return values;
}

std::vector<std::complex<double>> phases(std::size_t n) {
  std::vector<std::complex<double>> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = std::polar(1.0 + 0.01 * static_cast<double>(i % 7), 0.1 * static_cast<double>(i));
  return values;
}

TEST_F(DeviceOperators, WindowMultiplyAndScaleAreFused) {
  for (const Device& device : accelerators()) {
    const Problem problem{.shape = {48},
                          .batch = 3,
                          .scale_forward = 0.25,
                          .load_forward = {.window = window(48), .multiply = phases(48)},
                          .store_forward = {.window = window(48)}};
    check_as_host(device, problem, reference::random_points<float>(48 * 3, 1));
    Problem shape{.shape = {6, 10}, .batch = 2, .load_forward = {.window = window(60)}};
    shape.store_forward.multiply = phases(60);
    check_as_host(device, shape, reference::random_points<float>(120, 2));
  }
}

TEST_F(DeviceOperators, IntegersAreConvertedOnLoad) {
  for (const Device& device : accelerators()) {
    std::vector<std::int16_t> words(64 * 2 * 2);
    std::vector<std::int8_t> bytes(40 * 2);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::int16_t>(i * 73 % 991) - 500;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::int8_t>(i * 31 % 200) - 100;
    check_as_host(device, {.shape = {64}, .batch = 2, .load_forward = {.samples = Samples::int16}}, words);
    check_as_host(device,
                  {.shape = {40},
                   .batch = 2,
                   .kind = Kind::real,
                   .load_forward = {.samples = Samples::int8, .window = window(40)}},
                  bytes);
  }
}

// Operators combined with convolutions and with the passes whose loads and stores they share.
TEST_F(DeviceOperators, PrimesAndLongLines) {
  for (const Device& device : accelerators()) {
    for (const auto& [n, variant] : {std::pair<std::size_t, const char*>{101, "rader"},
                                     {74, "bluestein"},
                                     {1024, "two_pass"},
                                     {1031, "long_bluestein"},
                                     {1031, "fused_bluestein"}}) {
      const Problem problem{.shape = {n},
                            .batch = 2,
                            .scale_forward = 2,
                            .load_forward = {.window = window(n)},
                            .store_forward = {.multiply = phases(n)}};
      SCOPED_TRACE(variant);
      check_as_host(device, problem, reference::random_points<float>(2 * n, 3), variant);
    }
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests

// Tables of Bluestein's method computed on devices, and values of long transforms by direct sums.
#include "fft/device/routes/bluestein/chirp_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "fft/device/pass/step.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"
#include "fft/direct_values.hpp"
#include "fft/reference.hpp"
#include "support/devices.hpp"

namespace ridge::fft::on_device {
namespace {

using Value = std::complex<double>;

template <class T>
std::vector<Value> downloaded(const Device& device, const Buffer& table, std::size_t count) {
  std::vector<std::complex<T>> values(count);
  EXPECT_EQ(table.size(), count * sizeof(values[0]));
  Queue queue = device.queue();
  queue.download(table, values.data(), table.size());
  queue.finish();
  return {values.begin(), values.end()};
}

std::vector<Value> downloaded(const Device& device, const Buffer& table, std::size_t count, bool float64) {
  return float64 ? downloaded<double>(device, table, count) : downloaded<float>(device, table, count);
}

// Largest difference; infinite for NaN.
double distance(const std::vector<Value>& a, const std::vector<Value>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    most = std::max(most, std::isnan(apart) ? INFINITY : apart);
  }
  return most;
}

class ChirpTables : public ridge::test::NeedsAccelerator<> {};

TEST_F(ChirpTables, AreThoseOfTheHost) {
  for (const Device& device : ridge::test::accelerators()) {
    if (!device.limits().float64) continue;
    for (const bool float64 : {false, true}) {
      const double allowed = float64 ? 3e-16 : 1e-7;
      for (const std::size_t n : {1, 2, 1031, 4099}) {
        std::vector<Value> expected = chirp(n);
        EXPECT_LE(distance(downloaded(device, device_chirp(device, n, false, 1, float64), n, float64), expected),
                  allowed);
        for (Value& value : expected) value = 0.5 * std::conj(value);
        EXPECT_LE(distance(downloaded(device, device_chirp(device, n, true, 0.5, float64), n, float64), expected),
                  allowed);
      }
      const std::size_t padded = 2304, columns = 48, rows = 48;
      for (const bool conjugate : {false, true}) {
        const auto filter = chirp_filter(1031, padded);
        std::vector<Value> by_rows(padded);
        for (std::size_t k = 0; k < padded; ++k)
          by_rows[k % columns * rows + k / columns] = conjugate ? std::conj(filter[k]) : filter[k];
        const Buffer table = device_chirp_filter(
            device, {.points = 1031, .padded = padded, .conjugate = conjugate, .columns = columns, .rows = rows},
            float64);
        EXPECT_LE(distance(downloaded(device, table, padded, float64), by_rows), allowed);
      }
    }
  }
}

TEST(DirectValues, AreThoseOfTheTransform) {
  for (const std::size_t n : {1, 7, 256, 1031, 5000}) {
    const std::vector<Value> points = reference::random_points<double>(n, 3);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = reference::dft(points, direction == Direction::inverse);
      std::vector<std::uint64_t> wanted;
      for (std::uint64_t k = 0; k < n; k += n / 7 + 1) wanted.push_back(n - 1 - k);
      const std::vector<Value> found = direct_values(points, direction, wanted);
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Value value(static_cast<double>(expected[wanted[i]].re), static_cast<double>(expected[wanted[i]].im));
        EXPECT_LE(std::abs(found[i] - value), 1e-15 * std::sqrt(static_cast<double>(n))) << n << " " << wanted[i];
      }
    }
  }
}

// Of long lines some values are compared with direct sums: right, of another scale, and of another spectrum.
TEST_F(ChirpTables, SomeValuesOfLongLinesAreCompared) {
  const Device device = ridge::test::accelerators().front();
  const std::size_t n = 1031;
  for (const Kind kind : {Kind::complex, Kind::real}) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto made = [&](double scale, Direction way) {
        AxisProblem problem{.direction = way,
                            .kind = kind,
                            .length = n,
                            .counts = {3},
                            .in = {.point = 1, .line = {n}},
                            .out = {.point = 1, .line = {n}},
                            .scale = scale};
        normalize(problem);
        return problem;
      };
      AxisTrials trials(device, made(0.5, direction), 1000);
      const auto compared = [&](const AxisProblem& problem) {
        const auto routes = list_routes(device, problem);
        const auto first = std::ranges::find_if(routes, [](const Route& r) { return r.candidate.refusal.empty(); });
        return trials.compare(CompiledRoute(device, *first, false));
      };
      const planner::Comparison right = compared(made(0.5, direction));
      EXPECT_TRUE(right.right()) << right.text();
      EXPECT_FALSE(compared(made(0.501, direction)).right());
      if (kind == Kind::real) continue;
      const bool forward = direction == Direction::forward;
      EXPECT_FALSE(compared(made(0.5, forward ? Direction::inverse : Direction::forward)).right());
    }
  }
}

}  // namespace
}  // namespace ridge::fft::on_device

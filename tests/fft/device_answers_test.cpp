// Checks of results on the device, against loops on the host.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "device/random.hpp"
#include "device_support.hpp"
#include "fft/device/answers.hpp"
#include "fft/device/axis_reference.hpp"
#include "fft/device/line_sums.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"

namespace ridge::fft::device_tests {
namespace {

using namespace on_device;

template <class T>
std::vector<T> random_words(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<T> words(count);
  for (T& word : words) word = static_cast<T>(random());
  return words;
}

template <class T>
Buffer on(const Device& device, Queue& queue, const std::vector<T>& values) {
  Buffer buffer = device.buffer(values.size() * sizeof(T), {.name = "values"});
  queue.upload(std::span<const T>(values), buffer);
  queue.finish();
  return buffer;
}

using DeviceAnswers = OnDevices;

// Random bits: some of the 16-bit patterns are NaN or infinite.
TEST_F(DeviceAnswers, NanIsCounted) {
  for (const Device& device : accelerators()) {
    Queue queue = device.queue();
    const auto words16 = random_words<std::uint16_t>(300001);
    std::uint64_t none16 = 0, none_b16 = 0;
    for (const std::uint16_t word : words16) {
      none16 += (word & 0x7c00) == 0x7c00 && (word & 0x3ff) != 0;
      none_b16 += (word & 0x7f80) == 0x7f80 && (word & 0x7f) != 0;
    }
    const Buffer of_words16 = on(device, queue, words16);
    EXPECT_GT(none16, 100u);
    EXPECT_EQ(count_nan(queue, of_words16, NumberFormat::float16), none16);
    EXPECT_EQ(count_nan(queue, of_words16, NumberFormat::bfloat16), none_b16);

    auto floats = random_words<std::uint32_t>(100003);
    floats[5] = 0x7f800000;
    floats[6] = 0xff800000;
    floats.back() = 0xffffffff;
    std::uint64_t none32 = 0;
    for (const std::uint32_t word : floats) {
      float value;
      std::memcpy(&value, &word, sizeof(value));
      none32 += std::isnan(value) ? 1 : 0;
    }
    EXPECT_GT(none32, 100u);
    EXPECT_EQ(count_nan(queue, on(device, queue, floats), NumberFormat::float32), none32);

    std::vector<std::uint64_t> doubles(1001, 0xffffffffffffffff);
    doubles[3] = 0x7ff0000000000000;
    doubles[4] = 0x7ff0000000000001;
    doubles[5] = 0x3ff0000000000000;
    EXPECT_EQ(count_nan(queue, on(device, queue, doubles), NumberFormat::float64), 999u);
  }
}

TEST_F(DeviceAnswers, RunsAreGathered) {
  for (const Device& device : accelerators()) {
    Queue queue = device.queue();
    for (const std::size_t numbers : {1, 2}) {
      const auto words = random_words<std::uint32_t>(20000 * numbers);
      const Runs runs{.starts = {0, 17, 9000, 17}, .points = 1001, .step = 10, .numbers = numbers};
      std::vector<std::uint32_t> wanted;
      for (const std::uint64_t start : runs.starts) {
        for (std::size_t i = 0; i < runs.points; ++i) {
          for (std::size_t part = 0; part < numbers; ++part) wanted.push_back(words[(start + i * 10) * numbers + part]);
        }
      }
      const auto bytes = gathered_runs(queue, on(device, queue, words), NumberFormat::float32, runs);
      ASSERT_EQ(bytes.size(), wanted.size() * sizeof(std::uint32_t));
      EXPECT_EQ(std::memcmp(bytes.data(), wanted.data(), bytes.size()), 0);
    }
  }
}

template <class T>
void check_compared(const Device& device) {
  Queue queue = device.queue();
  std::vector<T> expected(200007);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = std::sin(static_cast<T>(i));
  const Buffer wanted = on(device, queue, expected);
  const std::size_t bytes = expected.size() * sizeof(T);
  const bool float64 = sizeof(T) == sizeof(double);
  const auto judged = [&](const std::vector<T>& values) {
    return compare_arrays(queue, on(device, queue, values), wanted, bytes, float64, 1e-3);
  };
  EXPECT_TRUE(judged(expected).right());
  for (const std::size_t at : {std::size_t{0}, std::size_t{123457}, expected.size() - 1}) {
    std::vector<T> off = expected;
    off[at] += T(0.25);
    const planner::Comparison one = judged(off), host = planner::compare(std::span<const T>(off), expected, 1e-3);
    EXPECT_FALSE(one.right());
    EXPECT_NEAR(one.worst, host.worst, 1e-3 * host.worst);
    EXPECT_EQ(one.where, host.where);
    for (const std::size_t none : {std::size_t{1}, at}) {
      std::vector<T> unstored = off;
      unstored[none] = std::numeric_limits<T>::quiet_NaN();
      EXPECT_FALSE(judged(unstored).right()) << none;
      EXPECT_TRUE(std::isnan(judged(unstored).worst)) << none;
    }
  }
}

TEST_F(DeviceAnswers, ArraysAreCompared) {
  for (const Device& device : accelerators()) {
    check_compared<float>(device);
    if (device.limits().float64) check_compared<double>(device);
  }
}

// Widely spaced lines of which a part is compared: the gaps are not stored and hold NaN afterwards.
TEST_F(DeviceAnswers, LargeAnswersStayOnTheDevice) {
  for (const Device& device : accelerators()) {
    AxisProblem problem;
    problem.length = 1024;
    problem.counts = {3001};
    problem.in.line = {1024};
    problem.out.line = {1027};
    const std::vector<Route> routes = list_routes(device, problem);
    AxisTrials trials(device, problem);
    const planner::Comparison right = trials.compare(CompiledRoute(device, routes.front(), false));
    EXPECT_TRUE(right.right()) << right.text();
    // A route that omits the middle line, which is not among those compared.
    AxisProblem fewer = problem;
    fewer.counts = {1500, 2};
    fewer.in.line.push_back(1501 * 1024);
    fewer.out.line.push_back(1501 * 1027);
    const planner::Comparison wrong = trials.compare(CompiledRoute(device, list_routes(device, fewer).front(), false));
    EXPECT_FALSE(wrong.right());
    EXPECT_EQ(wrong.where, "2048 values of all lines");
    EXPECT_TRUE(trials.compare(CompiledRoute(device, routes.front(), false)).right());
  }
}

// Every value takes part in a sum: a wrong one is found wherever it is.
template <class T>
void check_sums(const Device& device, AxisProblem problem) {
  problem.float64 = sizeof(T) == sizeof(double);
  ASSERT_TRUE(has_line_sums(device, problem));
  Queue queue = device.queue();
  std::vector<T> input(side_extent(problem, true) * element_bytes(problem, true) / sizeof(T));
  fill_random(std::as_writable_bytes(std::span(input)), problem.float64 ? Numbers::float64 : Numbers::float32);
  const AxisReference reference(problem);
  std::vector<T> answer(side_extent(problem, false) * element_bytes(problem, false) / sizeof(T));
  const std::size_t parts = element_bytes(problem, false) / sizeof(T);
  for (std::uint64_t line = 0; line < problem.lines(); ++line) {
    const auto values = reference.line(reinterpret_cast<const std::byte*>(input.data()), line);
    for (std::size_t i = 0; i < values.size(); ++i) {
      T* to = answer.data() + value_place(problem, false, line, i) * parts;
      to[0] = static_cast<T>(values[i].real());
      if (parts == 2) to[1] = static_cast<T>(values[i].imag());
    }
  }
  const Buffer in = on(device, queue, input), out = on(device, queue, answer);
  const planner::Comparison right = compare_by_sums(queue, problem, in, out);
  EXPECT_TRUE(right.right()) << right.text() << ", length " << problem.length;
  const std::vector<std::uint64_t> lines{problem.lines() - 1, 0}, wanted{1, 2};
  const auto got = values_by_sums(queue, problem, in, true, lines, wanted);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto line = reference.line(reinterpret_cast<const std::byte*>(input.data()), lines[i]);
    EXPECT_LT(std::abs(problem.scale * got[i] - line[wanted[i]]), 1e-12 * static_cast<double>(problem.length));
  }
  const T wrong = static_cast<T>(std::sqrt(static_cast<double>(problem.length)) * problem.scale);  // as large as others
  for (const std::uint64_t line : {std::uint64_t{0}, problem.lines() / 2, problem.lines() - 1}) {
    const std::size_t at = value_place(problem, false, line, side_points(problem, false) / 3) * parts;
    const T changed = answer[at] + wrong;
    queue.upload(&changed, out, sizeof(T), at * sizeof(T));
    EXPECT_FALSE(compare_by_sums(queue, problem, in, out).right()) << "line " << line << " of " << problem.length;
    queue.upload(&answer[at], out, sizeof(T), at * sizeof(T));
    queue.finish();
  }
}

TEST_F(DeviceAnswers, SumsFindAWrongValue) {
  for (const Device& device : accelerators()) {
    if (!device.limits().float64) continue;
    for (const std::size_t length : {100, 1009}) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        for (const Kind kind : {Kind::complex, Kind::real}) {
          AxisProblem problem;
          problem.direction = direction;
          problem.kind = kind;
          problem.length = length;
          problem.counts = {length == 100 ? std::uint64_t{150} : 3};
          problem.scale = 0.25;
          problem.in.line = {length + 3};
          problem.out.line = {length + 5};
          check_sums<float>(device, problem);
          if (length == 1009) check_sums<double>(device, problem);
        }
      }
    }
    AxisProblem columns;
    columns.length = 4099;
    columns.counts = {7};
    columns.in = columns.out = Address{.point = 7, .line = {1}};
    check_sums<float>(device, columns);
  }
}

// Values of a long line are compared by sums only.
TEST_F(DeviceAnswers, LongLinesAreComparedOnTheDevice) {
  for (const Device& device : accelerators()) {
    for (const Kind kind : {Kind::complex, Kind::real}) {
      AxisProblem problem;
      problem.kind = kind;
      problem.length = 3003;
      problem.counts = {3};
      problem.in.line = {3003};
      problem.out.line = {3003};
      const std::vector<Route> routes = list_routes(device, problem);
      AxisTrials trials(device, problem, 1000);
      const planner::Comparison right = trials.compare(CompiledRoute(device, routes.front(), false));
      EXPECT_TRUE(right.right()) << right.text();
      AxisProblem scaled = problem;
      scaled.scale = 1.001;
      EXPECT_FALSE(trials.compare(CompiledRoute(device, list_routes(device, scaled).front(), false)).right());
    }
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests

// Arrays of 16-bit floats: the conversions, and transforms that load and store them, against double.
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <ridge/half.hpp>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "fft/device/route.hpp"
#include "fft/float16.hpp"
#include "support.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::device_tests {
namespace {

TEST(Float16, EveryNumberSurvivesARoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto one = static_cast<std::uint16_t>(bits);
    const float half = from_float16(one), brain = from_bfloat16(one);
    EXPECT_TRUE(std::isnan(half) ? std::isnan(from_float16(to_float16(half))) : to_float16(half) == one) << bits;
    EXPECT_TRUE(std::isnan(brain) ? std::isnan(from_bfloat16(to_bfloat16(brain))) : to_bfloat16(brain) == one) << bits;
  }
  EXPECT_EQ(from_float16(0x3c00), 1.0f);
  EXPECT_EQ(from_float16(0x7bff), 65504.0f);
  EXPECT_EQ(from_float16(0x8001), -0x1p-24f);
  EXPECT_EQ(from_bfloat16(0x3fc0), 1.5f);
}

TEST(Float16, RoundsToTheNearestTiesToEven) {
  for (std::uint32_t bits = 0; bits < 0x7c00u; bits += 7) {  // finite values and their upper neighbours
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    if (high == 0x7c00u) continue;
    const float a = from_float16(low), b = from_float16(high), middle = a + (b - a) / 2;
    EXPECT_EQ(to_float16(middle), bits % 2 == 0 ? low : high) << bits;
    EXPECT_EQ(to_float16(std::nextafter(middle, 0.0f)), low) << bits;
    EXPECT_EQ(to_float16(-std::nextafter(middle, 1e9f)), high | 0x8000u) << bits;
  }
  EXPECT_EQ(to_float16(65519.0f), 0x7bff);
  EXPECT_EQ(to_float16(65520.0f), 0x7c00);
  EXPECT_EQ(to_float16(-1e30f), 0xfc00);
  EXPECT_EQ(to_float16(0x1p-26f), 0);
  EXPECT_EQ(to_bfloat16(1.0f + 0x1p-8f), 0x3f80) << "ties to even";
  EXPECT_EQ(to_bfloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

// Compares one direction of a problem on a device, in 16-bit floats, with the host's result in double from the same
// input.
void check_float16(const Device& device, Problem problem, bool inverse, const std::string& what) {
  const bool real = problem.kind == Kind::real;
  problem.directions = inverse ? Directions::inverse : Directions::forward;
  const Plan<float> plan(device, problem, quick());
  Problem wide = problem;
  wide.storage = Storage::same;
  wide.in_place = false;
  const Plan<double> reference(host(), wide, quick());
  const std::size_t from = inverse ? plan.output_size() : plan.input_size(),
                    to = inverse ? plan.input_size() : plan.output_size();
  std::mt19937 random(static_cast<unsigned>(from));
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  std::vector<std::uint16_t> in(std::max(from, problem.in_place ? to : 0)), out(to);
  std::vector<double> numbers(from), expected(to);
  for (std::size_t i = 0; i < from; ++i) {
    in[i] = to_stored(problem.storage, uniform(random));
    numbers[i] = static_cast<double>(from_stored(problem.storage, in[i]));
  }
  inverse ? reference.inverse_unchecked(numbers.data(), expected.data())
          : reference.forward_unchecked(numbers.data(), expected.data());
  std::vector<std::uint16_t>& got = problem.in_place ? in : out;
  inverse ? plan.inverse(std::span<const std::uint16_t>(in), got)
          : plan.forward(std::span<const std::uint16_t>(in), got);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < to; ++i) {
    const double apart = static_cast<double>(from_stored(problem.storage, got[i])) - expected[i];
    error += apart * apart;
    size += expected[i] * expected[i];
  }
  // Rounding to nearest has a relative error of at most this per value, and 0.6 of it over many values.
  const double unit = problem.storage == Storage::float16 ? 0x1p-11 : 0x1p-8;
  EXPECT_LE(std::sqrt(error / size), 0.6 * unit + 2 * reference::error_gate<float>(1024))
      << what << (real ? " real" : "");
}

Problem stored_problem(std::vector<std::size_t> shape, std::size_t batch, Kind kind, Storage storage) {
  return {.shape = std::move(shape), .batch = batch, .kind = kind, .storage = storage};
}

TEST(Float16, OnTheHost) {
  for (const Storage storage : {Storage::float16, Storage::bfloat16}) {
    for (const bool inverse : {false, true}) {
      check_float16(host(), stored_problem({60}, 5, Kind::complex, storage), inverse, "60");
      check_float16(host(), stored_problem({9, 14}, 2, Kind::real, storage), inverse, "9x14");
      Problem gaps = stored_problem({16}, 3, Kind::complex, storage);
      gaps.in_place = true;
      check_float16(host(), gaps, inverse, "16 in place");
    }
  }
}

TEST(Float16, WrongCallsAreRefused) {
  const Problem problem = stored_problem({16}, 1, Kind::complex, Storage::float16);
  EXPECT_THROW(Plan<double>(host(), problem, quick()), Error);
  const Plan<float> plan(host(), problem, quick());
  std::vector<std::complex<float>> floats(16), more(16);
  EXPECT_THROW(plan.forward(std::span<const std::complex<float>>(floats), more), Error);
  std::vector<std::uint16_t> in(31), out(32);
  EXPECT_THROW(plan.forward(std::span<const std::uint16_t>(in), out), Error) << "too short";
  const Plan<float> wide(host(), {.shape = {16}}, quick());
  EXPECT_THROW(wide.forward(std::span<const std::uint16_t>(out), out), Error);
  Problem integers = problem;
  integers.load_forward.samples = Samples::int8;
  EXPECT_THROW(Plan<float>(host(), integers, quick()), Error);
}

TEST(Directions, APlanOfOneDirectionRefusesTheOther) {
  std::vector<std::complex<float>> in(16), out(16);
  const Plan<float> forward(host(), {.shape = {16}, .directions = Directions::forward}, quick());
  const Plan<float> inverse(host(), {.shape = {16}, .directions = Directions::inverse}, quick());
  EXPECT_NO_THROW(forward.forward(std::span<const std::complex<float>>(in), out));
  EXPECT_THROW(forward.inverse(std::span<const std::complex<float>>(in), out), Error);
  EXPECT_NO_THROW(inverse.inverse(std::span<const std::complex<float>>(in), out));
  EXPECT_THROW(inverse.forward(std::span<const std::complex<float>>(in), out), Error);
}

class Float16OnDevices : public OnDevices {};

TEST_F(Float16OnDevices, AgainstDouble) {
  for (const Device& device : accelerators()) {
    check_float16(device, stored_problem({60}, 7, Kind::complex, Storage::float16), false, "60");
    check_float16(device, stored_problem({12, 10}, 2, Kind::complex, Storage::bfloat16), true, "12x10");
    check_float16(device, stored_problem({30}, 5, Kind::real, Storage::bfloat16), false, "30");
    check_float16(device, stored_problem({30}, 5, Kind::real, Storage::float16), true, "30");
    if (std::getenv("RIDGE_SLOW") == nullptr) continue;  // more kernels than PoCL compiles in a minute
    for (const bool inverse : {false, true}) {
      for (const Kind kind : {Kind::complex, Kind::real}) {
        for (const std::size_t n : {15u, 37u, 8192u, 40960u, 4099u}) {
          check_float16(device, stored_problem({n}, 2, kind, Storage::float16), inverse, fmt::format("{}", n));
        }
        check_float16(device, stored_problem({6, 5, 8}, 2, kind, Storage::float16), inverse, "6x5x8");
      }
      Problem here = stored_problem({64}, 3, Kind::complex, Storage::bfloat16);
      here.in_place = true;
      check_float16(device, here, inverse, "64 in place");
    }
  }
}

TEST_F(Float16OnDevices, APlanOfOneDirectionBuildsOnlyThat) {
  const Device device = accelerators().front();
  const Problem both = {.shape = {60}, .batch = 7, .directions = Directions::inverse};
  const Plan<float> plan(device, both, quick());
  EXPECT_EQ(plan.kernels().size(), 1u) << "the kernel of the inverse";
  EXPECT_NE(plan.kernels().front().text.find("inverse"), std::string::npos);
  std::vector<std::complex<float>> in(420, 1.0f), out(420);
  EXPECT_NO_THROW(plan.inverse(std::span<const std::complex<float>>(in), out));
  EXPECT_NEAR(out[0].real(), 60, 1e-4);
  EXPECT_THROW(plan.forward(std::span<const std::complex<float>>(in), out), Error);
}

TEST(Float16Text, CompilesForHopper) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Device hopper = test::hopper();
  for (const auto& [n, kind, direction, storage] : std::vector<std::tuple<std::size_t, Kind, Direction, Storage>>{
           {256, Kind::complex, Direction::forward, Storage::float16},
           {60, Kind::complex, Direction::inverse, Storage::bfloat16},
           {512, Kind::real, Direction::forward, Storage::bfloat16},
           {15, Kind::real, Direction::inverse, Storage::float16},
           {1u << 17, Kind::complex, Direction::forward, Storage::float16},
           {1u << 17, Kind::real, Direction::inverse, Storage::float16}}) {
    on_device::AxisProblem problem;
    problem.direction = direction;
    problem.kind = kind;
    problem.length = n;
    problem.counts = {1000};
    problem.load_storage = problem.store_storage = storage;
    const bool forward = direction == Direction::forward, real = kind == Kind::real;
    problem.in.line = {real && !forward ? n / 2 + 1 : n};
    problem.out.line = {real && forward ? n / 2 + 1 : n};
    const auto routes = on_device::list_routes(hopper, problem);
    const auto usable = std::ranges::find_if(routes, [](const auto& one) { return one.candidate.refusal.empty(); });
    ASSERT_NE(usable, routes.end()) << n;
    for (const KernelSource& source : on_device::kernels_of(*usable)) {
      EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(source, "sm_90").empty()); }) << source.text;
    }
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests

// Host arrays that exceed the device memory that may be used are transposed in panels.
#include <gmock/gmock.h>

#include <cstdint>
#include <numeric>

#include <ridge/device_memory.hpp>
#include <ridge/transpose.hpp>

#include "support/devices.hpp"

namespace ridge::transpose {
namespace {

class PanelsOnDevice : public test::NeedsAccelerator<> {
 protected:
  void TearDown() override { set_device_memory(0); }
};

template <class T>
void expect_transposed(const Device& device, const Problem& problem, std::size_t memory) {
  SCOPED_TRACE(device.id());
  set_device_memory(memory);
  const Plan<T> plan(device, problem, {.effort = Effort::quick});
  EXPECT_THAT(plan.explain(), ::testing::HasSubstr("larger than the device memory"));
  const Plan<T> loop(host(), problem, {.effort = Effort::quick});
  std::vector<T> in(problem.batch * (problem.rows + 5) * (problem.columns + 5));
  std::iota(in.begin(), in.end(), T(1));
  std::vector<T> got(in.size(), T(7)), want(in.size(), T(7));
  if (problem.in_place) {
    got = want = in;
    plan.run(std::span<T>(got));
    loop.run(std::span<T>(want));
  } else {
    plan.run(std::span<const T>(in), std::span<T>(got));
    loop.run(std::span<const T>(in), std::span<T>(want));
  }
  EXPECT_EQ(got, want) << plan.explain();
}

TEST_F(PanelsOnDevice, TilesOfLargeMatrices) {
  for (const Device& device : test::accelerators()) {
    expect_transposed<float>(device, {.rows = 70, .columns = 45}, 6000);
    expect_transposed<std::uint64_t>(device, {.rows = 200, .columns = 3, .batch = 2}, 6000);
    expect_transposed<std::uint16_t>(device, {.rows = 61, .columns = 50, .input = {.row = 53}, .output = {.row = 64}},
                                     3000);
  }
}

TEST_F(PanelsOnDevice, SquareMatricesInPlace) {
  for (const Device& device : test::accelerators()) {
    expect_transposed<float>(device, {.rows = 50, .columns = 50, .in_place = true}, 6000);
    expect_transposed<float>(device, {.rows = 33, .columns = 33, .batch = 3, .in_place = true}, 3000);
  }
}

TEST_F(PanelsOnDevice, ManySmallMatrices) {
  for (const Device& device : test::accelerators())
    expect_transposed<float>(device, {.rows = 6, .columns = 10, .batch = 101}, 12000);
}

}  // namespace
}  // namespace ridge::transpose

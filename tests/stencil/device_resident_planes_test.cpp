// Tests the planes that stay in registers by themselves, with small patches, against the reference in double.
#include <gtest/gtest.h>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "mail_support.hpp"
#include "stencil/device/resident_planes/resident_planes_kernel.hpp"
#include "stencil/variant.hpp"
#include "support/emulated_cuda.hpp"
#include "support/hopper.hpp"

namespace ridge::stencil::device_tests {
namespace {

template <class T>
ResidentPlanesKernel planes_of(const std::vector<std::size_t>& shape, const std::vector<Term>& terms,
                               const ResidentPlanesOptions& options) {
  const auto update = linear<T>(shape.size(), terms);
  return {.text = cell_text(update.outputs, resolve(update, {.shape = shape, .borders = Borders::all(Border::fixed)}),
                            type_name<T>()),
          .place = padded_layout(shape, sizeof(T)),
          .options = options};
}

template <class T>
double worst_of_planes(const Device& device, const std::vector<std::size_t>& shape, const std::vector<Term>& terms,
                       const ResidentPlanesOptions& options, std::size_t steps) {
  const ResidentPlanesKernel kernel = planes_of<T>(shape, terms, options);
  EXPECT_EQ(kernel.refusal(device.limits()), "");
  return worst_of_pass<T>(device, *make_resident_planes_pass(device, kernel), kernel.place, shape, terms, steps);
}

// A star with different weights, and two neighbours at each side along x.
std::vector<Term> uneven_star() {
  return {{{0, 0, 0}, 0.2},   {{0, 0, -1}, 0.1}, {{0, 0, 1}, 0.15},  {{0, 0, -2}, 0.05}, {{0, 0, 2}, 0.02},
          {{0, -1, 0}, 0.11}, {{0, 1, 0}, 0.07}, {{-1, 0, 0}, 0.16}, {{1, 0, 0}, 0.13}};
}

constexpr ResidentPlanesOptions kEven{.rows = 2, .planes = 2, .across = 2, .down = 2};
constexpr ResidentPlanesOptions kUneven{.rows = 3, .planes = 2, .across = 1, .down = 3};

void check_planes(const Device& device) {
  for (const std::size_t steps : {1, 2, 3, 12})
    EXPECT_LT(worst_of_planes<float>(device, {8, 8, 128}, star(3, 1), kEven, steps), 1e-6) << steps;
  EXPECT_LT(worst_of_planes<float>(device, {12, 6, 128}, uneven_star(), kUneven, 9), 1e-6);
  EXPECT_LT(worst_of_planes<double>(device, {8, 8, 64}, uneven_star(), kEven, 9), 1e-14);
  EXPECT_LT(worst_of_planes<float>(device, {4, 16, 128}, star(3, 1), kEven, 5), 1e-6);  // one tile along z
}

// Needs no GPU: work-items are emulated one after another.
TEST(ResidentPlanes, EmulatedPatchesMatchTheReference) {
  check_planes(Device(std::make_shared<ridge::test::EmulatedCuda>()));
}

class DeviceResidentPlanes : public ridge::test::NeedsAccelerator<> {};

TEST_F(DeviceResidentPlanes, PatchesMatchTheReference) {
  for (const Device& device : accelerators()) {
    if (device.info().backend != Backend::cuda || device.limits().architecture < 90) continue;
    check_planes(device);
    const ResidentPlanesOptions large{.rows = 4, .planes = 4, .across = 4, .down = 2};
    EXPECT_LT(worst_of_planes<float>(device, {128, 128, 128}, star(3, 1), large, 33), 1e-6);
    EXPECT_LT(worst_of_planes<double>(device, {64, 64, 64}, uneven_star(), large, 33), 1e-14);
  }
}

TEST(ResidentPlanes, RefusalsNameWhatIsNeeded) {
  const Limits limits = ridge::test::hopper().limits();
  const auto refusal = [&](const std::vector<std::size_t>& shape, const std::vector<Term>& terms) {
    return planes_of<float>(shape, terms, {}).refusal(limits);
  };
  EXPECT_EQ(refusal({128, 128, 128}, star(3, 1)), "");
  EXPECT_EQ(refusal({128, 128, 64}, star(3, 1)), "needs rows of 128 cells, got 64");
  EXPECT_EQ(refusal({128, 120, 128}, star(3, 1)), "needs multiples of 8 planes and 16 rows, got 128 and 120");
  EXPECT_EQ(refusal({128, 128, 128}, star(3, 2)), "needs neighbours along z at distance 1, got 2");
  EXPECT_EQ(refusal({128, 128, 128}, box(3, 1)), "needs neighbours along the axes only, got diagonal ones");
  EXPECT_EQ(refusal({256, 128, 128}, star(3, 1)), "needs 256 work-groups at the same time, the device runs 132");
  EXPECT_EQ(refusal({128, 128}, star(2, 1)), "needs three dimensions, got 2");
}

// Needs no GPU. The method relies on registers, so nothing may be spilled.
TEST(ResidentPlanesForHopper, NothingIsSpilled) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Device hopper = ridge::test::hopper();
  const auto check = [&](const auto& update, const Problem& problem) {
    std::size_t found = 0;
    for (const auto& entry : list_variants(hopper, update, resolve(update, problem))) {
      if (entry.candidate.variant != "resident_planes") continue;
      EXPECT_EQ(entry.candidate.refusal, "");
      ++found;
      for (const auto& resources : ridge::detail::resources_for(entry.kernels()[0], "sm_90"))
        EXPECT_EQ(resources.spilled_bytes, 0) << entry.candidate.name() << ": " << resources.registers;
    }
    EXPECT_GE(found, 1u);
  };
  check(linear<float>(3, star(3, 1)), {.shape = {128, 128, 128}, .borders = Borders::all(Border::fixed)});
  check(linear<double>(3, star(3, 1)), {.shape = {64, 64, 64}, .borders = Borders::all(Border::fixed)});
}

}  // namespace
}  // namespace ridge::stencil::device_tests

// Tests the rows that stay in registers by themselves, with small tiles, against the reference in double.
#include <gtest/gtest.h>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "mail_support.hpp"
#include "stencil/device/resident_rows/resident_rows_kernel.hpp"
#include "stencil/variant.hpp"
#include "support/emulated_cuda.hpp"
#include "support/hopper.hpp"

namespace ridge::stencil::device_tests {
namespace {

template <class T>
ResidentRowsKernel rows_of(const std::vector<std::size_t>& shape, const std::vector<Term>& terms,
                           const ResidentRowsOptions& options) {
  const auto update = linear<T>(shape.size(), terms);
  return {.text = cell_text(update.outputs, resolve(update, {.shape = shape, .borders = Borders::all(Border::fixed)}),
                            type_name<T>()),
          .place = padded_layout(shape, sizeof(T)),
          .options = options};
}

template <class T>
double worst_of_rows(const Device& device, const std::vector<std::size_t>& shape, const std::vector<Term>& terms,
                     const ResidentRowsOptions& options, std::size_t steps) {
  const ResidentRowsKernel kernel = rows_of<T>(shape, terms, options);
  EXPECT_EQ(kernel.refusal(device.limits()), "");
  return worst_of_pass<T>(device, *make_resident_rows_pass(device, kernel), kernel.place, shape, terms, steps);
}

class DeviceResidentRows : public ridge::test::NeedsAccelerator<> {
 protected:
  // Hopper's split barriers and launches whose groups run at the same time.
  static std::vector<Device> hoppers() {
    std::vector<Device> found;
    for (const Device& device : accelerators()) {
      const auto entries = list_variants(device, linear<float>(2, star(2, 1)),
                                         resolve(linear<float>(2, star(2, 1)), {.shape = {512, 512}}));
      for (const auto& entry : entries) {
        if (entry.candidate.variant == "resident_rows" && entry.candidate.refusal.empty()) {
          found.push_back(device);
          break;
        }
      }
    }
    return found;
  }
};

// Numbers of steps that end in the first block, after whole blocks, and within a later one.
TEST_F(DeviceResidentRows, TilesMatchTheReference) {
  for (const Device& device : hoppers()) {
    SCOPED_TRACE(device.info().name);
    const ResidentRowsOptions small{.depth = 2, .rows = 3, .sub_groups = 4};
    for (const std::size_t steps : {1, 2, 3, 12, 25})
      EXPECT_LT(worst_of_rows<float>(device, {61, 228}, star(2, 1), small, steps), 1e-6) << steps;
    EXPECT_LT(worst_of_rows<float>(device, {61, 252}, box(2, 1), small, 25), 1e-6);
    const ResidentRowsOptions deep{.depth = 5, .rows = 4, .sub_groups = 8, .per_unit = 2};
    EXPECT_LT(worst_of_rows<float>(device, {77, 300}, box(2, 2), deep, 33), 1e-6);
    EXPECT_LT(worst_of_rows<double>(device, {77, 190}, star(2, 1), deep, 33), 1e-14);
    EXPECT_LT(worst_of_rows<double>(device, {77, 90}, star(2, 2), deep, 33), 1e-14);
  }
}

// The same without a GPU: work-items are emulated one after another.
TEST(ResidentRows, EmulatedTilesMatchTheReference) {
  const Device emulated(std::make_shared<ridge::test::EmulatedCuda>());
  const ResidentRowsOptions small{.depth = 2, .rows = 3, .sub_groups = 4};
  for (const std::size_t steps : {1, 12, 25})
    EXPECT_LT(worst_of_rows<float>(emulated, {20, 228}, star(2, 1), small, steps), 1e-6) << steps;
}

// One tile along an axis has no halo there.
TEST_F(DeviceResidentRows, SingleTiles) {
  for (const Device& device : hoppers()) {
    SCOPED_TRACE(device.info().name);
    const ResidentRowsOptions options{.depth = 4, .rows = 5, .sub_groups = 4};
    EXPECT_LT(worst_of_rows<float>(device, {20, 128}, star(2, 1), options, 17), 1e-6);
    EXPECT_LT(worst_of_rows<float>(device, {20, 400}, star(2, 1), options, 17), 1e-6);
    EXPECT_LT(worst_of_rows<float>(device, {90, 128}, star(2, 1), options, 17), 1e-6);
  }
}

// Needs no GPU. Tiles cover the grid with overlapping halos, and refused ones are named.
TEST(ResidentRows, TilesOverlapByTwoHalos) {
  const auto tiles = [](const std::vector<std::size_t>& shape, const ResidentRowsOptions& options) {
    const ResidentRowsKernel kernel = rows_of<float>(shape, star(2, 1), options);
    return std::pair(kernel.tiles_y(), kernel.tiles_x());
  };
  EXPECT_EQ(tiles({1024, 1024}, {.depth = 8, .rows = 11, .sub_groups = 8}), std::pair(14, 9));
  EXPECT_EQ(tiles({88, 128}, {.depth = 8, .rows = 11, .sub_groups = 8}), std::pair(1, 1));
  EXPECT_EQ(tiles({87, 128}, {.depth = 8, .rows = 11, .sub_groups = 8}), std::pair(0, 1));
  EXPECT_EQ(tiles({1024, 1024}, {.depth = 16, .rows = 8, .sub_groups = 4}).first, 0);  // all halo
  const Limits limits = ridge::test::hopper().limits();
  EXPECT_EQ(rows_of<float>({512, 514}, star(2, 1), {}).refusal(limits), "needs rows of a multiple of 4 cells, got 514");
  EXPECT_NE(rows_of<float>({32, 512}, star(2, 1), {}).refusal(limits), "");
  EXPECT_EQ(rows_of<float>({512, 512}, star(2, 1), {}).refusal(limits), "");
}

// Needs no GPU. The method relies on registers, so nothing may be spilled.
TEST(ResidentRowsForHopper, NothingIsSpilled) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Device hopper = ridge::test::hopper();
  const auto check = [&](const auto& update, const Problem& problem) {
    std::size_t found = 0;
    for (const auto& entry : list_variants(hopper, update, resolve(update, problem))) {
      if (entry.candidate.variant != "resident_rows" || found > 0) continue;
      EXPECT_EQ(entry.candidate.refusal, "");
      ++found;
      for (const auto& resources : ridge::detail::resources_for(entry.kernels()[0], "sm_90"))
        EXPECT_EQ(resources.spilled_bytes, 0) << entry.candidate.name() << ": " << resources.registers;
    }
    EXPECT_EQ(found, 1u);
  };
  check(linear<float>(2, star(2, 1)), {.shape = {1024, 1024}, .borders = Borders::all(Border::fixed)});
  check(linear<float>(2, box(2, 1)), {.shape = {512, 512}, .borders = Borders::all(Border::fixed)});
  check(linear<double>(2, star(2, 2)), {.shape = {512, 512}, .borders = Borders::all(Border::fixed)});
}

}  // namespace
}  // namespace ridge::stencil::device_tests

// Tests the tiles that stay in registers by themselves, with small tiles, against the reference in double.
#include <gtest/gtest.h>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "stencil/device/resident_tiles/resident_tiles_kernel.hpp"
#include "stencil/variant.hpp"
#include "support/comma_locale.hpp"
#include "support/hopper.hpp"
#include "support/worst.hpp"

namespace ridge::stencil::device_tests {
namespace {

// `planes`: of one launch; 0: all.
template <class T>
ResidentKernel kernel_of(const std::vector<std::size_t>& shape, const Borders& borders, const std::vector<Term>& terms,
                         const ResidentOptions& options, std::size_t planes) {
  const auto update = linear<T>(shape.size(), terms);
  Layout layout = resolve(update, {.shape = shape, .borders = borders});
  if (planes > 0) layout.shape[0] = layout.end[0] = planes;
  return {.text = cell_text(update.outputs, layout, type_name<T>()),
          .place = padded_layout(shape, sizeof(T)),
          .options = options};
}

template <class T>
double worst(const Device& device, const std::vector<std::size_t>& shape, const Borders& borders,
             const std::vector<Term>& terms, const ResidentOptions& options, std::size_t steps,
             std::size_t planes = 0) {
  const ResidentKernel kernel = kernel_of<T>(shape, borders, terms, options, planes);
  EXPECT_EQ(kernel.refusal(device.limits()), "");
  const auto pass = make_resident_pass(device, kernel);
  const DeviceLayout& place = kernel.place;
  std::vector<double> start = scattered(place.cells());
  for (double& value : start) value = static_cast<double>(static_cast<T>(value));
  const std::vector<double> expected = reference(start, shape, borders, terms, static_cast<int>(steps));
  std::vector<T> field(place.field, static_cast<T>(std::nan("")));
  const auto at = [&](std::size_t cell) {
    return place.origin + cell / place.width() * place.pitch + cell % place.width();
  };
  for (std::size_t i = 0; i < place.cells(); ++i) field[at(i)] = static_cast<T>(start[i]);
  const Buffer a = device.buffer(field.size() * sizeof(T)), b = device.buffer(field.size() * sizeof(T));
  const std::vector<Buffer> mail(pass->scratch(), device.buffer(pass->scratch_bytes(0)));
  Queue queue = device.queue();
  queue.upload(std::span<const T>(field), a);
  queue.upload(std::span<const T>(field), b);
  queue.download(pass->enqueue_steps(queue, a, b, mail, steps) ? b : a, std::span<T>(field));
  queue.finish();
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < place.cells(); ++i) worst.add(std::abs(static_cast<double>(field[at(i)]) - expected[i]));
  return worst.value();
}

class DeviceResidentTiles : public ridge::test::NeedsAccelerator<> {};

using enum Border;

TEST_F(DeviceResidentTiles, EveryBorderMatchesTheReference) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const ResidentOptions small{.depth = 2, .tiles = {1, 3, 2}, .patch = {1, 2, 3}, .items = {1, 5, 7}};
    for (const Borders& borders : border_kinds())
      EXPECT_LT(worst<float>(device, {17, 31}, borders, box(2, 1), small, 7), 1e-6);
    const ResidentOptions wide{.depth = 3, .tiles = {1, 2, 2}, .patch = {1, 3, 5}, .items = {1, 8, 6}, .buffers = 1};
    EXPECT_LT(worst<double>(device, {24, 31}, border_kinds().back(), star(2, 2), wide, 8), 1e-14);
  }
}

// printf would write 0x1,8p+0 there, which no kernel compiler accepts.
TEST(CellText, DoesNotDependOnTheLocale) {
  const auto text = [] {
    const auto update = linear<float>(2, star(2, 2));
    const Layout layout = resolve(update, {.shape = {17, 31}, .borders = Borders::all(Border::periodic)});
    return cell_text(update.outputs, layout, "float").statements("", "t", [](const Operation&) { return "u"; });
  };
  const std::string plain = text();
  EXPECT_NE(plain.find("0x1."), std::string::npos) << plain;
  const ridge::test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a decimal comma";
  EXPECT_EQ(text(), plain);
}

// Several blocks of steps in one launch also on devices without signals: the only tile is its own neighbour.
TEST_F(DeviceResidentTiles, BlocksOfOneTile) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const ResidentOptions one{.depth = 2, .patch = {2, 2, 3}, .items = {4, 4, 4}};
    EXPECT_LT(worst<double>(device, {3, 4, 7}, Borders::all(periodic), box(3, 1), one, 9), 1e-14);
    const ResidentOptions fixed_one{.depth = 3, .patch = {1, 5, 3}, .items = {1, 4, 8}, .buffers = 1};
    EXPECT_LT(worst<double>(device, {11, 13}, Borders::all(fixed), star(2, 1), fixed_one, 10), 1e-14);
  }
}

TEST_F(DeviceResidentTiles, ThreeDimensionsAndOne) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const ResidentOptions tiles{.depth = 1, .tiles = {2, 1, 2}, .patch = {2, 3, 3}, .items = {5, 5, 4}};
    const Borders mixed{.low = {mirror, fixed, periodic}, .high = {fixed, fixed, periodic}};
    EXPECT_LT(worst<float>(device, {11, 11, 13}, mixed, star(3, 2), tiles, 3), 2e-6);
    const ResidentOptions row{.depth = 4, .tiles = {1, 1, 3}, .patch = {1, 1, 5}, .items = {1, 1, 8}};
    EXPECT_LT(worst<double>(device, {71}, Borders::all(mirror), star(1, 2), row, 9), 1e-14);
  }
}

// Grids stacked along z, three per launch: each a tile, two tiles, and tiles of two grids.
TEST_F(DeviceResidentTiles, ManyGrids) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    const ResidentOptions whole{.depth = 8, .tiles = {3, 1, 1}, .patch = {1, 3, 5}, .items = {1, 4, 3}};
    EXPECT_LT(worst<float>(device, {7, 11, 13}, Borders::all(fixed), star(2, 1), whole, 19, 3), 1e-6);
    const ResidentOptions parts{.depth = 2, .tiles = {3, 1, 2}, .patch = {1, 2, 3}, .items = {1, 8, 7}};
    const Borders mixed{.low = {fixed, fixed, mirror}, .high = {fixed, fixed, fixed}};
    EXPECT_LT(worst<double>(device, {5, 11, 31}, mixed, box(2, 1), parts, 5, 3), 1e-14);
    const ResidentOptions pairs{.depth = 2, .tiles = {2, 1, 1}, .patch = {1, 3, 3}, .items = {2, 5, 5}};
    EXPECT_LT(worst<float>(device, {7, 9, 8}, Borders::all(periodic), star(2, 1), pairs, 5, 3), 1e-6);
  }
}

// Needs no GPU. The method relies on registers, so nothing may be spilled.
TEST(ResidentTilesForHopper, NothingIsSpilled) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Device hopper = ridge::test::hopper();
  const auto check = [&](const auto& update, const Problem& problem) {
    std::size_t found = 0;
    for (const auto& entry : list_variants(hopper, update, resolve(update, problem))) {
      if (entry.candidate.variant != "resident_tiles" || found > 0) continue;
      EXPECT_EQ(entry.candidate.refusal, "");
      ++found;
      for (const auto& resources : ridge::detail::resources_for(entry.kernels()[0], "sm_90"))
        EXPECT_EQ(resources.spilled_bytes, 0) << entry.candidate.name() << ": " << resources.registers;
    }
    EXPECT_EQ(found, 1u);
  };
  check(linear<float>(2, star(2, 1)), {.shape = {1024, 1024}, .borders = Borders::all(fixed)});
  check(linear<float>(3, star(3, 1)), {.shape = {128, 128, 128}, .borders = Borders::all(fixed)});
  check(linear<float>(3, star(2, 1)), {.shape = {1000, 128, 128}, .borders = Borders::all(fixed)});
}

}  // namespace
}  // namespace ridge::stencil::device_tests

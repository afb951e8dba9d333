// Compares every flow design with the plain reference, on every device that compiles kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>  // setenv is POSIX

#include <algorithm>
#include <optional>
#include <span>

#include "image/flow/device/queues.hpp"
#include "image/flow/reference.hpp"
#include "image/support.hpp"
#include "support/devices.hpp"

namespace ridge::image::on_device {
namespace {

using flow::Field;
using flow::Mask;
using flow::Picture;
using flow::Size;
using flow::Vector;

// PoCL 3.1 shares local memory between its threads if a function with barriers uses it, as the emulation of matrix
// instructions does. Must be set before PoCL is loaded.
[[maybe_unused]] const bool one_thread = setenv("POCL_MAX_PTHREAD_COUNT", "1", 1) == 0;

class DeviceFlow : public test::NeedsAccelerator<> {};

FlowProblem problem_of(Size size, const FlowParameters& parameters = {}, std::size_t channels = 3) {
  return {.rows = static_cast<std::size_t>(size.rows),
          .columns = static_cast<std::size_t>(size.columns),
          .channels = channels,
          .parameters = parameters};
}

// The pitch is larger than a row, to find code that assumes packed rows.
Image frame_of(const Picture& picture, std::size_t channels = 3) {
  Image frame({.rows = static_cast<std::size_t>(picture.size.rows),
               .columns = static_cast<std::size_t>(picture.size.columns),
               .channels = channels});
  for (int r = 0; r < picture.size.rows; ++r) {
    auto* to = frame.row<std::uint8_t>(static_cast<std::size_t>(r));
    for (int c = 0; c < picture.size.columns; ++c, to += channels) {
      for (std::size_t k = 0; k < channels; ++k) to[k] = k < 3 ? picture.at(r, c).c[k] : 77;
    }
  }
  return frame;
}

Field run(const Variant& variant, const Picture& first, const Picture& second, std::size_t channels = 3) {
  const Image frames[] = {frame_of(first, channels), frame_of(second, channels)};
  Image out({.rows = static_cast<std::size_t>(first.size.rows),
             .columns = static_cast<std::size_t>(first.size.columns),
             .channels = 2,
             .depth = Depth::f32});
  variant.run(frames, out);
  Field field(first.size);
  for (int r = 0; r < first.size.rows; ++r) {
    const auto* from = out.row<float>(static_cast<std::size_t>(r));
    for (int c = 0; c < first.size.columns; ++c) field.at(r, c) = {from[2 * c + 1], from[2 * c]};
  }
  return field;
}

// Slow variants are tested too: only those that exceed the device's limits are skipped.
bool does_not_fit(const planner::Candidate& candidate) {
  return candidate.refusal.find("local memory") != std::string::npos ||
         candidate.refusal.find("work-group") != std::string::npos;
}

// Counts vectors that differ by more than the filter's rounding: a start rounded the other way moves a vector by a
// whole pixel.
std::size_t moved(const Field& a, const Field& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    const double apart = std::hypot(double{a.cells[i].u} - b.cells[i].u, double{a.cells[i].v} - b.cells[i].v);
    count += apart <= 5e-3 ? 0 : 1;
  }
  return count;
}

TEST_F(DeviceFlow, EveryDesignIsThePlainFlow) {
  const auto [first, second] = test::moving_square({37, 53});
  const Field right = flow::simple_flow(first, second, {}, flow::WeightKind::polynomial);
  for (const Device& device : test::accelerators()) {
    for (const FlowDesign& design : flow_designs()) {
      // One compilation per smoothing method where it takes seconds; the test below covers the searches.
      const bool alike = (design.smooth == Smooth::matrix && !(design.polynomial == 7 || design.down == 2)) ||
                         (design.smooth == Smooth::tile && (design.rows == 4 || design.search != Search::plain));
      if (alike && device.limits().sub_group == 0 && std::getenv("RIDGE_SLOW") == nullptr) continue;
      const planner::Candidate candidate = candidate_of(device, problem_of(first.size), design);
      SCOPED_TRACE(device.id() + " " + candidate.name());
      if (does_not_fit(candidate)) continue;
      const FlowVariant variant(device, problem_of(first.size), design);
      const Field flow = run(variant, first, second);
      EXPECT_EQ(moved(flow, right), 0u);
    }
  }
}

// Point selection in the paper's scan order: overlapping blocks of several sizes, cut by odd borders, in both
// directions.
TEST_F(DeviceFlow, ScanOrderIsThePlainOne) {
  FlowParameters parameters{.postprocess_window = 3, .upscale_averaging_radius = 3};
  parameters.selection = Selection::scan_order;
  parameters.speed_up_threshold = 1.5f;                    // the square's border is irregular
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;  // PoCL takes a second and more to compile each
  for (const Size size : {Size{77, 103}, Size{9, 41}, Size{1, 1}}) {
    const auto [first, second] = test::moving_square(size);
    for (const int layers : {3, 4}) {
      if (layers == 4 && !slow) continue;
      parameters.layers = layers;
      const Field right = flow::simple_flow(first, second, parameters, flow::WeightKind::polynomial);
      FlowParameters aligned = parameters;
      aligned.selection = Selection::aligned;
      if (size.rows == 77) {  // the two selections must differ, or the test proves nothing
        EXPECT_GT(moved(flow::simple_flow(first, second, aligned, flow::WeightKind::polynomial), right), 10u);
      }
      for (const Device& device : test::accelerators()) {
        for (const Search search : {Search::plain, Search::blocks}) {
          if (search == Search::blocks && !(slow && size.rows == 77)) continue;
          SCOPED_TRACE(testing::Message() << device.id() << " " << size.rows << " x " << size.columns << ", " << layers
                                          << " layers, search " << static_cast<int>(search));
          const FlowVariant variant(device, problem_of(size, parameters), {.search = search});
          EXPECT_EQ(moved(run(variant, first, second), right), 0u);
        }
      }
    }
  }
}

// More rows are active at once than a group has work-items. (PoCL without optimization takes seconds.)
TEST_F(DeviceFlow, ScanOrderOfMoreRowsThanAGroupHasItems) {
  FlowParameters parameters{
      .averaging_radius = 1, .max_flow = 1, .postprocess_window = 1, .upscale_averaging_radius = 1};
  parameters.selection = Selection::scan_order;
  const auto [first, second] = test::moving_square({262, 1060});
  std::optional<Field> right;
  for (const Device& device : test::accelerators()) {
    if (device.info().runs_on_host_cores && std::getenv("RIDGE_SLOW") == nullptr) continue;
    SCOPED_TRACE(device.id());
    if (!right) right = flow::simple_flow(first, second, parameters, flow::WeightKind::polynomial);
    const FlowVariant variant(device, problem_of(first.size, parameters),
                              {.search = Search::plain, .smooth = Smooth::plain});
    EXPECT_EQ(moved(run(variant, first, second), *right), 0u);
  }
}

// Searches all pixels of one level from zero: every vector must be equal.
TEST_F(DeviceFlow, TheSearchIsTheHostsBitForBit) {
  const auto [first, second] = test::moving_square({29, 42});
  for (const Device& device : test::accelerators()) {
    for (const Search search : {Search::blocks, Search::singles, Search::plain}) {
      for (const auto& [radius, reach] : {std::pair{2, 4}, std::pair{1, 3}, std::pair{0, 2}, std::pair{4, 6}}) {
        if (radius > 2 && search != Search::plain) continue;
        FlowParameters parameters{.layers = 1, .averaging_radius = radius, .max_flow = reach};
        parameters.postprocess_window = 1;
        SCOPED_TRACE(testing::Message() << device.id() << " search " << static_cast<int>(search) << " radius "
                                        << radius);
        const FlowPipeline pipeline(device, problem_of(first.size, parameters),
                                    {.search = search, .smooth = Smooth::plain});
        Queue queue = device.queue();
        const Image frames[] = {frame_of(first), frame_of(second)};
        const Buffer pyramids[] = {pipeline.pyramid(), pipeline.pyramid()};
        const FlowPipeline::Workspace work = pipeline.workspace();
        std::vector<Image> resident;
        for (std::size_t i = 0; i < 2; ++i) {
          resident.push_back(Image::on(device, frames[i].shape()));
          upload(queue, frames[i], resident[i]);
          pipeline.build(queue, resident[i], pyramids[i]);
        }
        const Image out = Image::on(device, {.rows = 29, .columns = 42, .channels = 2, .depth = Depth::f32});
        pipeline.flow(queue, pyramids[0], pyramids[1], work, out);
        std::vector<Vector> found(2 * first.size.cells());
        queue.download(work.searched, std::span(found));
        queue.finish();
        for (int way = 0; way < 2; ++way) {
          Field right(first.size);
          flow::search(way == 0 ? first : second, way == 0 ? second : first, Mask(first.size, 1), right, parameters,
                       flow::WeightKind::polynomial);
          const auto from = found.begin() + static_cast<std::ptrdiff_t>(way * first.size.cells());
          EXPECT_TRUE(std::equal(right.cells.begin(), right.cells.end(), from)) << "direction " << way;
        }
      }
    }
  }
}

TEST_F(DeviceFlow, TinyFramesOfEveryChannelCount) {
  for (const Device& device : test::accelerators()) {
    for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 2}, Size{3, 5}, Size{17, 4}}) {
      for (const std::size_t channels : {1u, 3u, 4u}) {
        if (channels != 3 && size.rows != 3 && size.columns != 9)
          continue;  // channels are read by one kernel, independent of the size
        SCOPED_TRACE(testing::Message() << device.id() << " " << size.rows << " x " << size.columns << ", "
                                        << channels);
        Picture first = test::waves(size), second = test::waves(size, 1, 0);
        if (channels == 1) {
          for (Picture* picture : {&first, &second}) {
            for (flow::Pixel& pixel : picture->cells) pixel = {{pixel.c[0], pixel.c[0], pixel.c[0]}};
          }
        }
        const FlowVariant variant(device, problem_of(size, {}, channels), {.search = Search::plain});
        const Field right = flow::simple_flow(first, second, {}, flow::WeightKind::polynomial);
        EXPECT_EQ(moved(run(variant, first, second, channels), right), 0u);
      }
    }
  }
}

// A narrow and a wide colour filter, with other parameters of the filters and one to four levels.
TEST_F(DeviceFlow, OtherFiltersAndLevels) {
  const auto [first, second] = test::moving_square({25, 38});
  for (const Device& device : test::accelerators()) {
    for (const float sigma : {6.0f, 120.0f}) {
      for (const int layers : {1, 2, 4}) {
        FlowParameters parameters{
            .layers = layers, .postprocess_window = 4, .sigma_dist_fix = 3, .sigma_color_fix = sigma};
        parameters.upscale_averaging_radius = 7;
        parameters.upscale_sigma_color = sigma;
        const Field right = flow::simple_flow(first, second, parameters, flow::WeightKind::polynomial);
        for (const Smooth smooth : {Smooth::tile, Smooth::matrix}) {
          const FlowDesign design{.search = Search::plain, .smooth = smooth, .polynomial = 5};
          if (smooth == Smooth::matrix && sigma < 25) continue;  // refused: weights leave the range of floats
          SCOPED_TRACE(testing::Message() << device.id() << " sigma " << sigma << " layers " << layers);
          const FlowVariant variant(device, problem_of(first.size, parameters), design);
          EXPECT_EQ(moved(run(variant, first, second), right), 0u);
        }
      }
    }
  }
}

TEST_F(DeviceFlow, FlatAndEqualPairsDoNotMove) {
  const Size size{33, 47};
  for (const Device& device : test::accelerators()) {
    const FlowVariant variant(device, problem_of(size), {.search = Search::plain});
    const Picture flat(size, flow::Pixel{{90, 90, 90}}), texture = test::waves(size);
    EXPECT_EQ(test::worst_difference(run(variant, flat, flat), Field(size)), 0);
    EXPECT_EQ(test::worst_difference(run(variant, texture, texture), Field(size)), 0);
  }
}

TEST_F(DeviceFlow, AStreamGivesTheFlowsOfThePairsInOrder) {
  const Size size{21, 30};
  // Small windows: this tests the order of the pairs.
  FlowParameters small{.layers = 2, .averaging_radius = 1, .max_flow = 2, .postprocess_window = 2};
  small.upscale_averaging_radius = 2;
  std::vector<Picture> frames;
  for (int i = 0; i < 6; ++i) frames.push_back(test::waves(size, 0.7 * i, -1.3 * i * (i % 3)));
  for (const Device& device : test::accelerators()) {
    const auto variant =
        std::make_shared<const FlowVariant>(device, problem_of(size, small), FlowDesign{.search = Search::plain});
    for (const std::size_t lanes : {2, 3}) {
      FlowQueues stream(variant, lanes);
      std::size_t taken = 0;
      const auto take = [&] {
        const Image flow = stream.next();
        const Field right = run(*variant, frames[taken], frames[taken + 1]);
        Field got(size);
        for (int r = 0; r < size.rows; ++r) {
          const auto* from = flow.row<float>(static_cast<std::size_t>(r));
          for (int c = 0; c < size.columns; ++c) got.at(r, c) = {from[2 * c + 1], from[2 * c]};
        }
        EXPECT_EQ(test::worst_difference(got, right), 0) << "pair " << taken;
        ++taken;
      };
      for (const Picture& picture : frames) {
        const Image frame = frame_of(picture);
        Image input = stream.input();
        for (std::size_t r = 0; r < input.rows(); ++r) {
          std::copy_n(frame.row<std::uint8_t>(r), input.shape().row_bytes(), input.row<std::uint8_t>(r));
        }
        if (stream.waiting() == lanes) {
          EXPECT_THROW(stream.push(), Error);
          take();
        }
        stream.push();
      }
      while (stream.waiting() > 0) take();
      EXPECT_EQ(taken, frames.size() - 1);
      EXPECT_THROW(stream.next(), Error);
    }
  }
}

TEST_F(DeviceFlow, RefusalsAreInWords) {
  const auto refusal = [](const FlowParameters& parameters, const FlowDesign& design) {
    return candidate_of(test::accelerators().front(), problem_of({480, 640}, parameters), design).refusal;
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal({.averaging_radius = 5}, {.search = Search::blocks}), HasSubstr("registers"));
  EXPECT_EQ(refusal({.averaging_radius = 5}, {.search = Search::plain, .smooth = Smooth::plain}), "");
}

}  // namespace
}  // namespace ridge::image::on_device

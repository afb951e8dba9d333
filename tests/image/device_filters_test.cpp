// Tests of filters on every device with kernels, for each of their variants. Sizes and pitches are kernel arguments, so
// one compiled kernel serves all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/device_operators_support.hpp"

namespace ridge::image {
namespace {

// One variant against the reference, for several filters and sizes.
struct Sweep {
  const char* variant;
  Sizes sizes;
  std::size_t fewest = 1;     // entries of the variant
  std::size_t from_end = 0;   // compared entry, counted from the last; 0 (or RIDGE_SLOW=1): a different one per round
  std::size_t odd_every = 3;  // rounds per comparison of images without any alignment
  Depth depth = Depth::u8;
};

void check_filters(const std::vector<Device>& devices, const std::vector<Filtered>& filters, const Sweep& sweep) {
  for (const Device& device : devices) {
    std::size_t round = 0;
    for (const Filtered& filter : filters) {
      OperatorProblem problem;
      problem.chain = {filter.operation};
      problem.border = filter.border;
      problem.constant = sweep.depth == Depth::f32 ? 0.7 : 77;
      for (const auto& [rows, columns] : sweep.sizes) {
        problem.input = {.rows = rows, .columns = columns, .channels = filter.channels, .depth = sweep.depth};
        const std::vector<Entry> entries = ways_of(device, problem, sweep.variant);
        ASSERT_GE(entries.size(), sweep.fewest);
        const bool fixed = sweep.from_end > 0 && !slow();  // one kernel serves all sizes
        const Entry& entry = entries[fixed ? entries.size() - sweep.from_end : round % entries.size()];
        ++round;
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(filter.operation) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_THAT(entry.candidate.name(), testing::HasSubstr(filter.parameter));
        EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
        if (sweep.odd_every == 1 || round % sweep.odd_every == 1) {
          EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
        }
      }
    }
  }
}

// Several words of a row per work-item: every count of words, inside the image, at its borders and unaligned.
TEST_F(DeviceOperators, BytesByWords) {
  for (const Device& device : all) {
    for (const Kind& kind : {Kind{1, Depth::u8, Border::reflect_101}, Kind{3, Depth::u8, Border::constant},
                             Kind{2, Depth::u16, Border::wrap}}) {
      int seen = 0;
      for (const std::size_t columns : {19, 1300}) {
        OperatorProblem problem;
        problem.input = {.rows = 37, .columns = columns, .channels = kind.channels, .depth = kind.depth};
        problem.chain = {Separable{{0.1f, 0.2f, 0.4f, 0.2f}, {-0.2f, 0.5f, 0.3f, 0.3f, 0.1f}}};
        if (kind.channels == 1) problem.chain = {Gauss{1, 2}};
        problem.border = kind.border;
        problem.constant = 77;
        for (const Entry& entry : list_variants(device, problem)) {
          if (entry.candidate.variant != "stream words") continue;
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
          ASSERT_EQ(entry.candidate.refusal, "");
          EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
          EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
          ++seen;
        }
      }
      EXPECT_EQ(seen, 8);
    }
  }
}

// Strips of 128 channels: inside the image, at its borders, in images smaller than a strip's input, unaligned.
TEST_F(DeviceOperators, BytesByStrips) {
  const std::vector<float> triangle{1, 2, 3, 2, 1};
  std::vector<Filtered> filters{{1, Border::reflect_101, Gauss{1, 2}},
                                {3, Border::reflect, Separable{{0.1f, 0.2f, 0.4f}, {-0.2f, 0.5f, 0.3f, 0.3f, 0.1f}}},
                                {2, Border::constant, Separable{triangle, triangle}}};
  if (slow()) {
    filters.push_back({1, Border::wrap, Box{4, 9}});
    filters.push_back({1, Border::replicate, Gauss{5}});
    filters.push_back({4, Border::wrap, Separable{{2e-4f}, {3.1f, -700.0f, 3001.7f}}});
  }
  check_filters(all, filters,
                {.variant = "strips",
                 .sizes = {{1, 1}, {2, 3}, {3, 131}, {40, 520}, {19, 517}, {70, 44}},
                 .fewest = 3,
                 .odd_every = 2});
}

// Windows of bytes: inside the image, beyond the ends of rows, in images smaller than a window, unaligned; weights of
// one, two and three bytes, signed and unsigned; results above 255 and below 0.
TEST_F(DeviceOperators, BytesByWindows) {
  const std::vector<float> triangle{1, 2, 3, 2, 1};
  std::vector<Filtered> filters{
      {1, Border::reflect_101, Gauss{1, 2}, "bytes=2"},
      {3, Border::constant, Convolve{2, 3, {0.1f, -0.7f, 0.3f, 0.33f, 1.4f, -0.01f}}, "bytes=2"}};
  if (slow()) {
    filters.push_back({1, Border::wrap, Box{9, 9}, "bytes=1"});
    filters.push_back({2, Border::replicate, Separable{triangle, triangle}, "bytes=1"});
    filters.push_back({3, Border::reflect, Box{5, 9}, "bytes=1"});
    filters.push_back({4, Border::wrap, Convolve{3, 3, {-1, -1, -1, -1, 9, -1, -1, -1, -1}}, "bytes=1"});
    filters.push_back({1, Border::reflect, Gauss{1.5, 3}, "bytes=2"});
    const std::vector<float> odd{0.1234567f,  -0.3141593f, 0.2718282f, 0.5772157f, 0.9142136f,
                                 -0.7320508f, 0.4494897f,  0.6457513f, -0.1622777f};
    filters.push_back({3, Border::constant, Convolve{3, 3, odd}, "bytes=3"});
  }
  check_filters(all, filters,
                {.variant = "windows",
                 .sizes = {{1, 1}, {2, 30}, {40, 400}, {19, 517}, {70, 44}, {3, 272}},
                 .fewest = 3,
                 .from_end = 2});
}

// 16-bit sums: borders that a lane can compute itself and others, rows that are whole chunks and others, images smaller
// than a window, unaligned.
TEST_F(DeviceOperators, BytesBySums) {
  std::vector<Filtered> filters{{1, Border::reflect_101, Box{9, 9}}, {3, Border::constant, Box{4, 9}}};
  if (slow()) {
    filters.push_back({3, Border::reflect_101, Box{9, 9}});
    filters.push_back({4, Border::reflect, Box{9, 9}});  // 20 values to an end
    filters.push_back({2, Border::wrap, Box{3, 4}});
    filters.push_back({1, Border::replicate, Box{16, 16}});
    filters.push_back({2, Border::replicate, Box{1, 7}});
    filters.push_back({3, Border::reflect, Box{7, 1}});
  }
  check_filters(all, filters,
                {.variant = "sums",
                 .sizes = {{1, 1}, {2, 30}, {70, 1040}, {40, 976}, {19, 517}, {70, 48}, {3, 16}, {33, 347}},
                 .from_end = 1});
}

// Two products of byte matrices: inside the image, at its borders, in images smaller than the input of a group,
// unaligned; results above 255; the largest numbers of products horizontally and vertically.
TEST_F(DeviceOperators, BytesByBands) {
  std::vector<Filtered> filters{{1, Border::reflect_101, Gauss{1, 2}}, {3, Border::constant, Box{4, 9}}};
  if (slow()) {
    filters.push_back({3, Border::reflect_101, Gauss{5}});  // 45 channels to either side
    filters.push_back({1, Border::wrap, Gauss{5}});
    filters.push_back({2, Border::replicate, Separable{{1, 2, 3, 2}, {0.1f, 0.1f}}});
    filters.push_back({4, Border::reflect, Separable{{0.3f, 0.3141f, 0.4f}, {0.2f, 0.3f, 0.4f, 0.3f, 0.2f}}});
    filters.push_back({1, Border::reflect, Gauss{8, 24}});
  }
  check_filters(all, filters,
                {.variant = "bands",
                 .sizes = {{1, 1}, {2, 30}, {180, 212}, {19, 517}, {70, 44}, {3, 272}},
                 .fewest = 3,
                 .from_end = 2});
}

// Floats through a ring buffer of rows: several groups in both directions, windows larger than the image, unaligned.
TEST_F(DeviceOperators, FloatsByMarch) {
  const auto any = [](std::size_t rows, std::size_t columns) {  // no column times a row
    Convolve kernel{rows, columns};
    for (std::size_t i = 0; i < rows * columns; ++i) kernel.kernel.push_back(0.01f * static_cast<float>(i * i % 17));
    return kernel;
  };
  std::vector<Filtered> filters{
      {1, Border::reflect_101, Gauss{1, 2}}, {3, Border::constant, Box{4, 5}}, {1, Border::replicate, any(3, 4)}};
  if (slow()) {
    filters.push_back({1, Border::reflect, Gauss{5}});
    filters.push_back({3, Border::wrap, any(7, 7)});
    filters.push_back({3, Border::reflect_101, Box{31, 15}});
    filters.push_back({1, Border::wrap, Box{17, 25}});
    filters.push_back({2, Border::replicate, Separable{{0.1f, -0.2f, 0.4f}, {1, 2, 3, 2}}});
    filters.push_back({4, Border::reflect, Gauss{0.5, 1}});
  }
  check_filters(all, filters,
                {.variant = "march",
                 .sizes = {{1, 1}, {3, 7}, {53, 1100}, {17, 129}},
                 .from_end = 1,  // with rows=fill each image size is another kernel
                 .odd_every = 1,
                 .depth = Depth::f32});
}

// Floats with neighbours from other lanes: several strips and groups, rows that are not whole vec4s, windows larger
// than the image, unaligned.
TEST_F(DeviceOperators, FloatsByLanes) {
  std::vector<Filtered> filters{{1, Border::reflect_101, Gauss{1, 2}},
                                {3, Border::constant, Box{4, 5}},
                                {1, Border::reflect_101, Pyramid{1}},
                                {3, Border::replicate, Pyramid{1}}};
  if (slow()) {
    filters.push_back({2, Border::constant, Pyramid{1}});
    filters.push_back({1, Border::wrap, Box{15, 17}});
    filters.push_back({3, Border::reflect, Gauss{1.5, 4}});
    filters.push_back({2, Border::replicate, Separable{{0.1f, -0.2f, 0.4f}, {1, 2, 3, 2}}});
    filters.push_back({4, Border::wrap, Gauss{0.5, 1}});
    filters.push_back({1, Border::constant, Box{3, 1}});
  }
  check_filters(all, filters,
                {.variant = "lanes",
                 .sizes = {{1, 1}, {3, 7}, {140, 250}, {53, 1100}, {17, 129}},
                 .odd_every = 1,
                 .depth = Depth::f32});
}

TEST_F(DeviceOperators, LargeKernelsByTransforms) {
  for (const Device& device : all) {
    std::size_t round = 0;
    for (const Kind& kind : kKinds) {
      OperatorProblem problem;
      problem.input = {.rows = 97, .columns = 131, .channels = kind.channels, .depth = kind.depth};
      problem.chain = {test::large_kernel(40, 31)};  // kernels are compiled for the window: one serves all
      problem.border = kind.border;
      problem.constant = 77;
      std::vector<Entry> entries = list_variants(device, problem);
      std::erase_if(entries,
                    [](const Entry& e) { return e.candidate.variant != "fft" || !e.candidate.refusal.empty(); });
      ASSERT_FALSE(entries.empty());
      const Entry& entry = entries.front();
      SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
      EXPECT_LE(error_of(device, problem, entry, round++ % 2 == 1), test::allowed_error(problem));
      if (!slow() && round == 3) break;
    }
  }
}

}  // namespace
}  // namespace ridge::image

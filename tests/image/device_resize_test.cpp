// Tests of enlarging and reducing images on every device with kernels, for each of their variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/device_operators_support.hpp"

namespace ridge::image {
namespace {

// Downscaling bytes by two, with aligned words and byte by byte.
TEST_F(DeviceOperators, BytesDownscaledByTwo) {
  for (const Device& device : all) {
    for (const std::size_t channels : {1, 2, 3, 4}) {
      for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
        if (channels % 2 == 0 && (interpolation == Interpolation::bilinear || !slow())) continue;
        int seen = 0;
        for (const auto& [rows, columns] : Sizes{{2, 2}, {10, 38}, {14, 1208}}) {
          OperatorProblem problem;
          problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
          problem.chain = {Resize{.scale = 0.5, .interpolation = interpolation}};
          for (const Entry& entry : list_variants(device, problem)) {
            if (entry.candidate.variant != "downscale by two") continue;
            ++seen;
            if (!slow() && entry.candidate.parameters.front().second != "2") continue;
            SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text());
            EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
            EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
          }
        }
        EXPECT_EQ(seen, interpolation == Interpolation::bilinear ? 6 : 9);
      }
    }
  }
}

// A pyramid level of bytes: every border, odd sizes, images smaller than a work-item's part, unaligned.
TEST_F(DeviceOperators, PyramidsOfBytes) {
  for (const Device& device : all) {
    std::size_t round = 0;
    for (const std::size_t channels : {1, 3, 2, 4}) {
      for (const Border border :
           {Border::reflect_101, Border::constant, Border::wrap, Border::reflect, Border::replicate}) {
        if (++round % 4 != 1 && !slow()) continue;
        for (const auto& [rows, columns] : Sizes{{1, 1}, {2, 9}, {10, 8}, {11, 40}, {14, 1208}, {9, 1025}}) {
          OperatorProblem problem;
          problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
          problem.chain = {Pyramid{1}};
          problem.border = border;
          problem.constant = 77;
          const std::vector<Entry> entries = ways_of(device, problem, "downscale by two");
          ASSERT_EQ(entries.size(), 3u);
          const Entry& entry = entries[round % 3];  // a kernel for every border and number of channels
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + problem.input.text() + " " +
                       to_string(border));
          EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
          EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
        }
      }
    }
  }
}

// Resampling bytes: larger and slightly smaller, vec4s at the ends of rows, rows at the image's borders, unaligned.
TEST_F(DeviceOperators, BytesResampled) {
  struct Sampling {
    std::size_t channels;
    Resize resize;
  };
  std::vector<Sampling> samplings{{1, {.scale = 1.6}}, {3, {.scale = 1.37, .interpolation = Interpolation::bicubic}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1}});
    samplings.push_back({4, {.scale = 0.8}});
    samplings.push_back({1, {.scale = 0.7, .interpolation = Interpolation::bicubic}});
    samplings.push_back({3, {.rows = 41, .columns = 700, .interpolation = Interpolation::area}});
  }
  for (const Device& device : all) {
    for (const Sampling& sampling : samplings) {
      int seen = 0;
      for (const auto& [rows, columns] : Sizes{{1, 1}, {2, 5}, {31, 397}, {18, 64}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = sampling.channels, .depth = Depth::u8};
        problem.chain = {sampling.resize};
        std::vector<Entry> entries = list_variants(device, problem);
        std::erase_if(entries, [](const Entry& entry) {
          return entry.candidate.variant != "resample" || !entry.candidate.refusal.empty();
        });
        if (entries.empty()) continue;
        // Each image size may need another kernel.
        const Entry& entry = entries[slow() ? static_cast<std::size_t>(seen) % entries.size() : entries.size() - 1];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
        EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
        ++seen;
      }
      EXPECT_GE(seen, 3);
    }
  }
}

// Enlarging by matrix products: images smaller than the input of a product, several groups in both directions,
// unaligned.
TEST_F(DeviceOperators, BytesBlended) {
  std::vector<std::pair<std::size_t, Resize>> samplings{{1, {.scale = 1.6}}, {3, {.scale = 1.37}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1}});
    samplings.push_back({4, {.rows = 41, .columns = 700}});
  }
  for (const Device& device : all) {
    for (const auto& [channels, resize] : samplings) {
      int seen = 0;
      for (const auto& [rows, columns] : Sizes{{1, 1}, {2, 5}, {31, 397}, {18, 64}, {90, 50}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::u8};
        problem.chain = {resize};
        for (const Entry& entry : list_variants(device, problem)) {
          if (entry.candidate.variant != "blend" || !entry.candidate.refusal.empty()) continue;
          SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                       problem.input.text());
          EXPECT_LE(error_of(device, problem, entry), allowed_of(problem, entry));
          EXPECT_LE(error_of(device, problem, entry, true), allowed_of(problem, entry));
          ++seen;
        }
      }
      EXPECT_GE(seen, 3);
    }
  }
}

// Enlarging bytes by ratios of small integers: borders, several groups, an incomplete last period, unaligned.
TEST_F(DeviceOperators, BytesByPhases) {
  struct Sampling {
    std::size_t channels;
    Resize resize;
    Sizes sizes;
  };
  const auto to = [](std::size_t rows, std::size_t columns, Interpolation interpolation) {
    return Resize{.rows = rows, .columns = columns, .interpolation = interpolation};
  };
  std::vector<Sampling> samplings{{1, {.scale = 2}, {{1, 8}, {7, 1040}}},
                                  {3, {.scale = 2, .interpolation = Interpolation::bicubic}, {{3, 4}, {7, 516}}}};
  if (slow()) {  // long texts to compile
    for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
      samplings.push_back({1, {.scale = 1.6, .interpolation = interpolation}, {{5, 20}, {15, 1300}}});
      samplings.push_back({3, {.scale = 1.6, .interpolation = interpolation}, {{5, 20}, {35, 660}}});
    }
    samplings.push_back({4, to(9, 24, Interpolation::bilinear), {{6, 16}}});
    samplings.push_back({2, to(10, 32, Interpolation::bicubic), {{4, 24}}});
  }
  for (const Device& device : all) {
    for (const Sampling& sampling : samplings) {
      for (const auto& [rows, columns] : sampling.sizes) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = sampling.channels, .depth = Depth::u8};
        problem.chain = {sampling.resize};
        const std::vector<Entry> entries = ways_of(device, problem, "phases");
        ASSERT_EQ(entries.size(), 2u) << problem.input.text();
        const Entry& entry = entries[rows > 9 ? 1 : 0];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
      }
    }
  }
}

// Enlarging floats strip by strip: images smaller than the taps, several groups in both directions, unaligned.
TEST_F(DeviceOperators, FloatsEnlarged) {
  std::vector<std::pair<std::size_t, Resize>> samplings{{1, {.scale = 1.6}},
                                                        {3, {.scale = 1.37, .interpolation = Interpolation::bicubic}}};
  if (slow()) {
    samplings.push_back({2, {.scale = 3.1, .interpolation = Interpolation::bicubic}});
    samplings.push_back({4, {.scale = 1, .interpolation = Interpolation::nearest}});
  }
  for (const Device& device : all) {
    for (const auto& [channels, resize] : samplings) {
      std::size_t seen = 0;
      for (const auto& [rows, columns] : Sizes{{1, 1}, {2, 5}, {55, 397}, {110, 67}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = channels, .depth = Depth::f32};
        problem.chain = {resize};
        const std::vector<Entry> entries = ways_of(device, problem, "enlarge");
        ASSERT_EQ(entries.size(), 3u);
        const Entry& entry = entries[seen++ % 3];
        SCOPED_TRACE(device.id() + " " + entry.candidate.name() + " " + to_string(problem.chain.front()) + " " +
                     problem.input.text());
        ASSERT_EQ(entry.candidate.refusal, "");
        EXPECT_LE(error_of(device, problem, entry), test::allowed_error(problem));
        EXPECT_LE(error_of(device, problem, entry, true), test::allowed_error(problem));
      }
    }
  }
}

}  // namespace
}  // namespace ridge::image

// Compares the variance with double precision on every device that compiles kernels: every method, depth, border and
// window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "image/text.hpp"
#include "image/variance/device/design.hpp"
#include "support/devices.hpp"
#include "support/worst.hpp"

namespace ridge::image::on_device {
namespace {

class DeviceVariances : public test::NeedsAccelerator<> {
 protected:
  static void SetUpTestSuite() { test::compile_quickly(); }
  const std::vector<Device> all = test::accelerators();
};

template <class T>
Image noise(std::size_t rows, std::size_t columns, double least, double most) {
  Image image({.rows = rows, .columns = columns, .depth = depth_of<T>()});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(least, most);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) image.row<T>(r)[c] = static_cast<T>(any(random));
  }
  return image;
}

double pixel(const Image& image, std::size_t r, std::size_t c) {
  switch (image.depth()) {
    case Depth::u8:
      return image.row<std::uint8_t>(r)[c];
    case Depth::u16:
      return image.row<std::uint16_t>(r)[c];
    default:
      return double{image.row<float>(r)[c]};
  }
}

std::vector<double> reference(const Image& image, const VarianceProblem& problem) {
  std::vector<double> out;
  const auto rows = static_cast<std::ptrdiff_t>(image.rows()), columns = static_cast<std::ptrdiff_t>(image.columns());
  const auto high = static_cast<std::ptrdiff_t>(problem.window_rows),
             wide = static_cast<std::ptrdiff_t>(problem.window_columns);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      std::vector<double> cells;
      double mean = 0, squares = 0;
      for (std::ptrdiff_t i = 0; i < high; ++i) {
        for (std::ptrdiff_t j = 0; j < wide; ++j) {
          const auto y = border_index(problem.border, r + i - high / 2, rows);
          const auto x = border_index(problem.border, c + j - wide / 2, columns);
          cells.push_back(y < 0 || x < 0 ? problem.constant
                                         : pixel(image, static_cast<std::size_t>(y), static_cast<std::size_t>(x)));
          mean += cells.back();
        }
      }
      mean /= static_cast<double>(cells.size());
      for (const double x : cells) squares += (x - mean) * (x - mean);
      out.push_back(squares / static_cast<double>(cells.size()));
    }
  }
  return out;
}

// The largest error, relative to the largest variance of the image.
double error(const Device& device, const Image& image, const VarianceProblem& problem, const VarianceDesign& design) {
  const DeviceVariance variant(device, problem, design);
  Image out({.rows = image.rows(), .columns = image.columns(), .depth = Depth::f32});
  variant.run(std::span(&image, 1), out);
  const std::vector<double> right = reference(image, problem);
  test::Worst worst, largest;
  for (std::size_t i = 0; i < right.size(); ++i) {
    worst.add(std::abs(double{out.row<float>(i / image.columns())[i % image.columns()]} - right[i]));
    largest.add(right[i]);
  }
  return worst.value() / std::max(largest.value(), 1e-30);
}

VarianceProblem problem_of(const Image& image, VarianceMethod method, std::size_t window_rows,
                           std::size_t window_columns, Border border = Border::reflect_101) {
  return {.rows = image.rows(),
          .columns = image.columns(),
          .depth = image.depth(),
          .method = method,
          .window_rows = window_rows,
          .window_columns = window_columns,
          .border = border,
          .constant = 7};
}

constexpr VarianceMethod kMethods[] = {VarianceMethod::two_pass, VarianceMethod::koenig,     VarianceMethod::online,
                                       VarianceMethod::pairwise, VarianceMethod::three_wise, VarianceMethod::exact};

TEST_F(DeviceVariances, ThePlainKernelHasEveryMethodAndDepth) {
  const Image images[] = {noise<std::uint8_t>(13, 37, 0, 255), noise<std::uint16_t>(13, 37, 0, 65535),
                          noise<float>(13, 37, -1, 1)};
  for (const Device& device : all) {
    for (const Image& image : images) {
      for (const VarianceMethod method : kMethods) {
        if (method == VarianceMethod::exact && image.depth() == Depth::f32) continue;
        SCOPED_TRACE(device.id() + " " + to_string(image.depth()) + " " + kVarianceMethods.name(method));
        EXPECT_LT(error(device, image, problem_of(image, method, 5, 9), {}), 2e-6);
      }
    }
  }
}

TEST_F(DeviceVariances, RunningSumsHaveEveryWindowAndBorder) {
  const Image image = noise<std::uint8_t>(41, 83, 0, 255);
  for (const Device& device : all) {
    for (const auto& [rows, columns] :
         {std::pair{1u, 1u}, std::pair{1u, 2u}, std::pair{2u, 3u}, std::pair{3u, 4u}, std::pair{5u, 6u},
          std::pair{27u, 7u}, std::pair{8u, 27u}, std::pair{60u, 100u}}) {
      SCOPED_TRACE(testing::Message() << device.id() << " " << rows << " x " << columns);
      const VarianceProblem problem = problem_of(image, VarianceMethod::exact, rows, columns);
      EXPECT_LT(error(device, image, problem, {.kernel = VarianceKernel::exact, .chunk = 16}), 2e-7);
    }
    for (const Border border : {Border::reflect, Border::replicate, Border::constant, Border::wrap}) {
      SCOPED_TRACE(device.id() + " " + to_string(border));
      const VarianceProblem problem = problem_of(image, VarianceMethod::exact, 9, 11, border);
      EXPECT_LT(error(device, image, problem, {.kernel = VarianceKernel::exact}), 2e-7);
      EXPECT_LT(error(device, image, problem, {}), 2e-7);
    }
  }
}

// Wider than a group, with an odd number of columns whose packed rows are not aligned.
TEST_F(DeviceVariances, SeveralGroupsAcrossAndRowsOfAnyPitch) {
  const Image image = noise<std::uint8_t>(11, 1013, 0, 255);
  for (const Device& device : all) {
    const VarianceProblem problem = problem_of(image, VarianceMethod::exact, 3, 27);
    EXPECT_LT(error(device, image, problem, {.kernel = VarianceKernel::exact}), 2e-7) << device.id();
    const DeviceVariance variant(device, problem, {.kernel = VarianceKernel::exact});
    Queue queue = device.queue();
    const Buffer bytes = device.buffer(11 * 1013 + 3), results = device.buffer(4 * (11 * 1017 + 1));
    const Image packed = Image::of(bytes, image.shape(), 1013, 3);
    const Image out = Image::of(results, {.rows = 11, .columns = 1013, .depth = Depth::f32}, 4 * 1017, 4);
    upload(queue, image, packed);
    variant.enqueue(queue, std::span(&packed, 1), out);
    Image back(out.shape());
    download(queue, out, back);
    queue.finish();
    const std::vector<double> right = reference(image, problem);
    test::Worst worst;
    for (std::size_t i = 0; i < right.size(); ++i) {
      worst.add(std::abs(double{back.row<float>(i / 1013)[i % 1013]} - right[i]) / 1e4);
    }
    EXPECT_LT(worst.value(), 1e-6);
  }
}

TEST_F(DeviceVariances, ThreeWiseWindowsOf9And27) {
  const Image image = noise<std::uint8_t>(47, 300, 0, 255);
  for (const Device& device : all) {
    for (const auto& [rows, columns] :
         {std::pair{27u, 27u}, std::pair{9u, 27u}, std::pair{27u, 9u}, std::pair{9u, 9u}}) {
      for (const int together : {3, 6}) {
        if ((together == 6) != (columns == 9)) continue;  // each value once
        SCOPED_TRACE(testing::Message() << device.id() << " " << rows << " x " << columns << " together " << together);
        const VarianceProblem problem = problem_of(image, VarianceMethod::three_wise, rows, columns);
        EXPECT_LT(
            error(device, image, problem, {.kernel = VarianceKernel::three_wise, .chunk = 20, .together = together}),
            1e-6);
      }
    }
  }
}

// Sums down the columns: both methods, windows that end on every column of a group of four, borders, unaligned rows.
TEST_F(DeviceVariances, SumsOfColumns) {
  const Image image = noise<std::uint8_t>(41, 300, 0, 255);
  struct Case {
    VarianceMethod method;
    std::size_t rows, columns;
    Border border;
    int together, items;
  };
  // Few cases, because PoCL takes a second per kernel; a GPU runs all of them with RIDGE_SLOW=1.
  std::vector<Case> cases{{VarianceMethod::exact, 27, 27, Border::reflect_101, 1, 64},
                          {VarianceMethod::exact, 8, 6, Border::constant, 2, 128},
                          {VarianceMethod::three_wise, 27, 27, Border::reflect_101, 1, 64}};
  if (std::getenv("RIDGE_SLOW") != nullptr) {
    cases.insert(cases.end(), {{VarianceMethod::exact, 31, 33, Border::wrap, 2, 64},
                               {VarianceMethod::exact, 1, 1, Border::reflect, 1, 64},
                               {VarianceMethod::three_wise, 27, 27, Border::replicate, 2, 128},
                               {VarianceMethod::three_wise, 5, 9, Border::constant, 1, 128}});
  }
  for (const Device& device : all) {
    for (const Case& one : cases) {
      SCOPED_TRACE(testing::Message() << device.id() << " " << kVarianceMethods.name(one.method) << " " << one.rows
                                      << " x " << one.columns << " " << to_string(one.border));
      const VarianceProblem problem = problem_of(image, one.method, one.rows, one.columns, one.border);
      const VarianceDesign design{
          .kernel = VarianceKernel::columns, .chunk = 15, .together = one.together, .items = one.items};
      ASSERT_EQ(candidate_of(device, problem, design).refusal, "");
      EXPECT_LT(error(device, image, problem, design), one.method == VarianceMethod::exact ? 2e-7 : 1e-6);
    }
    const VarianceDesign design{.kernel = VarianceKernel::columns, .together = 1, .items = 64};
    const Image odd = noise<std::uint8_t>(30, 263, 250, 255);  // little variance about a large mean
    EXPECT_LT(error(device, odd, problem_of(odd, VarianceMethod::exact, 27, 27), design), 5e-7) << device.id();
    Image flat({.rows = 30, .columns = 70});
    for (std::size_t r = 0; r < 30; ++r) std::fill_n(flat.row<std::uint8_t>(r), 70, std::uint8_t{251});
    EXPECT_EQ(error(device, flat, problem_of(flat, VarianceMethod::exact, 27, 27), design), 0);
    const Image tiny = noise<std::uint8_t>(1, 7, 0, 255);
    EXPECT_LT(error(device, tiny, problem_of(tiny, VarianceMethod::exact, 27, 27), design), 1e-6);
  }
}

// Wide enough for several strips of 512 columns, some of them away from the image's sides.
TEST_F(DeviceVariances, NeighboursFromRegisters) {
  const Image image = noise<std::uint8_t>(44, 1000, 0, 255);
  struct Case {
    std::size_t rows, columns;
    Border border;
  };
  std::vector<Case> cases{{9, 27, Border::reflect_101}, {4, 6, Border::constant}};
  if (std::getenv("RIDGE_SLOW") != nullptr)
    cases.insert(cases.end(), {{31, 33, Border::wrap}, {1, 1, Border::reflect}, {27, 27, Border::replicate}});
  for (const Device& device : all) {
    for (const Case& one : cases) {
      SCOPED_TRACE(testing::Message() << device.id() << " " << one.rows << " x " << one.columns);
      const VarianceProblem problem = problem_of(image, VarianceMethod::exact, one.rows, one.columns, one.border);
      const VarianceDesign design{.kernel = VarianceKernel::lanes, .chunk = 15};
      ASSERT_EQ(candidate_of(device, problem, design).refusal, "");
      EXPECT_LT(error(device, image, problem, design), 2e-7);
    }
    const VarianceDesign design{.kernel = VarianceKernel::lanes};
    Image flat({.rows = 30, .columns = 70});
    for (std::size_t r = 0; r < 30; ++r) std::fill_n(flat.row<std::uint8_t>(r), 70, std::uint8_t{251});
    EXPECT_EQ(error(device, flat, problem_of(flat, VarianceMethod::exact, 9, 27), design), 0);
    const Image tiny = noise<std::uint8_t>(1, 7, 250, 255);
    EXPECT_LT(error(device, tiny, problem_of(tiny, VarianceMethod::exact, 9, 27), design), 1e-6);
  }
}

TEST_F(DeviceVariances, FlatImagesHaveZeroAndTinyOnesFiniteVariance) {
  for (const Device& device : all) {
    Image flat({.rows = 30, .columns = 70});
    for (std::size_t r = 0; r < 30; ++r) std::fill_n(flat.row<std::uint8_t>(r), 70, std::uint8_t{251});
    EXPECT_EQ(error(device, flat, problem_of(flat, VarianceMethod::exact, 27, 27), {.kernel = VarianceKernel::exact}),
              0);
    for (const auto& [rows, columns] : {std::pair{1u, 1u}, std::pair{1u, 7u}, std::pair{7u, 1u}}) {
      const Image tiny = noise<std::uint8_t>(rows, columns, 0, 255);
      EXPECT_LT(error(device, tiny, problem_of(tiny, VarianceMethod::exact, 27, 27), {.kernel = VarianceKernel::exact}),
                1e-6);
    }
  }
}

TEST_F(DeviceVariances, RefusalsAreInWords) {
  const Image image = noise<std::uint16_t>(5, 5, 0, 9);
  const auto refusal = [&](const VarianceProblem& problem, VarianceKernel kernel) {
    return candidate_of(all.front(), problem, {.kernel = kernel}).refusal;
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal(problem_of(image, VarianceMethod::exact, 3, 3), VarianceKernel::exact), HasSubstr("8-bit"));
  VarianceProblem bytes = problem_of(image, VarianceMethod::exact, 300, 3);
  bytes.depth = Depth::u8;
  EXPECT_THAT(refusal(bytes, VarianceKernel::exact), HasSubstr("257 rows"));
  bytes.window_rows = 3;
  bytes.window_columns = 450;
  EXPECT_THAT(refusal(bytes, VarianceKernel::exact), HasSubstr("wider"));
  bytes.method = VarianceMethod::three_wise;
  EXPECT_THAT(refusal(bytes, VarianceKernel::three_wise), HasSubstr("9 or 27"));
  EXPECT_EQ(refusal(bytes, VarianceKernel::plain), "");
}

}  // namespace
}  // namespace ridge::image::on_device

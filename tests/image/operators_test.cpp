// Tests of every operator on the host against the reference in double, over depths, channels, borders and sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "image/operators/convolve/terms.hpp"
#include "image/operators/reference.hpp"
#include "image/operators/resize/taps.hpp"
#include "image/operators_support.hpp"
#include "image/variant.hpp"
#include "support/comma_locale.hpp"

namespace ridge::image {
namespace {

using test::all_operators;
using test::random_image;

// Copies the image to `memory` with an odd pitch.
Image with_odd_pitch(const Image& image, std::vector<std::byte>& memory) {
  const std::size_t row = image.shape().row_bytes(), pitch = row + bytes_of(image.depth()) * 3;
  memory.resize(image.rows() * pitch);
  for (std::size_t r = 0; r < image.rows(); ++r) std::memcpy(memory.data() + r * pitch, image.row<std::byte>(r), row);
  return Image::view(static_cast<const void*>(memory.data()), image.shape(), pitch);
}

// Largest error of all variants: in levels for integer depths, in units of values up to 256 for float.
double worst_error(const OperatorProblem& problem) {
  std::vector<std::byte> memory;
  const Image in = with_odd_pitch(random_image(problem.input, 1), memory), guide = random_image(problem.input, 2);
  const Plain expected = reference(problem, plain_of(in), plain_of(guide));
  double worst = 0;
  for (const Entry& entry : list_variants(host(), problem)) {
    if (!entry.candidate.refusal.empty()) continue;
    Image out(output_shape(problem));
    std::memset(out.bytes(), 0xff, out.span_bytes());
    const Image both[2] = {in, guide};
    entry.build()->run(std::span(both, inputs(problem)), out);
    worst = test::worse(worst, test::worst_difference(out, expected));
  }
  return worst;
}

TEST(Operators, every_operator_depth_and_size) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 19}, {23, 1}, {2, 3}, {31, 45}}) {
    for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
      for (const std::size_t channels : {1, 3}) {
        for (const Operation& operation : all_operators()) {
          OperatorProblem problem;
          problem.input = {rows, columns, channels, depth};
          problem.chain = {operation};
          problem.threads = 2;
          // Half a level of rounding, plus the error of float sums of values up to 65535.
          const double allowed = depth == Depth::f32 ? 2e-3 : depth == Depth::u16 ? 0.55 : 0.501;
          EXPECT_LE(worst_error(problem), std::holds_alternative<Pyramid>(operation) ? 2 * allowed : allowed)
              << to_string(operation) << " of " << problem.input.text();
        }
      }
    }
  }
}

TEST(Operators, one_channel_and_color_operators) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const GradientKind kind : {GradientKind::sobel, GradientKind::scharr, GradientKind::central}) {
      OperatorProblem problem;
      problem.input = {20, 33, 1, depth};
      problem.chain = {Gradient{kind}};
      EXPECT_LE(worst_error(problem), depth == Depth::u16 ? 0.02 : 1e-3);
      problem.chain = {Gradient{kind, Like::opencv}};
      EXPECT_LE(worst_error(problem), depth == Depth::u16 ? 0.5 : 2e-2);
    }
    for (const std::size_t channels : {3, 4}) {
      OperatorProblem problem;
      problem.input = {20, 33, channels, depth};
      problem.chain = {Gray{}};
      EXPECT_LE(worst_error(problem), depth == Depth::f32 ? 1e-3 : 0.51);
    }
  }
}

// Adjacent tiles, even window sizes and windows larger than the image, for every border, depth and number of channels.
TEST(Operators, large_kernels_by_transforms) {
  const std::pair<std::size_t, std::size_t> sizes[] = {{97, 131}, {20, 70}, {64, 15}};
  std::size_t round = 0;
  for (const Operation& kernel :
       {Operation(test::large_kernel(23, 31)), Operation(test::large_kernel(40, 18)), Operation(Gauss{9, 60})}) {
    for (std::size_t border = 0; border < 5; ++border, ++round) {
      const auto& [rows, columns] = sizes[round % 3];
      OperatorProblem problem;
      problem.input = {rows, columns, 1 + round % 4, std::array{Depth::u8, Depth::u16, Depth::f32}[round / 2 % 3]};
      problem.chain = {kernel};
      problem.border = static_cast<Border>(border);
      problem.constant = 37.5;
      problem.threads = 2;
      const auto all = candidates(host(), problem);
      const bool transforms = std::any_of(all.begin(), all.end(), [](const planner::Candidate& candidate) {
        return candidate.variant == "fft" && candidate.refusal.empty();
      });
      EXPECT_TRUE(transforms || std::holds_alternative<Gauss>(kernel)) << problem.input.text();
      // The error of a transform scales with the largest value: at most 0.05 more for 16-bit values.
      const double more = problem.input.depth == Depth::u16 ? 0.05 : 0;
      EXPECT_LE(worst_error(problem), test::allowed_error(problem) + more)
          << problem.input.text() << " " << to_string(*problem.border);
    }
  }
}

// Weights with a sum of thousands: leftovers of one tile must not affect the next.
TEST(Operators, transforms_of_large_weights) {
  OperatorProblem problem;
  problem.input = {130, 700, 1, Depth::f32};
  Convolve kernel = test::large_kernel(23, 31);
  for (float& weight : kernel.kernel) weight *= 4096;
  problem.chain = {kernel};
  problem.threads = 1;
  EXPECT_LE(worst_error(problem), 4096 * test::allowed_error(problem));
}

// Few weights are not worth a transform, and explain() gives the reason; chains use transforms only if they pay off.
TEST(Operators, transforms_only_where_they_pay) {
  OperatorProblem problem;
  problem.input = {256, 256, 1, Depth::u8};
  problem.chain = {test::large_kernel(3, 5)};
  for (const planner::Candidate& candidate : candidates(host(), problem)) {
    if (candidate.variant == "fft") {
      EXPECT_NE(candidate.refusal.find("operations per pixel"), std::string::npos);
    }
  }
  problem.chain = {test::large_kernel(61, 61)};
  const OperatorPlan plan(host(), problem, {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
  EXPECT_NE(plan.explain().find("variant    fft"), std::string::npos) << plan.explain();
  EXPECT_LT(plan.explain().size(), 3000u);  // not the weights
  problem.input = {90, 80, 3, Depth::u8};
  problem.chain = {test::large_kernel(31, 33), Median{1}};
  EXPECT_LE(worst_error(problem), 1.01);
}

// Kernels of rank one and two run as separable filters, others directly: all give the same results at any size and
// pitch.
TEST(Operators, kernels_of_small_rank) {
  for (const std::size_t rank : {1, 2, 3}) {
    Convolve kernel{9, 12, std::vector<float>(108)};
    for (std::size_t r = 0; r < 9; ++r) {
      for (std::size_t c = 0; c < 12; ++c) {
        const double y = static_cast<double>(r), x = static_cast<double>(c);
        double weight = 0.01 * (y + 1) * (x - 3.5);
        if (rank > 1) weight += 0.02 * std::sin(y) * std::cos(x);
        if (rank > 2) weight += r == c ? 0.1 : 0;
        kernel.kernel[r * 12 + c] = static_cast<float>(0.1 * weight);
      }
    }
    const auto terms = separable_terms(kernel, 4);
    if (rank < 3) {
      EXPECT_EQ(terms.size(), rank);
    }
    for (std::size_t i = 0; i < kernel.kernel.size() && !terms.empty(); ++i) {
      double sum = 0;
      for (const SeparableTerm& term : terms) sum += term.down[i / 12] * term.across[i % 12];
      ASSERT_NEAR(sum, double{kernel.kernel[i]}, 1e-8) << "rank " << rank << " weight " << i;
    }
    OperatorProblem problem;
    problem.input = {37, 53, 3, Depth::f32};
    problem.chain = {kernel};
    problem.border = static_cast<Border>(rank);
    problem.constant = 9;
    EXPECT_LE(worst_error(problem), 2e-3) << "rank " << rank;
  }
}

// Rows longer and shorter than vectors, thin images, four channels: every code path that depends on the size.
TEST(Operators, sizes_around_vectors) {
  for (const std::size_t columns : {7, 15, 16, 17, 33, 63, 129, 500}) {
    for (const char* text : {"gauss 1 2", "pyramid 1", "resize 1.6", "resize 0.5 bicubic", "resize 0.5", "gradient",
                             "resize 0.7 nearest", "transpose", "rotate 90"}) {
      for (const Depth depth : {Depth::u8, Depth::f32}) {
        OperatorProblem problem;
        const std::size_t channels = std::string(text) == "gradient" ? 1 : columns % 3 == 0 ? 4 : 3;
        problem.input = {9 + columns % 5, columns, channels, depth};
        problem.chain = parse_chain(text);
        EXPECT_LE(worst_error(problem), depth == Depth::f32 ? 2e-3 : 0.501) << text << " " << problem.input.text();
      }
    }
  }
}

// 3x3 medians of rows that end just before, at and just after a strip of sorted columns, with every border.
TEST(Operators, medians_in_strips) {
  std::size_t at = 0;
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const std::size_t channels : {1, 2, 3, 4}) {
      const std::size_t strip = 4096 / bytes_of(depth) / channels;
      for (const std::size_t columns : {strip - 1, strip, strip + 1, strip + 6, 2 * strip + 3}) {
        OperatorProblem problem;
        problem.input = {3, columns, channels, depth};
        problem.chain = {Median{.radius = 1}};
        problem.border = static_cast<Border>(at++ % 5);
        problem.constant = 77;
        EXPECT_EQ(worst_error(problem), 0) << problem.input.text() << " " << to_string(*problem.border);
      }
    }
  }
}

// Float images large enough for transposition by tiles and non-temporal stores (x86), with incomplete tiles at the
// ends.
TEST(Operators, large_transposes) {
  for (const char* text : {"transpose", "rotate 90"}) {
    for (const std::size_t channels : {1, 2}) {
      OperatorProblem problem;
      problem.input = {1471 / channels, 1391, channels, Depth::f32};
      problem.chain = parse_chain(text);
      problem.threads = 3;
      EXPECT_EQ(worst_error(problem), 0) << text << " " << problem.input.text();
    }
  }
}

// Output pixel i of n is source pixel i * m / n of m in integer arithmetic: exact quotients must not be rounded down.
TEST(Operators, nearest_pixel_is_exact) {
  for (std::size_t from = 1; from < 60; ++from) {
    for (std::size_t to = 1; to < 400; ++to) {
      const std::vector<ResizeTap> taps =
          resize_taps({.rows = 1, .columns = to, .interpolation = Interpolation::nearest}, {1, from}).across;
      for (std::size_t i = 0; i < to; ++i)
        ASSERT_EQ(taps[i].from, static_cast<std::ptrdiff_t>(i * from / to)) << i << ": " << from << " to " << to;
    }
  }
}

// The error for a kernel that is too large contains its size, not all its weights.
TEST(Operators, refusals_are_a_line) {
  try {
    output_shape(Convolve{300, 300, std::vector<float>(90000, 0.5f)}, {10, 10});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("255"), std::string::npos) << error.what();
    EXPECT_LT(std::string(error.what()).size(), 200u);
  }
}

// Integral images for every number of channels; vectors do not hold a whole number of all of them.
TEST(Operators, sums_of_channels) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    for (const std::size_t channels : {1, 2, 3, 4}) {
      for (const std::size_t columns : {5, 16, 41, 200}) {
        OperatorProblem problem;
        problem.input = {20, columns, channels, depth};
        problem.chain = {Integral{}};
        problem.threads = 2;
        EXPECT_LE(worst_error(problem), depth == Depth::u8 ? 0 : 1e-6) << problem.input.text();
      }
    }
  }
}

TEST(Operators, images_that_grow) {
  for (const double scale : {1.1, 1.6, 2.0, 3.7}) {
    for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic, Interpolation::area}) {
      for (const std::size_t channels : {1, 2, 3, 4}) {
        OperatorProblem problem;
        problem.input = {13, channels == 3 ? 300u : 71u, channels, scale < 1.5 ? Depth::u16 : Depth::u8};
        problem.chain = {Resize{.scale = scale, .interpolation = interpolation}};
        problem.threads = 2;
        EXPECT_LE(worst_error(problem), test::allowed_error(problem))
            << to_string(problem.chain[0]) << " of " << problem.input.text();
      }
    }
  }
}

// Large results use non-temporal stores on some processors; some of their rows are compared.
TEST(Operators, large_results) {
  struct Large {
    Shape input;
    const char* text;
  };
  for (const Large& large :
       {Large{{1200, 2005, 1, Depth::f32}, "gauss 1 2"}, Large{{1200, 2005, 1, Depth::f32}, "median 1"},
        Large{{1200, 2005, 1, Depth::u8}, "integral"}, Large{{500, 1001, 3, Depth::f32}, "integral"},
        Large{{1100, 1003, 1, Depth::u8}, "gradient"}, Large{{1100, 1003, 3, Depth::u8}, "resize 1.7"}}) {
    OperatorProblem problem;
    problem.input = large.input;
    problem.chain = parse_chain(large.text);
    problem.threads = 2;
    constexpr std::size_t kStep = 131;
    const Image in = random_image(problem.input, 1);
    const Plain expected = reference(problem, plain_of(in), {}, kStep);
    for (const Entry& entry : list_variants(host(), problem)) {
      if (!entry.candidate.refusal.empty()) continue;
      Image out(output_shape(problem));
      std::memset(out.bytes(), 0xff, out.span_bytes());
      entry.build()->run(std::span(&in, 1), out);
      const Plain got = plain_of(out);
      const std::size_t wide = out.columns() * out.channels();
      double worst = 0;
      for (std::size_t i = 0; i < got.values.size(); ++i) {
        if (is_sampled(i / wide, out.rows(), kStep))
          worst = test::worse(worst, std::abs(got.values[i] - expected.values[i]));
      }
      EXPECT_LE(worst, test::allowed_error(problem)) << large.text << " by " << entry.candidate.variant;
    }
  }
}

TEST(Operators, borders) {
  for (const Border border :
       {Border::reflect_101, Border::reflect, Border::replicate, Border::constant, Border::wrap}) {
    for (const Operation& operation :
         std::vector<Operation>{Gauss{3}, Median{2}, Bilateral{4, 3, 40}, Pyramid{1}, Rotate{25}, Box{9, 2}}) {
      OperatorProblem problem;
      problem.input = {6, 5, 3, Depth::u8};  // smaller than the windows
      problem.chain = {operation};
      problem.border = border;
      problem.constant = 77;
      EXPECT_LE(worst_error(problem), 0.501) << to_string(operation) << " " << to_string(border);
    }
  }
}

TEST(Operators, chains_give_what_their_operators_give_one_by_one) {
  for (const char* text :
       {"gauss 2 | resize 0.5 | gray", "median 1 | transpose | box 3 | rotate 90", "gray | gradient",
        "bilateral 2 2 30 | pyramid 2 | gauss 1 | gray", "cross-bilateral 2 2 30 | gray | integral"}) {
    OperatorProblem problem;
    problem.input = {50, 61, 3, Depth::u8};
    problem.chain = parse_chain(text);
    problem.threads = 3;
    const std::vector<Entry> entries = list_variants(host(), problem);
    ASSERT_EQ(entries.size(), 2u);
    const Image both[2] = {random_image(problem.input, 1), random_image(problem.input, 2)};
    Image fused(output_shape(problem)), apart(output_shape(problem));
    entries[0].build()->run(std::span(both, inputs(problem)), fused);
    entries[1].build()->run(std::span(both, inputs(problem)), apart);
    for (std::size_t r = 0; r < fused.rows(); ++r) {
      ASSERT_EQ(std::memcmp(fused.row<std::byte>(r), apart.row<std::byte>(r), fused.shape().row_bytes()), 0)
          << text << " row " << r;
    }
  }
}

TEST(Operators, chains_are_read_as_they_are_written) {
  for (const char* text : {"gauss 2",
                           "gauss 2 5",
                           "box 3 3",
                           "median 2",
                           "bilateral 4 3 25",
                           "resize 0.5 bilinear",
                           "bilateral 4 3 25 opencv",
                           "cross-bilateral 4 3 25 opencv",
                           "resize 0.37 nearest opencv",
                           "gradient central opencv",
                           "rotate 30 nearest opencv",
                           "resize 640x480 area",
                           "integral",
                           "pyramid 3",
                           "gradient scharr",
                           "transpose",
                           "rotate 30 bicubic",
                           "gray",
                           "separable 1,2,1 0.5,0.5",
                           "convolve 2x2 1,0,0,-1"}) {
    EXPECT_EQ(to_string(parse_chain(text).front()), text);
  }
  const auto message = [](const std::string& text) {
    try {
      parse_chain(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("blur 3").find("no operator \"blur\""), std::string::npos);
  EXPECT_NE(message("resize 640").find("as in 640x480"), std::string::npos) << message("resize 640");
  EXPECT_EQ(to_string(parse_chain("resize 64").front()), "resize 64 bilinear");
  EXPECT_NE(message("gauss").find("gauss SIGMA"), std::string::npos);
  EXPECT_NE(message("gauss two").find("is not a number"), std::string::npos);
  EXPECT_NE(message("gray | ").find("missing"), std::string::npos);
  EXPECT_NE(message("gray 3").find("too many"), std::string::npos);
  for (const char* text : {"resize -1", "resize -5x7", "resize 0x5", "resize 7x", "resize x7", "resize 7x7x7",
                           "resize nan", "convolve -3x3 1", "convolve 0x1 1"})
    EXPECT_NE(message(text).find("size \""), std::string::npos) << text << ": " << message(text);
}

TEST(Operators, chains_are_the_same_in_every_locale) {
  const test::CommaLocale locale;
  if (!locale) GTEST_SKIP() << "no locale with a decimal comma";
  for (const char* text : {"gauss 1.5", "resize 0.37", "bilateral 4 3.5 25", "separable 1,2,1 0.5,0.5"}) {
    const std::vector<Operation> chain = parse_chain(text);
    ASSERT_EQ(chain.size(), 1u);
    EXPECT_TRUE(to_string(chain[0]).starts_with(text)) << to_string(chain[0]);
  }
}

TEST(Operators, what_cannot_be_is_refused) {
  const auto refused = [](const Shape& shape, const Operation& operation) {
    try {
      output_shape(operation, shape);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::invalid_argument;
    }
    return false;
  };
  const Shape grey{10, 10, 1, Depth::u8}, color{10, 10, 3, Depth::u8};
  EXPECT_TRUE(refused(grey, Gray{}));
  EXPECT_TRUE(refused(color, Gradient{}));
  EXPECT_TRUE(refused(grey, Gauss{0}));
  EXPECT_TRUE(refused(grey, Gauss{NAN}));
  EXPECT_TRUE(refused(grey, Convolve{3, 3, {1}}));
  EXPECT_TRUE(refused(grey, Resize{}));
  EXPECT_TRUE(refused(grey, Bilateral{2, 0, 1}));
  EXPECT_TRUE(refused(grey, Rotate{10, Interpolation::area}));
  EXPECT_TRUE(refused({10, 10, 1, Depth::f64}, Box{}));
  OperatorProblem chain;
  chain.input = color;
  EXPECT_THROW(output_shape(chain), Error);
  chain.chain = {Resize{.scale = 2}, CrossBilateral{}};
  EXPECT_THROW(output_shape(chain), Error);
  chain.chain = {Box{}};
  chain.constant = NAN;
  EXPECT_THROW(output_shape(chain), Error);  // integers cannot represent NaN
  chain.input.depth = Depth::f32;
  EXPECT_NO_THROW(output_shape(chain));
}

TEST(Operators, verified_plans) {
  OperatorProblem problem;
  problem.input = {40, 50, 3, Depth::u8};
  problem.chain = parse_chain("gauss 1.5 | gray");
  const OperatorPlan plan(host(), problem, {.use_wisdom = false, .save_wisdom = false, .verify = true});
  EXPECT_NE(plan.explain().find("rows"), std::string::npos);
  Image out(output_shape(problem)), in = random_image(problem.input, 4);
  plan.run(in, out);
  EXPECT_THROW(plan.run(in, in, out), Error);
}

}  // namespace
}  // namespace ridge::image

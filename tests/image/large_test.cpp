// Tests of images with more than 2^31 bytes, which need 64-bit offsets. They take gigabytes and seconds: RIDGE_SLOW=1.
#include <gtest/gtest.h>

#include <cstdlib>

#include <ridge/image.hpp>

namespace ridge::image {
namespace {

constexpr std::size_t kSide = 32768;

std::uint8_t pixel(std::size_t r, std::size_t c) {
  return static_cast<std::uint8_t>((r * 7 + c * 13 + (r * c >> 9)) % 251);
}

TEST(LargeImages, OperatorsReachTheLastPixel) {
  if (std::getenv("RIDGE_SLOW") == nullptr) GTEST_SKIP() << "gigabytes; RIDGE_SLOW=1 runs it";
  Image in({kSide, kSide, 1, Depth::u8});
  for (std::size_t r = 0; r < kSide; ++r) {
    for (std::size_t c = 0; c < kSide; ++c) in.row<std::uint8_t>(r)[c] = pixel(r, c);
  }
  const auto done = [&](const char* text) {
    OperatorProblem problem;
    problem.input = in.shape();
    problem.chain = parse_chain(text);
    const OperatorPlan plan(host(), problem, {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
    Image out(output_shape(problem));
    plan.run(in, out);
    return out;
  };
  const Image transposed = done("transpose");
  for (std::size_t r = 0; r < kSide; r += 4099) {
    for (std::size_t c = r % 3; c < kSide; c += 997) ASSERT_EQ(transposed.row<std::uint8_t>(r)[c], pixel(c, r));
  }
  EXPECT_EQ(transposed.row<std::uint8_t>(kSide - 1)[kSide - 2], pixel(kSide - 2, kSide - 1));
  const Image smooth = done("box 3");
  for (std::size_t r = kSide - 3; r + 1 < kSide; ++r) {
    for (std::size_t c = kSide - 40; c + 1 < kSide; ++c) {
      int sum = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) sum += pixel(r + i - 1, c + j - 1);
      }
      ASSERT_NEAR(smooth.row<std::uint8_t>(r)[c], sum / 9.0, 0.501) << r << " " << c;
    }
  }
}

}  // namespace
}  // namespace ridge::image

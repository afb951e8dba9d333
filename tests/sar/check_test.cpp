// Tests the limit of `ridge check sar`: 2e-5 of the image's root mean square at every pixel. The number is repeated
// here, so that a looser limit fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <ridge/sar.hpp>

#include "check/check.hpp"

namespace ridge::sar {
namespace {

// Verdict for one problem with one pixel of the result off by `share` of the root mean square.
std::string wrong(std::uint64_t seed, double share, bool imaginary) {
  check::Draw draw{host(), check::Random(seed), 2000};
  draw.tamper = [&](std::span<std::byte> answer) {
    std::vector<Complex> image(answer.size() / sizeof(Complex));
    std::memcpy(image.data(), answer.data(), answer.size());
    double square = 0;
    for (const Complex& value : image) square += std::norm(std::complex<double>(value));
    const auto off = static_cast<float>(share * std::sqrt(square / static_cast<double>(image.size())));
    image[image.size() / 3] += imaginary ? Complex(0, off) : Complex(off, 0);
    std::memcpy(answer.data(), image.data(), answer.size());
  };
  return check::check_sar(draw).wrong;
}

TEST(SarCheck, NoticesTenTimesTheAllowedError) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    EXPECT_EQ(wrong(seed, 0, false), "") << seed;
    EXPECT_NE(wrong(seed, 2e-4, false), "") << seed;
    EXPECT_NE(wrong(seed, 2e-4, true), "") << seed;
    EXPECT_NE(wrong(seed, std::nan(""), false), "") << seed;
  }
}

}  // namespace
}  // namespace ridge::sar

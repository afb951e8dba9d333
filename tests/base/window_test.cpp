// Values of window functions.
#include "base/window.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ridge::base {
namespace {

TEST(Window, WindowsAreEvenHighestInTheMiddleAndZeroOutside) {
  for (const Window window :
       {Window::none, Window::hamming, Window::blackman, Window::kaiser, Window::gaussian, Window::taylor}) {
    const double middle = window_at(window, 0);
    for (double x = 0; x <= 1; x += 0.01) {
      EXPECT_NEAR(window_at(window, x), window_at(window, -x), 1e-15);
      EXPECT_LE(window_at(window, x), middle + 1e-12);
      EXPECT_GT(window_at(window, x), -1e-12);
    }
    EXPECT_EQ(window_at(window, 1.0001), 0);
    EXPECT_EQ(window_at(window, -1.0001), 0);
  }
}

TEST(Window, KnownValues) {
  EXPECT_EQ(window_at(Window::none, 0.3), 1);
  EXPECT_NEAR(window_at(Window::hamming, 1), 0.08, 1e-15);
  EXPECT_NEAR(window_at(Window::hamming, 0), 1, 1e-15);
  EXPECT_NEAR(window_at(Window::blackman, 1), 0, 1e-15);
  EXPECT_NEAR(window_at(Window::gaussian, 0.5, 0.5), std::exp(-0.5), 1e-15);
  EXPECT_NEAR(window_at(Window::kaiser, 1, 4), 1 / 11.301921952136331, 1e-14);  // 1 / I0(4)
}

}  // namespace
}  // namespace ridge::base

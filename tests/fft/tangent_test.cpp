// Lines with tangent-form twiddles, in emulated vectors as wide as those of AVX-512: shuffles and tables are tested on
// every machine, the instructions on machines that have them (power2_test.cpp). One line of each kind: emulated code is
// large, and compiling all that AVX-512 has took 40 s.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "fft/host/power2/engine.hpp"
#include "fft/host/power2/tables.hpp"
#include "fft/reference.hpp"
#include "fft/support.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace ridge::fft {
namespace {

using namespace power2;  // NOLINT: the files of an engine are included into this namespace

#include "fft/host/power2/tangent/tangent-inl.hpp"
#include "fft/host/power2/tangent/tangent_lines-inl.hpp"

template <class T>
void expect_line(const Line<T>& line) {
  using Complex = std::complex<T>;
  const std::size_t n = line.length, count = 2, distance = n + 3;
  Engine<T> engine{};
  const LineTables<T> tables(engine, line, Roots<T>(n));
  base::AlignedArray<T> scratch(4 * n + 2 * 128);
  const auto in = reference::random_points<T>(count * distance, static_cast<unsigned>(n));
  for (const int direction : {kForward, kInverse}) {
    const Complex untouched(42, 42);
    std::vector<Complex> out(count * distance, untouched), place = in;
    line.run[direction](reinterpret_cast<const T*>(in.data()), distance, reinterpret_cast<T*>(out.data()), distance,
                        count, tables.data(), scratch.data());
    line.run[direction](reinterpret_cast<const T*>(place.data()), distance, reinterpret_cast<T*>(place.data()),
                        distance, count, tables.data(), scratch.data());
    if (line.leaf[0] != nullptr) {
      // Arranges the points as a previous pass leaves them: blocks of `lanes`, split, folded, exchanged for the
      // inverse.
      const std::size_t lanes = line.lanes;
      base::AlignedArray<T> inner(2 * n);
      for (std::size_t p = 0; p < n; ++p) {
        const std::size_t fold = p % lanes, lane = fold < lanes / 2 ? 2 * fold : 2 * (fold - lanes / 2) + 1;
        T* const block = inner.data() + 2 * (p - fold);
        block[lane] = direction == kInverse ? in[p].imag() : in[p].real();
        block[lanes + lane] = direction == kInverse ? in[p].real() : in[p].imag();
      }
      line.leaf[direction](inner.data(), n, inner.data(), n, 1, tables.data(), scratch.data());
      for (std::size_t k = 0; k < n; ++k) {
        ASSERT_EQ(Complex(inner[2 * k], inner[2 * k + 1]), out[k]) << n << " points as a leaf, point " << k;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = in.begin() + static_cast<long>(i * distance);
      const std::vector<Complex> points(from, from + static_cast<long>(n));
      const auto expected = reference::dft(points, direction == kInverse);
      EXPECT_LE(reference::relative_error(out.data() + i * distance, 1, expected), reference::error_gate<T>(n))
          << n << " points, line " << i << ", direction " << direction;
      EXPECT_EQ(out[i * distance + n], untouched) << n;
      for (std::size_t k = 0; k < n; ++k) {
        ASSERT_EQ(place[i * distance + k], out[i * distance + k]) << n << " points in place, point " << k;
      }
    }
  }
}

TEST(Tangents, FloatInVectorsOfAVX512) {
  expect_line(tangent_pairs_line<float, 16>());
  expect_line(tangent_whole<float, 8, 16, 8>());
  expect_line(tangent_line<float, 16, 16, 8, 4>());
  expect_line(tangent_square<float, 16, 16, 4, 8, 4, 2>());
  expect_line(tangent_square<float, 16, 16, 4, 4, 4, 16>());
}

TEST(Tangents, DoubleInVectorsOfAVX512) {
  expect_line(tangent_pairs_line<double, 8>());
  expect_line(tangent_whole<double, 8, 8, 8>());
  expect_line(tangent_line<double, 8, 16, 8>());
  expect_line(tangent_square<double, 8, 16, 4, 8, 4, 4>());
}

}  // namespace
}  // namespace ridge::fft

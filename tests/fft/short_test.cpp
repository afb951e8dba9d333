// Short transforms as straight-line code: single, many at any distance, in place, columns. Memory beside the results
// stays unchanged.
#include "fft/host/short/short.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using reference::dft;
using reference::random_points;
using reference::relative_error;

template <class T>
class FftShort : public testing::Test {
 public:
  static std::vector<std::unique_ptr<LineKernel<T>>> kernels() {
    std::vector<std::unique_ptr<LineKernel<T>>> all;
    for (std::size_t n = 1; n <= 200; ++n) {
      std::vector<LineChoice<T>> choices;
      list_short(n, choices);
      for (const auto& choice : choices) {
        all.push_back(choice.make());
        EXPECT_EQ(all.back()->length(), n);
        EXPECT_EQ(all.back()->describe(), choice.name);
      }
    }
    return all;
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftShort, Types);

TYPED_TEST(FftShort, LinesAloneAndMany) {
  using Complex = std::complex<TypeParam>;
  const auto kernels = this->kernels();
  if (kernels.empty()) GTEST_SKIP() << "no straight-line code for this machine";
  const Complex untouched(42, 42);
  for (const auto& kernel : kernels) {
    const std::size_t n = kernel->length();
    EXPECT_EQ(kernel->scratch(), 0u);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const bool inverse = direction == Direction::inverse;
      // Distance n on both sides has its own code path.
      for (const std::size_t gap : {0, 1, 3}) {
        const std::size_t count = 23, from = n + gap, to = n + gap / 2;
        const auto in = random_points<TypeParam>(count * from, static_cast<unsigned>(n));
        std::vector<Complex> out(count * to + 1, untouched), one(n + 2, untouched);
        kernel->run_many(direction, in.data(), from, out.data(), to, count, nullptr);
        ErrorsOfMany<TypeParam> errors(n), alone(n);
        for (std::size_t i = 0; i < count; ++i) {
          const std::vector<Complex> line(in.begin() + static_cast<long>(i * from),
                                          in.begin() + static_cast<long>(i * from + n));
          const auto expected = dft(line, inverse);
          errors.add(relative_error(out.data() + i * to, 1, expected), fmt::format("line {}", i));
          if (to > n || i + 1 == count) {
            EXPECT_EQ(out[i * to + n], untouched) << n << " line " << i;
          }
          kernel->run(direction, line.data(), one.data() + 1, nullptr);
          alone.add(relative_error(one.data() + 1, 1, expected), fmt::format("alone, line {}", i));
          auto place = line;
          kernel->run(direction, place.data(), place.data(), nullptr);
          EXPECT_TRUE(std::equal(place.begin(), place.end(), one.begin() + 1)) << n << " in place";
        }
        EXPECT_EQ(one.front(), untouched) << n;
        EXPECT_EQ(one.back(), untouched) << n;
        auto place = in;
        kernel->run_many(direction, place.data(), from, place.data(), from, count, nullptr);
        for (std::size_t i = 0; i < count; ++i) {
          for (std::size_t k = 0; k < n; ++k) {
            ASSERT_LE(std::abs(place[i * from + k] - out[i * to + k]),
                      10 * reference::error_gate<TypeParam>(n) * std::sqrt(static_cast<double>(n)));
          }
          for (std::size_t k = n; k < from; ++k) ASSERT_EQ(place[i * from + k], in[i * from + k]) << n;
        }
      }
    }
  }
}

TYPED_TEST(FftShort, Columns) {
  using Complex = std::complex<TypeParam>;
  for (const auto& kernel : this->kernels()) {
    const std::size_t n = kernel->length(), columns = 11;
    const auto in = random_points<TypeParam>(n * columns, 2);
    std::vector<Complex> out(n * columns), line(n), one(n);
    base::AlignedArray<Complex> scratch(kernel->scratch_columns());
    kernel->run_columns(Direction::inverse, in.data(), columns, out.data(), columns, columns, scratch.data());
    ErrorsOfMany<TypeParam> errors(n);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t k = 0; k < n; ++k) line[k] = in[k * columns + c];
      errors.add(relative_error(out.data() + c, columns, dft(line, true)), fmt::format("column {}", c));
    }
  }
}

}  // namespace
}  // namespace ridge::fft

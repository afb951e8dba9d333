// Tests of the programs in examples/sequential against the library's references.
#include <gtest/gtest.h>

#include <algorithm>

#include "image/flow/reference.hpp"
#include "image/support.hpp"
#include "sequential/simple_flow.hpp"
#include "sequential/variance.hpp"

namespace ridge::image {
namespace {

std::vector<float> colors_of(const flow::Picture& picture) {
  std::vector<float> out;
  for (const flow::Pixel& pixel : picture.cells) out.insert(out.end(), pixel.c, pixel.c + 3);
  return out;
}

TEST(Sequential, simple_flow_is_the_reference_in_scan_order) {
  for (const flow::Size size : {flow::Size{60, 83}, flow::Size{1, 12}, flow::Size{7, 4}}) {
    const auto [first, second] = test::moving_square(size);
    std::vector<float> u, v;
    sequential::simple_flow(colors_of(first), colors_of(second), size.rows, size.columns, {}, u, v);
    FlowParameters parameters;
    parameters.selection = Selection::scan_order;
    const flow::Field expected = flow::simple_flow(first, second, parameters);
    ASSERT_EQ(u.size(), size.cells());
    flow::Field field(size);
    for (std::size_t i = 0; i < u.size(); ++i) field.cells[i] = {u[i], v[i]};
    EXPECT_LT(test::worst_difference(field, expected), 1e-3) << size.rows << "x" << size.columns;
  }
}

TEST(Sequential, variances_are_those_of_double) {
  constexpr int kRows = 23, kColumns = 37;
  std::mt19937 random(5);
  std::vector<float> scan(kRows * kColumns);
  for (float& value : scan) value = static_cast<float>(random() % 256);
  const auto worst = [&](void (*method)(const float*, int, int, int, float*), int n) {
    const int wide = kColumns + n - 1;
    std::vector<float> padded(static_cast<std::size_t>((kRows + n - 1) * wide)), out(kRows * kColumns);
    sequential::pad_reflected(scan.data(), kRows, kColumns, n, padded.data());
    method(padded.data(), kRows, kColumns, n, out.data());
    double most = 0;
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns; ++c) {
        double sum = 0, squares = 0;
        for (int i = 0; i < n * n; ++i) {
          const double x =
              scan[static_cast<std::size_t>(border_index(Border::reflect_101, r + i / n - n / 2, kRows) * kColumns +
                                            border_index(Border::reflect_101, c + i % n - n / 2, kColumns))];
          sum += x;
          squares += x * x;
        }
        const double right = squares / (n * n) - sum / (n * n) * (sum / (n * n));  // integers: exact in double
        most =
            test::worse(most, std::abs(out[static_cast<std::size_t>(r * kColumns + c)] - right) / std::max(right, 1.0));
      }
    }
    return most;
  };
  for (const int n : {1, 3, 9, 27}) {
    EXPECT_LT(worst(sequential::variance_two_pass, n), 2e-5) << n;
    EXPECT_LT(worst(sequential::variance_koenig, n), 1e-4) << n;
    EXPECT_LT(worst(sequential::variance_online, n), 2e-5) << n;
    EXPECT_LT(worst(sequential::variance_three_wise, n), 1e-6) << n;
  }
  for (const int n : {1, 2, 8, 32}) EXPECT_LT(worst(sequential::variance_pairwise, n), 1e-6) << n;
}

}  // namespace
}  // namespace ridge::image

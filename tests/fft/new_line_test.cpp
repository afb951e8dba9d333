// Adds a host line variant as HACKING.md describes: a kernel, a lister per type, a line in the registry. Here it is
// appended after the registry's.
#include <numbers>

#include <gtest/gtest.h>

#include "fft/host/line_trials.hpp"
#include "fft/variant.hpp"
#include "support/scratch.hpp"

namespace ridge::fft {
namespace {

// The transform by definition.
template <class T>
class PlainSum final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  PlainSum(std::size_t n, std::size_t forgotten) : n_(n), forgotten_(forgotten) {}
  std::size_t length() const override { return n_; }
  std::string describe() const override { return "the sum"; }
  double flops() const override { return 8.0 * static_cast<double>(n_ * n_); }
  std::size_t scratch() const override { return n_; }
  std::size_t scratch_columns() const override { return 0; }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    std::copy_n(in, n_, scratch);
    const double sign = direction == Direction::forward ? -1 : 1;
    for (std::size_t k = 0; k + forgotten_ < n_; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < n_; ++j) {
        const double turns = static_cast<double>(j * k % n_) / static_cast<double>(n_);
        sum += std::complex<double>(scratch[j]) * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
      }
      out[k] = Complex(sum);
    }
  }
  void run_columns(Direction, const Complex*, std::size_t, Complex*, std::size_t, std::size_t,
                   Complex*) const override {}

 private:
  std::size_t n_, forgotten_;  // points omitted: an error to be detected
};

template <class T, std::size_t kForgotten>
void list_plain_sum(std::size_t n, std::vector<LineChoice<T>>& choices) {
  choices.push_back({"plain_sum", n > 1000 ? "for short lines" : "", 8.0 * static_cast<double>(n * n), 0.01,
                     [n] { return std::make_unique<PlainSum<T>>(n, kForgotten); }});
}
constexpr LineListers kPlainSum{list_plain_sum<float, 0>, list_plain_sum<double, 0>};
constexpr LineListers kMistaken{list_plain_sum<float, 1>, list_plain_sum<double, 1>};

template <class T>
planner::Chosen<LineKernel<T>> plan_with(const LineListers& listers, std::size_t n) {
  std::vector<LineChoice<T>> choices = line_choices<T>(n);
  listers.get<T>()(n, choices);
  std::vector<planner::Entry<LineKernel<T>>> entries;
  for (const LineChoice<T>& choice : choices) {
    entries.push_back(
        {{.variant = choice.name, .refusal = choice.refusal, .cost = {.flops = choice.flops}}, {}, choice.make});
  }
  LineTrials<T> trials;
  const planner::Options only{
      .effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = "plain_sum", .verify = true};
  return planner::choose(host(), {.workload = "fft", .key = "a line", .flops = 1}, entries, only, trials);
}

template <class T>
class NewLine : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NewLine, Numbers);

TYPED_TEST(NewLine, IsListedComparedAndChosen) {
  for (const std::size_t n : {1, 2, 12, 17}) {
    EXPECT_EQ(plan_with<TypeParam>(kPlainSum, n).winner->describe(), "the sum") << n;
  }
}

TYPED_TEST(NewLine, AWrongResultAndARefusalAreReported) {
  const ridge::test::ScopedEnvironment strict("RIDGE_VERIFY", "strict");
  EXPECT_THROW(plan_with<TypeParam>(kMistaken, 12), std::logic_error);
  EXPECT_THROW(plan_with<TypeParam>(kPlainSum, 1001), Error);
}

}  // namespace
}  // namespace ridge::fft

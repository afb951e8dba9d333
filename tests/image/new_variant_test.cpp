// Adds an image variant as described in HACKING.md: a class, a lister and a line in the registry; here it follows the
// registry's entries.
#include <gtest/gtest.h>

#include "image/variant.hpp"
#include "image/work.hpp"
#include "support/scratch.hpp"

namespace ridge::image {
namespace {

// Transposes bytes, starting with the last row.
class FromBelow final : public HostVariant {
 public:
  explicit FromBelow(std::size_t forgotten) : forgotten_(forgotten) {}
  void run(std::span<const Image> in, Image& out) const override {
    for (std::size_t r = out.rows(); r > forgotten_; --r) {
      for (std::size_t c = 0; c < out.columns(); ++c)
        out.row<std::uint8_t>(r - 1)[c] = in[0].row<std::uint8_t>(c)[r - 1];
    }
  }

 private:
  std::size_t forgotten_;  // omits this many rows: a mistake that must be detected
};

template <std::size_t kForgotten>
void list_from_below(const Device&, const OperatorProblem& problem, std::vector<Entry>& entries) {
  const bool fits = problem.chain.size() == 1 && std::holds_alternative<Transpose>(problem.chain.front()) &&
                    problem.input.depth == Depth::u8 && problem.input.channels == 1;
  entries.push_back({.candidate = {.variant = "from_below",
                                   .parameters = {},
                                   .refusal = fits ? "" : "transposes bytes",
                                   .cost = {.bytes = 1, .efficiency = 0.1}},
                     .build = [] { return std::make_shared<FromBelow>(kForgotten); }});
}

planner::Chosen<Variant> plan_with(Lister<OperatorProblem>& lister, const OperatorProblem& problem) {
  Work work = work_of(host(), problem);
  lister(host(), problem, work.entries);
  Trials trials(host(), work);
  const planner::Options only{
      .effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = "from_below", .verify = true};
  return planner::choose(host(), work.problem, work.entries, only, trials);
}

const OperatorProblem kTranspose{.input = {.rows = 7, .columns = 13}, .chain = {Transpose{}}};

TEST(NewVariant, IsListedComparedAndChosen) {
  const auto chosen = plan_with(list_from_below<0>, kTranspose);
  EXPECT_NE(dynamic_cast<const FromBelow*>(chosen.winner.get()), nullptr);
}

TEST(NewVariant, AWrongResultAndARefusalAreReported) {
  const ridge::test::ScopedEnvironment strict("RIDGE_VERIFY", "strict");
  EXPECT_THROW(plan_with(list_from_below<1>, kTranspose), std::logic_error);
  OperatorProblem colours = kTranspose;
  colours.input.channels = 3;
  EXPECT_THROW(plan_with(list_from_below<0>, colours), Error);
}

}  // namespace
}  // namespace ridge::image

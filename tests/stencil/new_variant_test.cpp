// Adds a stencil variant as HACKING.md describes it: a class, a lister per cell type, a line in the registry. Here it
// is appended after the registered variants.
#include <gtest/gtest.h>

#include "stencil/trials.hpp"
#include "support.hpp"
#include "support/scratch.hpp"

namespace ridge::stencil::test {
namespace {

// The plain loops over a copy of the grid.
template <class T>
class PlainLoops final : public Variant<T> {
 public:
  PlainLoops(const Update<T>& update, const Problem& problem, std::size_t forgotten)
      : update_(update), problem_(problem), forgotten_(forgotten) {}
  std::unique_ptr<Running<T>> start(const Grid<T>& grid, const Grid<T>*) const override {
    return std::make_unique<Moving>(*this, grid);
  }

 private:
  class Moving final : public Running<T> {
   public:
    Moving(const PlainLoops& loops, const Grid<T>& grid) : loops_(loops), grid_(grid) {}
    void run(std::size_t steps) override {
      reference(loops_.update_, loops_.problem_, grid_, steps - std::min(steps, loops_.forgotten_));
    }
    double change(Norm norm) override {
      const Grid<T> before = grid_;
      run(1);
      return change_between(before, grid_, norm);
    }
    void read(Grid<T>& grid) override { grid = grid_; }
    void wait() override {}

   private:
    const PlainLoops& loops_;
    Grid<T> grid_;
  };
  Update<T> update_;
  Problem problem_;
  std::size_t forgotten_;  // steps to leave out: an error that must be found
};

const Problem kProblem{.shape = {23, 31}};

template <class T, std::size_t kForgotten>
void list_plain_loops(const Device&, const Update<T>& update, const Layout& layout, std::vector<Entry<T>>& entries) {
  Entry<T> entry;
  entry.candidate = {.variant = "plain_loops",
                     .parameters = {},
                     .refusal = layout.coefficients > 0 ? "no coefficients" : "",
                     .cost = step_cost(update, layout, 2, 0.1)};
  entry.build = [=] { return std::make_shared<PlainLoops<T>>(update, kProblem, kForgotten); };
  entries.push_back(std::move(entry));
}
constexpr Listers kPlainLoops{list_plain_loops<float, 0>, list_plain_loops<double, 0>};
constexpr Listers kMistaken{list_plain_loops<float, 1>, list_plain_loops<double, 1>};

template <class T>
planner::Chosen<Variant<T>> plan_with(const Listers& listers, const Update<T>& update) {
  const Layout layout = resolve(update, kProblem);
  std::vector<Entry<T>> entries = list_variants(host(), update, layout);
  listers.get<T>()(host(), update, layout, entries);
  Trials<T> trials(host(), update, kProblem, layout, entries);
  const planner::Options only{
      .effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = "plain_loops", .verify = true};
  return planner::choose(host(), {.workload = "stencil", .key = layout.key(), .bytes = 1}, entries, only, trials);
}

TEST(NewVariant, IsListedComparedAndChosen) {
  const auto chosen = plan_with(kPlainLoops, update<float>(2, heat_function()));
  EXPECT_NE(dynamic_cast<const PlainLoops<float>*>(chosen.winner.get()), nullptr);
  EXPECT_NE(plan_with(kPlainLoops, update<double>(2, heat_function())).winner, nullptr);
}

TEST(NewVariant, AWrongResultIsReported) {
  const ridge::test::ScopedEnvironment strict("RIDGE_VERIFY", "strict");
  EXPECT_THROW(plan_with(kMistaken, update<float>(2, heat_function())), std::logic_error);
}

}  // namespace
}  // namespace ridge::stencil::test

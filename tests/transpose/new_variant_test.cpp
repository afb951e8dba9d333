// Adds a variant as HACKING.md describes: a class that runs a layout, a lister that appends entries, a line in the
// table. Here the table is the registry's with one more line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "support/scratch.hpp"
#include "transpose/host/host_variant.hpp"
#include "transpose/trials.hpp"

namespace ridge::transpose {
namespace {

// Transposes column by column, so that writes are contiguous.
class ColumnByColumn final : public HostVariant {
 public:
  ColumnByColumn(const Layout& layout, std::size_t forgotten) : layout_(layout), forgotten_(forgotten) {}
  void run(const std::byte* in, std::byte* out) const override {
    const std::size_t bytes = layout_.element_bytes;
    for (std::size_t b = 0; b < layout_.batch; ++b) {
      for (std::size_t c = 0; c + forgotten_ < layout_.columns; ++c) {
        for (std::size_t r = 0; r < layout_.rows; ++r) {
          const std::size_t from = b * layout_.input.batch + r * layout_.input.row + c * layout_.input.column;
          const std::size_t to = b * layout_.output.batch + c * layout_.output.row + r * layout_.output.column;
          std::memcpy(out + to * bytes, in + from * bytes, bytes);
        }
      }
    }
  }

 private:
  Layout layout_;
  std::size_t forgotten_;  // number of columns skipped: an error the check must find
};

template <std::size_t kForgotten>
void list_column_by_column(const Device&, const Layout& layout, std::vector<Entry>& entries) {
  entries.push_back({.candidate = {.variant = "column_by_column",
                                   .parameters = {},
                                   .refusal = layout.in_place ? "exchanges nothing: not in place" : "",
                                   .cost = host_cost(layout, 1, 0.1)},
                     .build = [=] { return std::make_shared<ColumnByColumn>(layout, kForgotten); }});
}

planner::Chosen<Variant> plan_with(Lister lister, const Problem& problem, const planner::Options& options) {
  const Layout layout = resolve(problem, 4);
  std::vector<Entry> entries = list_variants(host(), layout);
  lister(host(), layout, entries);
  Trials trials(host(), layout);
  return planner::choose(host(), {.workload = "transpose", .key = layout.key(), .bytes = 1}, entries, options, trials);
}

const planner::Options kOnly{
    .effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = "column_by_column", .verify = true};

TEST(NewVariant, IsListedComparedChosenAndRun) {
  const auto chosen = plan_with(list_column_by_column<0>, {.rows = 3, .columns = 5}, kOnly);
  std::vector<int> in(15), out(15);
  std::iota(in.begin(), in.end(), 0);
  chosen.winner->run(reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data()));
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(out[i], in[i % 3 * 5 + i / 3]);
}

TEST(NewVariant, ItsRefusalIsShown) {
  try {
    plan_with(list_column_by_column<0>, {.rows = 4, .columns = 4, .in_place = true}, kOnly);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("exchanges nothing"));
  }
}

TEST(NewVariant, AWrongResultIsFoundBeforeItIsTimed) {
  const test::ScopedEnvironment lenient("RIDGE_VERIFY", "1");
  const test::Warnings warnings;
  planner::Options all = kOnly;
  all.effort = Effort::measured;
  all.most_trials = 100;
  all.variant.clear();
  const auto chosen = plan_with(list_column_by_column<1>, {.rows = 30, .columns = 50, .batch = 2}, all);
  EXPECT_THAT(chosen.decision.explain(),
              ::testing::ContainsRegex("column_by_column.*wrong: worst error .* at batch 0, row 49, column 0"));
  EXPECT_EQ(warnings.messages.size(), 1u);
}

}  // namespace
}  // namespace ridge::transpose

// Adds a variant of the filter bank as HACKING.md describes it: a class, a lister, a line in the registry. Here it is
// appended after the registered variants.
#include <gtest/gtest.h>

#include "filterbank/trials.hpp"
#include "support.hpp"
#include "support/scratch.hpp"

namespace ridge::filterbank::test {
namespace {

// Runs the plain variant one spectrum at a time.
class OneByOne final : public Variant {
 public:
  OneByOne(std::shared_ptr<const Variant> plain, std::size_t spectrum, std::size_t forgotten)
      : plain_(std::move(plain)), spectrum_(spectrum), forgotten_(forgotten) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return plain_->prepare(prototype);
  }
  void run(const Job& job) const override {
    for (std::size_t i = 0; i + forgotten_ < job.spectra; ++i) {
      plain_->run({.raw = job.raw,
                   .first = job.first + i,
                   .spectra = 1,
                   .weights = job.weights,
                   .out = job.out + i * spectrum_});
    }
  }

 private:
  std::shared_ptr<const Variant> plain_;
  std::size_t spectrum_, forgotten_;  // spectra to leave out: an error that must be found
};

template <std::size_t kForgotten>
void list_one_by_one(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  const auto plain = list_variants(host(), problem, geometry).front().build;
  entries.push_back(
      {.candidate = {.variant = "one_by_one",
                     .parameters = {},
                     .refusal = geometry.delayed || geometry.by_channel ? "in order of time, without delays" : "",
                     .cost = {.bytes = 1, .efficiency = 0.1}},
       .build = [=] { return std::make_shared<OneByOne>(plain(), geometry.spectrum_size(), kForgotten); }});
}

planner::Chosen<Variant> plan_with(Lister& lister, const Problem& wanted) {
  const Problem problem = complete(wanted);
  const Geometry geometry = resolve(problem);
  std::vector<Entry> entries = list_variants(host(), problem, geometry);
  lister(host(), problem, geometry, entries);
  Trials trials(problem, geometry);
  planner::Options options = only("one_by_one");
  options.verify = true;
  return planner::choose(host(), {.workload = "filterbank", .key = geometry.key(), .bytes = 1}, entries, options,
                         trials);
}

const Problem kBank{.channels = 64, .taps = 4, .stations = 3};

TEST(NewVariant, IsListedComparedAndChosen) {
  const auto chosen = plan_with(list_one_by_one<0>, kBank);
  EXPECT_NE(dynamic_cast<const OneByOne*>(chosen.winner.get()), nullptr);
}

TEST(NewVariant, AWrongResultAndARefusalAreReported) {
  const ridge::test::ScopedEnvironment strict("RIDGE_VERIFY", "strict");
  EXPECT_THROW(plan_with(list_one_by_one<1>, kBank), std::logic_error);
  Problem delayed = kBank;
  delayed.delays = {.wanted = true, .frequency = 0.3, .longest = 40};
  EXPECT_THROW(plan_with(list_one_by_one<0>, delayed), Error);
}

}  // namespace
}  // namespace ridge::filterbank::test

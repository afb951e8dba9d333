// Tests of every operator on every device with kernels, for each of its variants, against the reference in double.
// Sizes and pitches are kernel arguments, so one compiled kernel serves all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "image/device_operators_support.hpp"

namespace ridge::image {
namespace {

// Keeps one entry per variant, chosen by `round`; a variant's entries differ only in parameters. GPUs keep all entries,
// because their compilers are fast enough.
std::vector<Entry> one_per_variant(const Device& device, std::vector<Entry> entries, std::size_t round) {
  if (device.limits().sub_group != 0) return entries;
  std::vector<Entry> found;
  for (auto first = entries.begin(); first != entries.end();) {
    const auto last = std::find_if(
        first, entries.end(), [&](const Entry& entry) { return entry.candidate.variant != first->candidate.variant; });
    found.push_back(first[static_cast<std::ptrdiff_t>(round % static_cast<std::size_t>(last - first))]);
    first = last;
  }
  return found;
}

// Checks one entry per call, because compiling takes most of the time; with RIDGE_SLOW=1 one entry per variant.
void check_variants(const Device& device, OperatorProblem problem, std::size_t round,
                    const std::vector<std::pair<std::size_t, std::size_t>>& sizes) {
  for (const auto& [rows, columns] : sizes) {
    problem.input.rows = rows;
    problem.input.columns = columns;
    std::vector<Entry> entries = list_variants(device, problem);
    std::erase_if(entries, [](const Entry& entry) { return !entry.candidate.refusal.empty(); });
    ASSERT_FALSE(entries.empty()) << to_string(problem.chain.front());
    if (slow()) entries = one_per_variant(device, entries, round);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!slow() && i != round % entries.size()) continue;
      SCOPED_TRACE(testing::Message() << device.id() << " " << entries[i].candidate.name() << ": "
                                      << to_string(problem.chain.front()) << " of " << problem.input.text() << ", "
                                      << (problem.border ? to_string(*problem.border) : "default borders"));
      EXPECT_LE(error_of(device, problem, entries[i]), allowed_of(problem, entries[i]));
      if (rows * columns > 1) {
        EXPECT_LE(error_of(device, problem, entries[i], true), allowed_of(problem, entries[i]));
      }
    }
  }
}

// Checks each operator with one kind of image; with RIDGE_SLOW=1 with all kinds.
TEST_F(DeviceOperators, EveryOperator) {
  for (const Device& device : all) {
    std::size_t round = 0;
    for (const Operation& operation : test::all_operators()) {
      for (std::size_t i = 0; i < (slow() ? std::size(kKinds) : 1); ++i, ++round) {
        const Kind& kind = kKinds[round % std::size(kKinds)];
        OperatorProblem problem;
        problem.chain = {operation};
        problem.input.channels = kind.channels;
        problem.input.depth = kind.depth;
        problem.border = kind.border;
        problem.constant = 77;
        check_variants(device, problem, round / 2, {{1, 1}, {1, 19}, {23, 1}, {37, 141}});
      }
    }
  }
}

// Operators of the list that all_operators() lacks, so that the kernels of a new operator are tested without an edit
// here.
TEST_F(DeviceOperators, ExamplesOfTheOthers) {
  std::set<std::size_t> others;
  for (std::size_t i = 0; i < operators().size(); ++i) others.insert(i);
  for (const Operation& operation : test::all_operators()) others.erase(operation.index());
  EXPECT_FALSE(others.empty());  // gradient, gray and invert
  for (const Device& device : all) {
    std::size_t round = 0;
    for (const std::size_t other : others) {
      for (const std::string& example : operators()[other].examples) {
        OperatorProblem problem{.input = {.rows = 8, .columns = 8, .channels = 3}, .chain = parse_chain(example)};
        problem.input.depth = round % 2 == 0 ? Depth::u8 : Depth::f32;
        try {
          static_cast<void>(output_shape(problem));
        } catch (const Error&) {
          problem.input.channels = 1;
        }
        check_variants(device, problem, round++, {{1, 19}, {37, 141}});
      }
    }
  }
}

// Three-byte pixels by words: less than a tile, several tiles, rows that end within a word, unaligned.
TEST_F(DeviceOperators, TransposedRgb8) {
  for (const Device& device : all) {
    for (const Operation& operation : std::vector<Operation>{Transpose{}, Rotate{90}, Rotate{270}}) {
      for (const auto& [rows, columns] : Sizes{{1, 1}, {3, 2}, {64, 64}, {67, 130}, {129, 5}}) {
        OperatorProblem problem;
        problem.input = {.rows = rows, .columns = columns, .channels = 3, .depth = Depth::u8};
        problem.chain = {operation};
        const std::vector<Entry> entries = ways_of(device, problem, "transpose rgb8");
        ASSERT_EQ(entries.size(), 1u);
        SCOPED_TRACE(device.id() + " " + to_string(operation) + " " + problem.input.text());
        EXPECT_EQ(error_of(device, problem, entries[0]), 0);
        EXPECT_EQ(error_of(device, problem, entries[0], true), 0);
      }
    }
  }
}

TEST_F(DeviceOperators, GrayAndGradients) {
  for (const Device& device : all) {
    OperatorProblem problem;
    for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
      problem.input = {.rows = 1, .columns = 1, .channels = depth == Depth::u16 ? 4u : 3u, .depth = depth};
      problem.chain = {Gray{}};
      check_variants(device, problem, 0, {{1, 1}, {5, 131}});
      problem.input.channels = 1;
      problem.chain = {Gradient{depth == Depth::u8 ? GradientKind::scharr : GradientKind::sobel}};
      check_variants(device, problem, 0, {{1, 3}, {20, 47}, {9, 301}});
    }
  }
}

TEST_F(DeviceOperators, ChainsFusedAndNot) {
  for (const Device& device : all) {
    for (const char* text :
         {"gauss 1 | resize 0.5 | gray", "gray | transpose", "median 1 | gauss 0.8 2", "gray | gradient",
          "rotate 90 | gray | integral", "gray | rotate 20", "cross-bilateral 1 2 30 | box 3"}) {
      OperatorProblem problem;
      problem.input = {.rows = 50, .columns = 61, .channels = 3, .depth = Depth::u8};
      problem.chain = parse_chain(text);
      const std::vector<Entry> entries = list_variants(device, problem);
      EXPECT_GE(entries.size(), 2u) << text;
      bool fused = false;
      std::string names;
      for (const Entry& entry : entries) {
        names += fmt::format("\n{} [{}]", entry.candidate.name(), entry.candidate.refusal);
        if (!entry.candidate.refusal.empty() || (!slow() && fused)) continue;
        SCOPED_TRACE(device.id() + " " + text + " " + entry.candidate.name());
        fused = fused || entry.candidate.name().find(" + ") != std::string::npos;
        // A value near one half may be rounded either way between two operators, which changes later results by a
        // weight.
        EXPECT_LE(error_of(device, problem, entry), 1.01);
      }
      EXPECT_TRUE(fused) << device.id() << ": " << text << names;
    }
  }
}

// Border wrap needs the whole result of the previous operator; windows larger than local memory use two passes.
TEST_F(DeviceOperators, RefusalsAreInWords) {
  OperatorProblem problem;
  problem.input = {.rows = 6, .columns = 40, .channels = 4, .depth = Depth::f32};
  problem.chain = {Gauss{40}};
  bool refused = false, two_passes = false;
  for (const Entry& entry : list_variants(all.front(), problem)) {
    refused = refused || entry.candidate.refusal.find("local memory") != std::string::npos;
    if (entry.candidate.variant != "two passes") continue;
    two_passes = true;
    EXPECT_LE(error_of(all.front(), problem, entry), test::allowed_error(problem));
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(two_passes);
  problem.chain = {Gauss{1}, Median{1}};
  problem.border = Border::wrap;
  for (const Entry& entry : list_variants(all.front(), problem)) EXPECT_EQ(entry.candidate.variant, "one by one");
}

TEST_F(DeviceOperators, PlansRunAndSayWhatWasFused) {
  for (const Device& device : all) {
    OperatorProblem problem;
    problem.input = {.rows = 24, .columns = 33, .channels = 3, .depth = Depth::u8};
    problem.chain = parse_chain("gauss 0.7 1 | gray");
    const OperatorPlan plan(device, problem, {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
    EXPECT_THAT(plan.explain(), testing::HasSubstr("gauss 0.7 1 + gray"));
    const Image in = test::random_image(problem.input, 1);
    Image out(output_shape(problem));
    plan.run(in, out);
    EXPECT_LE(test::worst_difference(out, reference(problem, plain_of(in), {})), 1.01);
    EXPECT_FALSE(plan.kernels().empty());
  }
}

}  // namespace
}  // namespace ridge::image

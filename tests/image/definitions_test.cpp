// Tests of the definitions of all operators: the list, syntax, ranges and examples agree with what the functions
// accept, and every variant on the host agrees with the reference.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include <fmt/format.h>

#include "image/operators/reference.hpp"
#include "image/operators_support.hpp"
#include "image/variant.hpp"
#include "support/hopper.hpp"

namespace ridge::image {
namespace {

using ParameterKind = OperatorParameter::Kind;

// An input that the operator accepts: one channel, or three.
Shape input_for(const Operation& operation, Depth depth) {
  Shape shape{13, 22, 3, depth};
  try {
    static_cast<void>(output_shape(operation, shape));
  } catch (const Error&) {
    shape.channels = 1;
  }
  return shape;
}

bool is_accepted(const std::string& text) {
  try {
    const Operation operation = parse_chain(text).front();
    static_cast<void>(output_shape(operation, input_for(operation, Depth::u8)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(Definitions, NamesAreDistinctAndDescribed) {
  std::set<std::string> names;
  ASSERT_EQ(operators().size(), std::variant_size_v<Operation>);
  for (const OperatorInfo& info : operators()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(info.syntax.starts_with(info.name)) << info.syntax;
    EXPECT_FALSE(info.help.empty()) << info.name;
    for (const OperatorParameter& parameter : info.parameters) {
      EXPECT_FALSE(parameter.help.empty()) << info.name << " " << parameter.name;
      EXPECT_EQ(parameter.words.empty(), parameter.kind != ParameterKind::word) << info.name << " " << parameter.name;
      if (parameter.kind != ParameterKind::word) {
        EXPECT_NE(info.syntax.find(parameter.name), std::string::npos) << info.syntax;
      }
      for (const std::string& word : parameter.words) EXPECT_NE(info.syntax.find(word), std::string::npos) << word;
    }
  }
}

// Text of an operator with `value` for parameter `at` and small values for the others; empty if one of them is free
// text.
std::string with_value(const OperatorInfo& info, std::size_t at, const std::string& value) {
  std::string text = info.name;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const OperatorParameter& parameter = info.parameters[i];
    if (i > at && parameter.optional) break;
    if (i != at && parameter.kind == ParameterKind::text) return {};
    text += " " + (i == at                                 ? value
                   : parameter.kind == ParameterKind::word ? parameter.words.front()
                                                           : fmt::format("{:g}", std::max(parameter.least, 1.0)));
  }
  return text;
}

TEST(Definitions, RangesAndWordsAreThoseThatAreAccepted) {
  std::size_t ranges = 0;
  for (const OperatorInfo& info : operators()) {
    for (std::size_t i = 0; i < info.parameters.size(); ++i) {
      const OperatorParameter& parameter = info.parameters[i];
      const auto accepted = [&](double value) { return is_accepted(with_value(info, i, fmt::format("{:g}", value))); };
      if (parameter.kind == ParameterKind::whole) {
        ++ranges;
        EXPECT_TRUE(accepted(parameter.least)) << info.name << " " << parameter.name;
        EXPECT_TRUE(accepted(parameter.most)) << info.name << " " << parameter.name;
        EXPECT_FALSE(accepted(parameter.least - 1)) << info.name << " " << parameter.name;
        EXPECT_FALSE(accepted(parameter.most + 1)) << info.name << " " << parameter.name;
      }
      if (parameter.kind == ParameterKind::number) {
        EXPECT_TRUE(accepted(parameter.least)) << info.name << " " << parameter.name;
      }
      for (const std::string& word : parameter.words) {
        const std::string text = with_value(info, i, word);
        EXPECT_TRUE(text.empty() || is_accepted(text)) << text;
      }
    }
  }
  EXPECT_GE(ranges, 6U);
}

TEST(Definitions, ExamplesArePrintedAsTheyAreParsed) {
  for (const OperatorInfo& info : operators()) {
    for (const std::string& text : info.examples) {
      const std::vector<Operation> chain = parse_chain(text);
      ASSERT_EQ(chain.size(), 1U) << text;
      EXPECT_TRUE(to_string(chain.front()).starts_with(info.name)) << text;
      EXPECT_EQ(to_string(parse_chain(to_string(chain.front())).front()), to_string(chain.front()));
    }
  }
}

TEST(Definitions, EveryExampleAgreesWithItsReference) {
  for (const OperatorInfo& info : operators()) {
    for (const std::string& text : info.examples) {
      for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
        OperatorProblem problem{.input = {}, .chain = parse_chain(text)};
        problem.input = input_for(problem.chain.front(), depth);
        const Image in = test::random_image(problem.input, 5), guide = test::random_image(problem.input, 6);
        const Image both[2] = {in, guide};
        const Shape shape = output_shape(problem);
        const Plain expected{shape.rows, shape.columns, shape.channels, reference_values(problem, in, guide)};
        double largest = 1;
        for (const double value : expected.values) largest = std::max(largest, std::abs(value));
        for (const Entry& entry : list_variants(host(), problem)) {
          if (!entry.candidate.refusal.empty()) continue;
          Image out(shape);
          std::memset(out.bytes(), 0xff, out.span_bytes());
          entry.build()->run(std::span(both, inputs(problem)), out);
          const double allowed = test::allowed_error(problem) + (shape.depth == Depth::f32 ? 1e-5 * largest : 0);
          EXPECT_LE(test::worst_difference(out, expected), allowed) << text << " " << entry.candidate.name();
        }
      }
    }
  }
}

// A device with small work-groups, little local memory and no double precision: several limits are exceeded.
struct Small : ridge::test::Hopper {
  Small() {
    info.limits.work_group = 16;
    info.limits.local_memory = 1024;
    info.limits.float64 = false;
  }
};

TEST(Definitions, TheFirstReasonOfARefusalIsShown) {
  const Device device(std::make_shared<Small>());
  const auto refusal_of = [&](const char* text, const std::string& variant) {
    const OperatorProblem problem{.input = {200, 300, 1, Depth::u16}, .chain = parse_chain(text)};
    for (const planner::Candidate& candidate : candidates(device, problem)) {
      if (candidate.variant == variant) return candidate.refusal;
    }
    return std::string();
  };
  EXPECT_NE(refusal_of("integral", "corner sums").find("double precision"), std::string::npos);
  EXPECT_NE(refusal_of("median 5", "tile").find("local memory"), std::string::npos);
  EXPECT_NE(refusal_of("gauss 3", "two passes").find("work-groups of 256"), std::string::npos);
}

}  // namespace
}  // namespace ridge::image

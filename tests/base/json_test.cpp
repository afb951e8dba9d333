// Bounded parsing of JSON: valid and hostile texts.
#include "base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include <fstream>

#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace {

using ridge::base::Json;
using ridge::base::JsonBounds;
using ridge::base::number_in;
using ridge::base::parse_json;
using ridge::base::text_in;
using ridge::test::error_of;
using testing::HasSubstr;

std::string refusal_of(std::string_view text, const JsonBounds& bounds = {}) {
  return error_of([&] { parse_json(text, bounds); });
}

TEST(Json, ParsedValuesEqualThoseOfTheText) {
  const char* text =
      R"( {"z": [1, -2, 2.5e1, true, false, null, "a\"\u00e9\\"], "a": {"b": {}, "c": []}, "big": 18446744073709551615} )";
  EXPECT_EQ(parse_json(text), Json::parse(text));
  EXPECT_EQ(parse_json(text).dump(), Json::parse(text).dump());  // including the order of the members
  EXPECT_EQ(parse_json("3"), Json(3));
  EXPECT_EQ(parse_json("[]"), Json::array());
  EXPECT_EQ(parse_json("{}"), Json::object());
  EXPECT_EQ(parse_json("\"x\""), Json("x"));
}

TEST(Json, MembersOfABuiltObjectCanBeFoundAndAdded) {
  Json object = parse_json(R"({"one": 1, "two": 2})");
  EXPECT_EQ(object["two"], 2);
  object["three"] = 3;
  object["one"] = 10;
  EXPECT_EQ(object.dump(), R"({"one":10,"two":2,"three":3})");
}

TEST(Json, GrammarErrorsNameTheLine) {
  EXPECT_THAT(refusal_of("{\n\"a\": 1,\n\"b\" 2}"), HasSubstr("line 3"));
  for (const char* text : {"{", "[1,]", "{\"a\":}", "nul", "[1] 2", "'a'", "{\"a\":1,}", "\"\\x\"", "\"a", "[1 2]",
                           "01", "-", "1.", "[\"a\nb\"]", "// hello\n1", "\"\xff\xfe\""})
    EXPECT_THAT(refusal_of(text), HasSubstr("line ")) << text;
  EXPECT_THAT(refusal_of(std::string_view("[1\0]", 4)), HasSubstr("line "));
}

TEST(Json, EmptyTextIsRefused) {
  EXPECT_EQ(refusal_of(""), "empty");
  EXPECT_EQ(refusal_of(" \n\t "), "empty");
}

TEST(Json, OnlyFiniteNumbers) {
  for (const char* text : {"NaN", "nan", "Infinity", "-Infinity", "[NaN]", "{\"a\": -inf}"})
    EXPECT_THAT(refusal_of(text), HasSubstr("line ")) << text;
  EXPECT_THAT(refusal_of("[1, 1e999]"), HasSubstr("not finite: '1e999'"));
  EXPECT_THAT(refusal_of("-1e999"), HasSubstr("not finite"));
  EXPECT_EQ(parse_json("1e-999").get<double>(), 0);
}

TEST(Json, DepthIsBoundedExactly) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(refusal_of(nested(32)), "");
  EXPECT_EQ(refusal_of(nested(33)), "deeper than 32 levels");
  EXPECT_EQ(refusal_of(nested(4), {.depth = 3}), "deeper than 3 levels");
  // Detected long before the text ends; brackets inside strings do not count.
  EXPECT_EQ(refusal_of(std::string(1u << 20, '[')), "deeper than 32 levels");
  EXPECT_EQ(refusal_of("\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\""), "");
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  EXPECT_EQ(refusal_of(objects), "deeper than 32 levels");
}

TEST(Json, ValuesAreBoundedExactly) {
  EXPECT_EQ(refusal_of("[1,2,3]", {.values = 4}), "");
  EXPECT_EQ(refusal_of("[1,2,3]", {.values = 3}), "more than 3 values");
  EXPECT_EQ(refusal_of(R"({"a":{},"b":[]})", {.values = 2}), "more than 2 values");
}

TEST(Json, BytesAreBoundedExactly) {
  EXPECT_EQ(refusal_of("[1,2]", {.bytes = 5}), "");
  EXPECT_EQ(refusal_of("[1,2]", {.bytes = 4}), "longer than 4 bytes");
}

TEST(Json, AFieldGivenTwiceIsRefused) {
  EXPECT_THAT(refusal_of(R"({"a":1,"b":2,"a":3})"), HasSubstr("\"a\" is given twice"));
  EXPECT_EQ(refusal_of(R"([{"a":1},{"a":2},{"b":{"a":1},"a":2}])"), "");
}

// ordered_json alone would compare every name with every earlier one: 5e11 comparisons here.
TEST(Json, AnObjectOfAMillionFieldsTakesNoLongerThanAnArray) {
  std::string text = "{";
  for (int i = 0; i < 1'000'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(parse_json(text).size(), 1'000'000u);
}

TEST(Json, LongTokensAreNotRepeatedInTheMessage) {
  EXPECT_LT(refusal_of("[\"" + std::string(100'000, 'x') + "\" 1]").size(), 400u);
  EXPECT_LT(refusal_of(std::string(100'000, '9') + "e999").size(), 400u);
  const std::string field = "\"" + std::string(100'000, 'x') + "\":1";
  EXPECT_LT(refusal_of("{" + field + "," + field + "}").size(), 400u);
}

TEST(Json, NumbersAreReadWithinTheirRange) {
  const Json object = Json::parse(R"({"n": 3, "f": 2.5, "t": "3", "b": true, "z": null, "u": 18446744073709551615})");
  EXPECT_EQ(number_in(object, "n", 0, 3), 3);
  EXPECT_EQ(number_in(object, "f", 2.5, 3), 2.5);
  EXPECT_EQ(number_in(object, "u", 0, 1e20), 18446744073709551615.0);
  EXPECT_THAT(error_of([&] { number_in(object, "n", 4, 5); }), HasSubstr("\"n\" is 3, not within [4, 5]"));
  EXPECT_THAT(error_of([&] { number_in(object, "f", 0, 2); }), HasSubstr("\"f\""));
  for (const char* field : {"t", "b", "z"})
    EXPECT_THAT(error_of([&] { number_in(object, field, 0, 9); }), HasSubstr("not a number")) << field;
  EXPECT_THAT(error_of([&] { number_in(object, "none", 0, 9); }), HasSubstr("\"none\" is missing"));
  EXPECT_THAT(error_of([&] { number_in(Json::array(), "n", 0, 9); }), HasSubstr("needs an object"));
  Json odd = Json::object();
  odd["nan"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error_of([&] { number_in(odd, "nan", 0, 9); }), "");
}

TEST(Json, TextsAreReadUpToTheirLimit) {
  const Json object = Json::parse(R"({"t": "four", "n": 4})");
  EXPECT_EQ(text_in(object, "t"), "four");
  EXPECT_EQ(text_in(object, "t", 4), "four");
  EXPECT_THAT(error_of([&] { text_in(object, "t", 3); }), HasSubstr("longer than 3"));
  EXPECT_THAT(error_of([&] { text_in(object, "n"); }), HasSubstr("not text"));
  EXPECT_THAT(error_of([&] { text_in(object, "none"); }), HasSubstr("missing"));
  EXPECT_THAT(error_of([&] { text_in(Json(1), "t"); }), HasSubstr("needs an object"));
}

TEST(Json, ADamagedFileIsAWarning) {
  const ridge::test::ScratchFolder folder;
  ridge::test::Warnings warnings;
  EXPECT_FALSE(ridge::base::read_json_or_warn(folder / "missing.json"));
  EXPECT_TRUE(warnings.messages.empty());

  std::ofstream(folder / "good.json") << "[1]";
  EXPECT_EQ(ridge::base::read_json_or_warn(folder / "good.json"), parse_json("[1]"));
  EXPECT_TRUE(warnings.messages.empty());

  std::ofstream(folder / "bad.json") << "[1";
  EXPECT_FALSE(ridge::base::read_json_or_warn(folder / "bad.json"));
  std::ofstream(folder / "long.json") << "[1, 2, 3]";
  EXPECT_FALSE(ridge::base::read_json_or_warn(folder / "long.json", {.bytes = 4}));
  EXPECT_FALSE(ridge::base::read_json_or_warn(folder.path()));
  ASSERT_EQ(warnings.messages.size(), 3u);
  EXPECT_THAT(warnings.messages[0], testing::AllOf(HasSubstr("bad.json"), HasSubstr("line 1")));
  EXPECT_THAT(warnings.messages[1], testing::AllOf(HasSubstr("long.json"), HasSubstr("longer than 4 bytes")));
  EXPECT_THAT(warnings.messages[2], HasSubstr("not a regular file"));
}

}  // namespace

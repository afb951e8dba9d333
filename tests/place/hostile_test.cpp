// Input that is wrong, broken or too much: a diagnostic, never a crash.
#include <unistd.h>

#include <gtest/gtest.h>

#include "cases.hpp"

namespace {

using namespace place_test;

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!available(why)) GTEST_SKIP() << why;
    file_ = std::filesystem::temp_directory_path() / ("ridge_hostile_" + std::to_string(getpid()) + ".cpp");
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  ridge::place::Report read(const std::string& text, double seconds = 60) {
    std::ofstream(file_, std::ios::binary) << text;
    ridge::place::Options options;
    options.function = "f";
    options.seconds = seconds;
    return ridge::place::analyze(file_.string(), options);
  }
  std::filesystem::path file_;
};

TEST_F(Hostile, SyntaxErrorHasItsLine) {
  const auto report = read("void f(float* a) {\n  for (int i = 0; i < ; ++i) a[i] = 1;\n}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find(":2:"), std::string::npos) << report.errors[0];
  EXPECT_TRUE(report.placed.empty());
}

TEST_F(Hostile, MissingHeaderIsNamed) {
  const auto report = read("#include \"nowhere.hpp\"\nvoid f() {}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find("nowhere.hpp"), std::string::npos);
}

TEST_F(Hostile, NoSuchFunction) {
  const auto report = read("void g() {}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find("no function f"), std::string::npos);
}

TEST_F(Hostile, BytesThatAreNoProgram) {
  std::string noise;
  for (unsigned i = 0, s = 1; i < 20000; ++i) noise += static_cast<char>((s = s * 1664525u + 1013904223u) >> 24);
  EXPECT_FALSE(read(noise).errors.empty());
}

TEST_F(Hostile, DeepNestingEnds) {
  std::string text = "void f(float* a, int n) {\n";
  for (int i = 0; i < 40; ++i)
    text +=
        "for (int i" + std::to_string(i) + " = 0; i" + std::to_string(i) + " < n; ++i" + std::to_string(i) + ") {\n";
  text += "a[i0 + i39] = 1;\n" + std::string(40, '}') + "\n}\n";
  const auto report = read(text, 20);
  EXPECT_TRUE(!report.errors.empty() || !report.loops.empty());
}

TEST_F(Hostile, EndlessParenthesesEnd) {
  const auto report =
      read("int f() { return " + std::string(100000, '(') + "1" + std::string(100000, ')') + "; }\n", 20);
  EXPECT_FALSE(report.errors.empty());
}

// A source with a piece cut out or doubled anywhere still gets an answer.
TEST_F(Hostile, MutatedSources) {
  const std::string whole =
      "void f(const float* in, float* out, int h, int w) {\n  for (int i = 1; i < h - 1; ++i)\n    for (int j = 1; j < "
      "w; ++j) {\n      float s = 0;\n"
      "      for (int k = 0; k < 3; ++k) s += in[(i + k - 1) * w + j];\n      if (s > 0) out[i * w + j] = s;\n    "
      "}\n}\n";
  unsigned state = 7;
  const int rounds = std::getenv("RIDGE_SLOW") != nullptr ? 300 : 25;
  for (int round = 0; round < rounds; ++round) {
    const auto next = [&](std::size_t n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
    std::string text = whole;
    const std::size_t at = next(text.size()), length = 1 + next(12);
    if (next(2) == 0)
      text.erase(at, length);
    else
      text.insert(at, whole.substr(next(whole.size()), length));
    const auto report = read(text, 20);
    for (const std::string& e : report.errors) EXPECT_EQ(e.find("failed on this source"), std::string::npos) << text;
  }
}

}  // namespace

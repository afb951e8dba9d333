// Long files: every loop gets a verdict, memory stays bounded, and the work grows linearly with the file.
#include <fstream>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "support/scratch.hpp"

namespace {

using namespace place_test;

// A file of functions with about fifty lines each, with four kinds of nests of two loops.
std::string long_file(int functions) {
  static const char* const nests[] = {
      "  for (int i = 1; i < n - 1; ++i)\n    for (int j = 1; j < m - 1; ++j)\n"
      "      b[i * m + j] = x0 * (a[i * m + j - 1] + a[i * m + j + 1] + a[(i - 1) * m + j] + a[(i + 1) * m + j]);\n",
      "  for (int i = 0; i < n; ++i) {\n    float sum = 0;\n    for (int j = 0; j < m; ++j) sum += a[i * m + j] * x1;\n"
      "    b[i] = sum;\n  }\n",
      "  for (int i = 1; i < n; ++i)\n    for (int j = 0; j < m; ++j) b[i * m + j] = b[(i - 1) * m + j] + x2 * a[i * m "
      "+ j];\n",
      "  for (int i = 0; i < n; ++i)\n    for (int j = 0; j < i; ++j) b[i * m + j] = a[j * m + i] - x3;\n"};
  std::string text, calls;
  for (int f = 0; f < functions; ++f) {
    const std::string name = "part" + std::to_string(f);
    text += "void " + name + "(const float* a, float* b, int n, int m) {\n";
    for (int x = 0; x < 40; ++x)
      text += "  const float x" + std::to_string(x) + " = " +
              (x < 2 ? std::to_string(x + f) + ".5f"
                     : "x" + std::to_string(x - 1) + " * 0.5f + x" + std::to_string(x - 2)) +
              ";\n";
    text += nests[f % 4];
    text += "}\n\n";
    calls += "  " + name + "(a, b, n, m);\n";
  }
  return text + "void everything(const float* a, float* b, int n, int m) {\n" + calls + "}\n";
}

// Parsing the program again after a transformation leaves all nests but one unchanged: those are not analyzed again.
TEST(Scale, UnchangedNestsAreNotAnalyzedAgain) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder folder;
  const std::string file = (folder / "one.cpp").string();
  const int nests = 12;
  std::string text = "void f(const float* a, float* b, int n, int m) {\n";
  for (int k = 0; k < nests; ++k)
    text += "  for (int i = 1; i < n; ++i)\n    for (int j = 0; j < m; ++j) b[i * m + j] = b[(i - 1) * m + j] + " +
            std::to_string(k) + " * a[i * m + j];\n";
  std::ofstream(file) << text << "}\n";
  ridge::place::Options options;
  options.function = "f";
  const auto report = ridge::place::analyze(file, options);
  ASSERT_TRUE(report.errors.empty()) << report.errors[0];
  EXPECT_EQ(report.loops.size(), static_cast<std::size_t>(2 * nests));
  for (const auto& l : report.loops) {
    EXPECT_TRUE(l.placed) << l.id << " " << l.why;
    EXPECT_FALSE(l.transformed.empty()) << l.id;  // interchange, in every nest
  }
  EXPECT_GT(report.readings, nests);
  EXPECT_LE(report.judged, nests + 4 * report.readings) << report.readings << " readings";
  for (const std::string& a : report.assumptions)  // line numbers of the user's file
    if (const auto at = a.find("(line "); at != std::string::npos) {
      EXPECT_LE(std::stoi(a.substr(at + 6)), 2 * nests + 1) << a;
    }
}

TEST(Scale, EveryLoopOfALongFileGetsItsVerdict) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder folder;
  for (const int functions : {20, 200}) {  // 1,000 and 10,000 lines
    const std::string file = (folder / ("long" + std::to_string(functions) + ".cpp")).string();
    std::ofstream(file) << long_file(functions);
    ridge::place::Options options;
    options.function = "everything";
    options.memory = std::size_t{2} << 30;
    const auto report = ridge::place::analyze(file, options);
    ASSERT_TRUE(report.errors.empty()) << report.errors[0];
    EXPECT_EQ(report.loops.size(), static_cast<std::size_t>(2 * functions));
    std::size_t parallel = 0;
    for (const auto& l : report.loops) parallel += l.parallel;
    EXPECT_EQ(parallel,
              static_cast<std::size_t>(2 * functions -
                                       functions / 4));  // one of the four kinds carries a dependence over rows
    EXPECT_EQ(report.kernels.size(), static_cast<std::size_t>(functions));
    EXPECT_LT(report.placed.size(), 8000u * static_cast<std::size_t>(functions) + 40000u);
  }
}

}  // namespace

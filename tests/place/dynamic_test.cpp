// A run of the user's program: counts that are known beforehand, times that add up, and outputs compared.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "place/dynamic/instrument.hpp"
#include "place/dynamic/measure.hpp"

namespace {

using namespace place_test;

const char* const kProgram = R"(#include <cstdio>
#include <cstdlib>
#include <vector>

int early(const std::vector<int>& v, int wanted) {
  for (int i = 0; i < int(v.size()); ++i)
    if (v[i] == wanted) return i;
  return -1;
}

double work(std::vector<double>& v, int times) {
  double sum = 0;
  for (int t = 0; t < times; ++t) {
    if (t % 2 == 0)
      for (double& x : v) x = x * 0.5 + 1;
    else
      for (std::size_t i = 0; i < v.size(); ++i) v[i] += 1;
    int k = 0;
    do
      ++k;
    while (k < 3);
    sum += v[0];
  }
  return sum;
}

int main(int, char** words) {
  std::vector<double> v(std::atoi(words[1]), 1.0);
  std::vector<int> w{4, 5, 6};
  std::printf("%g %d\n", work(v, 10), early(w, 6));
}
)";

TEST(Dynamic, CountsTurnsAndComparesOutputs) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const auto file = std::filesystem::temp_directory_path() / ("ridge_dynamic_" + std::to_string(getpid()) + ".cpp");
  std::ofstream(file) << kProgram;
  ridge::place::Options options;
  options.flags = {"-std=c++20"};
  auto report = ridge::place::analyze(file.string(), options);
  ASSERT_TRUE(report.errors.empty()) << report.errors[0];
  ridge::place::dynamic::Command command;
  command.line = "{} 1000";
  command.flags = options.flags;
  ridge::place::dynamic::measure(report, kProgram, command);
  std::map<std::string, ridge::place::LoopRun> found;
  for (const auto& r : report.run) found[r.loop] = r;
  ASSERT_EQ(found.count("work.l1"), 1u);
  EXPECT_EQ(found["work.l1"].entries, 1);
  EXPECT_EQ(found["work.l1"].turns, 10);
  EXPECT_EQ(found["work.l2"].entries, 5);
  EXPECT_EQ(found["work.l2"].turns, 5000);
  EXPECT_EQ(found["work.l3"].turns, 5000);
  EXPECT_EQ(found["work.l4"].entries, 10);
  EXPECT_EQ(report.run[static_cast<std::size_t>(found["work.l2"].parent)].loop, "work.l1");
  EXPECT_EQ(found["early.l1"].turns, 3);
  EXPECT_GT(report.run_seconds, 0);
  std::map<std::string, ridge::place::BranchRun> branches;
  for (const auto& b : report.branches) branches[b.branch] = b;
  EXPECT_EQ(branches["work.c1"].held, 5);  // every other turn
  EXPECT_EQ(branches["work.c1"].failed, 5);
  EXPECT_EQ(branches["early.c1"].held, 1);
  EXPECT_EQ(branches["early.c1"].failed, 2);
  EXPECT_NE(ridge::place::to_page(report).find("segment"), std::string::npos);
  EXPECT_THROW(ridge::place::dynamic::measure(report, kProgram, {"no program", {}}), ridge::Error);

  options.function = "work";
  options.emit = "openmp";
  report = ridge::place::analyze(file.string(), options);
  ASSERT_FALSE(report.placed.empty());
  command.emit = "openmp";
  EXPECT_TRUE(ridge::place::dynamic::same_output(report, kProgram, command).same);
  const auto at = report.placed.find("+ 1;");
  ASSERT_NE(at, std::string::npos);
  report.placed.replace(at, 3, "+ 2");
  EXPECT_FALSE(ridge::place::dynamic::same_output(report, kProgram, command).same);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

TEST(Dynamic, OutputsAlike) {
  using ridge::place::dynamic::alike;
  EXPECT_TRUE(alike("a 1.0\n", "a 1.0\n", 0));
  EXPECT_FALSE(alike("a 1.0\n", "a 1.00001\n", 0));
  EXPECT_TRUE(alike("a 1.0\n", "a 1.00001\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a 1.1\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "b 1.0\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a nan\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a\n", 1e-4));
}

}  // namespace

// Runs of the user's program: known counts, consistent times, compared outputs.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "place/dynamic/instrument.hpp"
#include "place/dynamic/measure.hpp"
#include "place/judge/judge.hpp"
#include "support/scratch.hpp"

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

int down(int n) { return n > 0 ? down(n - 1) + 1 : 0; }

namespace inner {
struct Counter {
  int n = 0;
  int next() { return ++n; }
};
template <class T>
T all(std::vector<double>& v, const std::vector<int>& w) {
  const T sum = work(v, 10);
  return sum + early(w, 6) + down(10);
}
}  // namespace inner

int main(int, char** words) {
  std::vector<double> v(std::atoi(words[1]), 1.0);
  std::vector<int> w{4, 5, 6};
  inner::Counter c;
  for (int i = 0; i < 7; ++i) c.next();
  std::printf("%g %d\n", inner::all<double>(v, w), c.n);
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
  EXPECT_EQ(branches["work.c1"].held, 5);  // every other iteration
  EXPECT_EQ(branches["work.c1"].failed, 5);
  EXPECT_EQ(branches["early.c1"].held, 1);
  EXPECT_EQ(branches["early.c1"].failed, 2);
  std::map<std::string, ridge::place::FunctionRun> functions;
  for (const auto& f : report.functions) functions[f.function] = f;
  EXPECT_EQ(functions.count("main"), 0u);
  EXPECT_EQ(functions["work"].calls, 1);
  EXPECT_EQ(functions["down"].calls, 11);
  EXPECT_EQ(functions["inner::Counter::next"].calls, 7);
  const auto all = functions["inner::all"], work = functions["work"], one = functions["early"];
  EXPECT_EQ(all.calls, 1);
  EXPECT_EQ(all.line, 35);
  // Time with and without the called functions.
  EXPECT_GE(all.seconds, work.seconds + one.seconds);
  EXPECT_GE(all.own, 0);
  EXPECT_LE(all.own, all.seconds - work.seconds - one.seconds + 1e-9);
  EXPECT_GT(work.seconds, 0);
  EXPECT_EQ(work.own, work.seconds);  // it calls no function of the file
  EXPECT_LE(all.seconds, report.run_seconds);
  const auto above = [&](const ridge::place::LoopRun& r) { return report.run[static_cast<std::size_t>(r.parent)]; };
  EXPECT_EQ(above(found["work.l1"]).function, "work");
  EXPECT_EQ(above(above(found["work.l1"])).function, "inner::all");
  const std::string page = ridge::place::to_page(report), said = ridge::place::to_text(report);
  EXPECT_NE(page.find("'loop segment'"), std::string::npos);
  EXPECT_NE(page.find("'function segment'"), std::string::npos);
  EXPECT_NE(page.find("<td>inner::Counter::next()</td>"), std::string::npos);
  EXPECT_NE(page.find("class='axis'"), std::string::npos);
  EXPECT_NE(said.find("inner::all() "), std::string::npos) << said;
  EXPECT_NE(said.find(", called 1 times"), std::string::npos) << said;
  EXPECT_THROW(ridge::place::dynamic::measure(report, kProgram, {"no program", {}}), ridge::Error);

  options.function = "work";
  options.emit = "openmp";
  report = ridge::place::analyze(file.string(), options);
  ASSERT_FALSE(report.placed.empty());
  command.emit = "openmp";
  EXPECT_TRUE(ridge::place::dynamic::same_output(report, kProgram, command).same);
  command.runs = 3;
  const auto three = ridge::place::dynamic::same_output(report, kProgram, command);
  EXPECT_TRUE(three.same) << three.text;
  EXPECT_NE(three.spread.find("3 runs, median"), std::string::npos) << three.spread;
  command.runs = 1;
  const std::string sum = "0.5 + 1;";  // on threads, and in the original loop beside them
  ASSERT_NE(report.placed.find(sum), std::string::npos);
  for (auto at = report.placed.find(sum); at != std::string::npos; at = report.placed.find(sum))
    report.placed.replace(at, sum.size(), "0.5 + 2;");
  EXPECT_FALSE(ridge::place::dynamic::same_output(report, kProgram, command).same);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
}

// Two views of the same memory: the overlap test fails and the original loop runs.
TEST(Dynamic, ViewsOfOneMemory) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const std::string text = R"(#include <cstdio>
#include <vector>
struct View {
  float* data;
  int rows, cols;
  float& operator()(int r, int c) const { return data[r * cols + c]; }
};
void shifted(View from, View to) {
  const View again = to;
  for (int r = 1; r < from.rows; ++r)
    for (int c = 0; c < from.cols; ++c) again(r, c) = from(r - 1, c) + 1;
}
int main() {
  std::vector<float> a(90000), b(90000);
  const View x{a.data(), 300, 300}, y{b.data(), 300, 300};
  const View head{a.data(), 299, 300}, tail{a.data() + 300, 299, 300};
  shifted(x, y);
  shifted(x, x);
  shifted(head, tail);
  double sum = 0;
  for (int i = 0; i < 90000; ++i) sum += a[i] * (i % 7) + b[i];
  std::printf("%.0f %g %g\n", sum, a[89999], b[89999]);
}
)";
  const auto file = std::filesystem::temp_directory_path() / ("ridge_views_" + std::to_string(getpid()) + ".cpp");
  std::ofstream(file) << text;
  ridge::place::Options options;
  options.flags = {"-std=c++20"};
  options.function = "shifted";
  options.emit = "openmp";
  const auto report = ridge::place::analyze(file.string(), options);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  ASSERT_EQ(report.kernels.size(), 1u) << ridge::place::to_text(report);
  EXPECT_NE(report.placed.find("placed::apart("), std::string::npos);
  ridge::place::dynamic::Command command;
  command.line = "OMP_NUM_THREADS=2 {}";
  command.flags = options.flags;
  command.emit = "openmp";
  const auto same = ridge::place::dynamic::same_output(report, text, command);
  EXPECT_TRUE(same.same) << same.text;
}

// A struct of arrays, which generated data cannot fill: --run alone verifies it, if a kernel was launched
// or threads were started.
TEST(Dynamic, TheUsersProgramAloneIsCompared) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const std::string text = R"(#include <cstdio>
#include <vector>
struct Field {
  std::vector<float> u, v;
  int n;
};
void advance(Field& f, float by) {
  for (int i = 1; i < f.n; ++i) f.u[i] += by * (f.v[i] - f.v[i - 1]);
}
int main(int words, char**) {
  const int n = words > 1 ? 0 : 500;
  Field f{std::vector<float>(n, 1.0f), std::vector<float>(n, 2.0f), n};
  if (n > 0) advance(f, 0.5f);
  std::printf("%g\n", n > 0 ? f.u[9] : 0.0f);
}
)";
  const ridge::test::ScratchFolder scratch;
  const auto file = scratch.path() / "field.cpp";
  std::ofstream(file) << text;
  ridge::place::Options options;
  options.flags = {"-std=c++20"};
  options.function = "advance";
  options.emit = "openmp";
  const auto threads = ridge::place::analyze(file.string(), options);
  EXPECT_FALSE(ridge::place::judge::compare(threads, text, {.flags = options.flags, .emit = "openmp"}).compared);
  const auto same = ridge::place::dynamic::same_output(threads, text, {"{}", options.flags, "openmp", ""});
  EXPECT_TRUE(same.same && same.proves) << same.text;
  const auto idle = ridge::place::dynamic::same_output(threads, text, {"{} none", options.flags, "openmp", ""});
  EXPECT_TRUE(idle.same && !idle.proves) << idle.text;
  if (ridge::place::judge::device_of("").empty()) GTEST_SKIP() << "no OpenCL or CUDA device";
  options.emit = "ridge";
  const auto placed = ridge::place::analyze(file.string(), options);
  const auto run = ridge::place::dynamic::same_output(placed, text, {"{}", options.flags, "ridge", ""});
  EXPECT_TRUE(run.same && run.proves) << run.text;
  const auto none = ridge::place::dynamic::same_output(placed, text, {"{} none", options.flags, "ridge", ""});
  EXPECT_TRUE(none.same && !none.proves) << none.text;
}

TEST(Dynamic, OutputsAreComparedWithATolerance) {
  using ridge::place::dynamic::alike;
  EXPECT_TRUE(alike("a 1.0\n", "a 1.0\n", 0));
  EXPECT_FALSE(alike("a 1.0\n", "a 1.00001\n", 0));
  EXPECT_TRUE(alike("a 1.0\n", "a 1.00001\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a 1.1\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "b 1.0\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a nan\n", 1e-4));
  EXPECT_FALSE(alike("a 1.0\n", "a\n", 1e-4));
  using ridge::place::dynamic::first_difference;
  EXPECT_EQ(first_difference("a 1.0\nb\n", "a 1.00001\nb\n", 1e-4), "");
  EXPECT_EQ(first_difference("a\n2 s\n", "a\n3 s\n", 1e-4), "line 2 of its output is \"3 s\" instead of \"2 s\"");
  EXPECT_EQ(first_difference("a\nb\n", "a\n", 0), "line 2 of its output is nothing instead of \"b\"");
}

}  // namespace

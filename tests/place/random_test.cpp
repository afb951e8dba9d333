// Random loop nests: whatever is placed must equal the original. Many in one program, because compiling is most of it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "cases.hpp"
#include "place/judge/judge.hpp"
#include "support/devices.hpp"

namespace {

using namespace place_test;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  // void nNUMBER(...) with one to five loops, one to three statements at the bottom and some between the loops.
  std::string function(int number) {
    iterators_.clear();
    low_.clear();
    gentle_ = pick(2) == 0;
    std::string text = "static void n" + std::to_string(number) +
                       "(const float* a, float* b, float* c, const int* where, int n, int m) {\n";
    const int depth = pick(8) == 0 ? 4 + pick(2) : 1 + pick(3);
    std::string pad = "  ", ends;
    const bool scratch = pick(4) == 0, sums = pick(6) == 0;
    if (scratch) text += "  float t = 0;\n";
    if (sums) text += "  float s = 0;\n";
    for (int d = 0; d < depth; ++d) {
      static const char* const iterators[] = {"i", "j", "k", "p", "q"};
      static const char* const limits[] = {"n", "m", "n", "3", "2"};
      const std::string i = iterators[d], limit = limits[d];
      const int form = pick(8);
      const std::string start = form == 1            ? "1"
                                : form == 2 && d > 0 ? iterators_[static_cast<std::size_t>(pick(d))]
                                                     : "0";
      std::string end = pad + "}\n";
      if (form == 3) {
        text += pad + "for (int " + i + " = " + limit + " - 1; " + i + " >= 0; --" + i + ") {\n";
      } else if (form == 6) {
        text += pad + "int " + i + " = 0;\n" + pad + "while (" + i + " < " + limit + ") {\n";
        end = pad + "  ++" + i + ";\n" + end;
      } else if (form == 7 && d > 0) {  // as long as the data say
        text += pad + "for (int " + i + " = 0; " + i + " < where[" + iterators_[0] + "] + 2; ++" + i + ") {\n";
      } else {
        text += pad + "for (int " + i + " = " + start + "; " + i + " < " + limit + (form == 4 ? " - 1; " : "; ") +
                (form == 5 ? i + " += 2" : "++" + i) + ") {\n";
      }
      low_.push_back(form == 1 ? 1 : 0);
      iterators_.push_back(i);
      pad += "  ";
      if (d + 1 < depth && pick(4) == 0) text += pad + assignment() + "\n";
      if (d + 1 < depth && pick(5) == 0) end = pad + assignment() + "\n" + end;
      ends = end + ends;
    }
    const int statements = 1 + pick(3);
    for (int s = 0; s < statements; ++s) {
      std::string line;
      if (scratch && s == 0)
        line = "t = " + value() + ";";
      else if (sums && s == 0)
        line = "s += " + value() + ";";
      else
        line = assignment(scratch ? " + 0.1f * t" : "");
      if (pick(5) == 0) line = "if (" + read() + " > 0.5f) " + line;
      text += pad + line + "\n";
    }
    text += ends;
    if (sums) text += "  c[0] = s * 0.001f;\n";
    return text + "}\n";
  }

 private:
  std::mt19937 random_;
  std::vector<std::string> iterators_{};
  std::vector<int> low_{};
  bool gentle_ = false;  // an element an iteration, so that more is placed
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string whole() const {
    static const char* const all[] = {"i", "i * m + j", "(i * m + j) * n + k", "((i * m + j) * n + k) * 3 + p",
                                      "(((i * m + j) * n + k) * 3 + p) * 2 + q"};
    return all[iterators_.size() - 1];
  }
  std::string subscript() {
    const auto at = static_cast<std::size_t>(pick(static_cast<int>(iterators_.size())));
    const std::string& i = iterators_[at];
    const std::string& j = iterators_[static_cast<std::size_t>(pick(static_cast<int>(iterators_.size())))];
    switch (pick(11)) {
      case 0:
        return i + " + 1";
      case 1:
        return low_[at] > 0 ? i + " - 1" : i;
      case 2:
        return "2 * " + i;
      case 3:
        return "n + m - " + i;
      case 4:
        return i + " + " + j;
      case 5:
        return "(" + i + " + 1) * m + " + j;
      case 6:
        return j + " * m + " + i;
      case 7:
        return i + " / 2";
      case 8:
        return "where[" + i + "]";
      default:
        return whole();
    }
  }
  std::string assignment(const std::string& more = "") {
    const std::string target = std::string(pick(2) == 0 ? "b" : "c") + "[" + (gentle_ ? whole() : subscript()) + "]";
    return target + (pick(5) == 0 ? " += 0.25f * " : " = 0.5f * ") + value() + more + ";";
  }
  std::string read() {
    static const char* const arrays[] = {"a", "a", "a", "a", "b", "c"};  // mostly what nobody writes
    const char* const array = arrays[pick(6)];
    return std::string(array) + "[" + (gentle_ && array[0] != 'a' ? whole() : subscript()) + "]";
  }
  std::string value() { return pick(3) == 0 ? "(" + read() + ")" : "(" + read() + " - " + read() + ")"; }
};

TEST(RandomNests, PlacedEqualTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const bool device = !ridge::test::accelerators().empty();
  if (!device) GTEST_SKIP() << "no OpenCL or CUDA device";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);  // most of the time is compiling, in `--all` too
  const int batches = slow ? 50 : 1, each = slow ? 40 : 15;
  const char* const from = std::getenv("RIDGE_RANDOM_FROM");  // batches that were compared before are left out
  const auto file = std::filesystem::temp_directory_path() / ("ridge_random_" + std::to_string(getpid()) + ".cpp");
  int placed = 0;
  for (int batch = from == nullptr ? 0 : std::atoi(from); batch < batches; ++batch) {
    const unsigned seed = 1000u + static_cast<unsigned>(batch);
    Generator generator(seed);
    std::string text, calls;
    for (int f = 0; f < each; ++f) {
      text += generator.function(f);
      calls += "  n" + std::to_string(f) + "(a, b, c, where, n, m);\n";
    }
    text += "void everything(const float* a, float* b, float* c, const int* where, int n, int m) {\n" + calls + "}\n";
    std::ofstream(file) << text;
    SCOPED_TRACE("seed " + std::to_string(seed));
    ridge::place::Options options;
    options.function = "everything";
    options.seconds = 600;
    options.memories.tiles = batch % 2 == 0 ? "always" : "auto";
    const auto report = ridge::place::analyze(file.string(), options);
    ASSERT_TRUE(report.errors.empty()) << report.errors[0];
    placed += static_cast<int>(report.kernels.size());
    if (report.placed.empty()) continue;
    ridge::place::judge::Wishes wishes;
    wishes.flags = {"-O0"};  // most of the time is compiling
    wishes.seconds = 1800;
    const auto outcome = ridge::place::judge::compare(report, text, wishes);
    EXPECT_TRUE(outcome.verified) << outcome.text << "\n" << text;
    if (slow) {
      std::printf("%d nests, %d kernels\n", (batch + 1) * each, placed);
      std::fflush(stdout);
    }
  }
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  EXPECT_GT(placed, 0);
}

}  // namespace

// Random loop nests: every placed nest must give the original's result.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "programs.hpp"
#include "reader.hpp"
#include "support/devices.hpp"
#include "support/scratch.hpp"

namespace {

using namespace place_test;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  // Text of void nNUMBER(...) with one to five loops, one to three innermost statements and some between the loops.
  std::string function(int number, bool vectors = false) {
    iterators_.clear();
    low_.clear();
    gentle_ = pick(2) == 0;
    std::string text = "static void n" + std::to_string(number) +
                       (vectors ? "(const std::vector<float>& a, std::vector<float>& b, std::vector<float>& c, "
                                  "const std::vector<int>& where, int n, int m) {\n"
                                : "(const float* a, float* b, float* c, const int* where, int n, int m) {\n");
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
      } else if (form == 7 && d > 0) {  // length read from data
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
  bool gentle_ = false;  // each iteration writes its own element, so that more nests are placed
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
    static const char* const arrays[] = {"a", "a", "a", "a", "b", "c"};  // mostly the array that is never written
    const char* const array = arrays[pick(6)];
    return std::string(array) + "[" + (gentle_ && array[0] != 'a' ? whole() : subscript()) + "]";
  }
  std::string value() { return pick(3) == 0 ? "(" + read() + ")" : "(" + read() + " - " + read() + ")"; }
};

// Places every nest alone as OpenCL and as threads. Many of them and their originals form one program, which calls them
// with small and large sizes, on separate and overlapping arrays, and prints every difference.
constexpr const char* kBegin = R"(
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <omp.h>
#include <sys/mman.h>
#include <type_traits>
#include <vector>
template <class T>
struct Data {
  std::vector<T> a, b, c;
  std::vector<int> where;
  explicit Data(std::size_t n) : a(n), b(n), c(n), where(n) {
    unsigned state = 12345;
    const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    for (auto* list : {&a, &b, &c})
      for (T& x : *list) x = 0.1f + 0.9f * static_cast<float>(next()) / 16777216.0f;
    for (int& x : where) x = static_cast<int>((next() >> 4) % 4);
  }
};
template <class T>
void call(void (*f)(const T*, T*, T*, const int*, int, int), Data<T>& d, int overlap, int n, int m) {
  f(overlap == 2 ? d.b.data() + 3 : d.a.data(), d.b.data(), overlap == 1 ? d.b.data() + 5 : d.c.data(), d.where.data(), n, m);
}
template <class T>
void call(void (*f)(const std::vector<T>&, std::vector<T>&, std::vector<T>&, const std::vector<int>&, int, int), Data<T>& d,
          int overlap, int n, int m) {
  f(overlap == 2 ? d.b : d.a, d.b, overlap == 1 ? d.b : d.c, d.where, n, m);
}
// Largest difference relative to the largest value of x.
template <class T>
double apart(const std::vector<T>& x, const std::vector<float>& y, bool exactly) {
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) scale = std::fmax(scale, std::fabs(x[i]));
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (exactly || !std::isfinite(x[i]) || !std::isfinite(y[i])) return HUGE_VAL;
    largest = std::fmax(largest, std::fabs(double(x[i]) - y[i]));
  }
  return largest == 0 ? 0 : largest / scale;
}
long different = 0, compared = 0;
// `wide` is the nest in double precision: a reordered sum may differ from it as much as the original's sum does.
template <class F, class Wide>
void compare(const char* name, F original, F placed, Wide wide, double bound, int depth, int n, int m) {
  for (int overlap = 0; overlap < 3; ++overlap) {
    const int most = n > m ? n : m, across = most * (most + 2), whole = depth < 3 ? 0 : n * m * n * (depth < 4 ? 1 : 6);
    const auto size = static_cast<std::size_t>((across > whole ? across : whole) + 1024);
    Data<float> x(size), y(size);
    Data<double> z(size);
    for (int again = 0; again < 2; ++again) {
      call(original, x, overlap, n, m);
      call(placed, y, overlap, n, m);
      double b = apart(x.b, y.b, bound == 0), c = apart(x.c, y.c, bound == 0), allowed_b = bound, allowed_c = bound;
      if constexpr (!std::is_same_v<Wide, std::nullptr_t>) {
        call(wide, z, overlap, n, m);
        if (b > bound) b = apart(z.b, y.b, false), allowed_b += 4 * apart(z.b, x.b, false);
        if (c > bound) c = apart(z.c, y.c, false), allowed_c += 4 * apart(z.c, x.c, false);
      }
      ++compared;
      if (b <= allowed_b && c <= allowed_c) continue;
      ++different;
      std::printf("%s differs: b by %g, c by %g; n = %d, m = %d, overlap %d, call %d\n", name, b, c, n, m, overlap, again + 1);
      return;
    }
  }
}
)";

struct Counts {
  int nests = 0, kernels = 0, on_threads = 0;
};

void compare_batch(unsigned seed, int each, Counts& counts) {
  const ridge::test::ScratchFolder folder;
  const std::string at = folder.path().string() + "/";
  Generator generator(seed);
  std::string shared, originals, wide, placed, calls;
  std::vector<Source> sources;
  for (int f = 0; f < each; ++f) {
    const bool vectors = f % 8 == 7;
    const std::string nest = generator.function(f, vectors), name = "n" + std::to_string(f);
    originals += nest;
    wide += std::regex_replace(nest, std::regex("\\bfloat\\b"), "double");
    for (const char* emit : {"opencl", "openmp"})
      sources.push_back({name, (vectors ? "#include <vector>\n" : "") + nest, emit, f % 2 == 0 ? "always" : "auto"});
  }
  std::map<std::size_t, ridge::place::Report> reports;
  ASSERT_EQ(Reader().read(sources, 0, [&](std::size_t k, const auto& report) { reports[k] = report; }), sources.size());
  for (std::size_t k = 0; k < sources.size(); ++k) {
    ASSERT_EQ(reports.count(k), 1u) << sources[k].text;  // it compiles
    const auto& report = reports[k];
    if (report.placed.empty()) continue;
    const std::string &name = sources[k].function, &emit = sources[k].emit;
    const bool large = reports[k & ~std::size_t{1}].enough > 0 || reports[k | 1].enough > 0;
    (emit == "opencl" ? counts.kernels : counts.on_threads) += static_cast<int>(report.kernels.size());
    const std::string space = emit + "_" + name;
    placed += "namespace " + space + " {\n" + own_part(report.placed, shared) + "}\n";
    const double bound = ridge::place::judge::allowed(report);
    std::vector<std::string> all{"23, 29", "3, 2", large ? "149, 151" : "40, 37"};
    for (const auto& l : report.loops)
      for (const std::string& t : l.transformed)
        if (t.rfind("lanes", 0) == 0 && all.size() == 3) all.insert(all.end(), {"9, 151", "151, 9"});
    for (const std::string& sizes : all)
      calls += "  compare(\"" + name + " " + emit + "\", original::" + name + ", " + space + "::" + name + ", " +
               (bound > 0 ? "wide::" + name : "nullptr") + ", " + std::to_string(bound) + ", " +
               std::to_string(report.loops.size()) + ", " + sizes + ");\n";
  }
  counts.nests += each;
  const std::string program = kBegin + shared + "namespace original {\n" + originals + "}\nnamespace wide {\n" + wide +
                              "}\n" + placed + "int main() {\n" + calls +
                              "  std::printf(\"compared %ld, launched %ld\\n\", compared, "
                              "static_cast<long>(placed::launches()));\n  return different > 0;\n}\n";
  if (const char* elsewhere = std::getenv("RIDGE_RANDOM_WRITE")) {  // to compile and run on another machine
    std::ofstream(std::string(elsewhere) + "/nests_" + std::to_string(seed) + ".cpp") << program;
    return;
  }
  std::ofstream(at + "all.cpp") << program;
  ASSERT_EQ(command("c++ -O0 -ffp-contract=off -std=c++20 -fopenmp -w -o " + at + "all " + at + "all.cpp -lOpenCL > " +
                    at + "log 2>&1"),
            0)
      << text_of(at + "log");
  const int code = command(at + "all > " + at + "log 2>&1");
  const std::string log = text_of(at + "log");
  EXPECT_EQ(code, 0) << log;
  EXPECT_NE(log.find("compared "), std::string::npos) << log;
  EXPECT_EQ(log.find("launched 0\n"), std::string::npos) << log;
  if (code != 0 && std::getenv("RIDGE_PLACE_KEEP") != nullptr)
    std::filesystem::copy_file(at + "all.cpp", "/tmp/ridge_random_" + std::to_string(seed) + ".cpp",
                               std::filesystem::copy_options::overwrite_existing);
}

TEST(RandomNests, EachEqualsTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (ridge::test::accelerators().empty()) GTEST_SKIP() << "no OpenCL or CUDA device";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);  // compilation dominates, also in `--all`
  setenv("OMP_NUM_THREADS", "3", 0);
  const char* const from = std::getenv("RIDGE_RANDOM_FROM");  // skips batches that were compared before
  Counts counts;
  for (int batch = from == nullptr ? 0 : std::atoi(from); batch < (slow ? 25 : 1); ++batch) {
    const unsigned seed = 2000u + static_cast<unsigned>(batch);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_batch(seed, slow ? 80 : 6, counts);
    if (HasFatalFailure()) return;
    if (slow) {
      std::printf("%d nests, %d kernels, %d on threads\n", counts.nests, counts.kernels, counts.on_threads);
      std::fflush(stdout);
    }
  }
  EXPECT_GT(counts.kernels, 0);
  EXPECT_GT(counts.on_threads, 0);
}

// Many nests of one program in sequence: data stays on the device between them.
TEST(RandomNests, ChainsEqualTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const bool device = !ridge::test::accelerators().empty();
  if (!device) GTEST_SKIP() << "no OpenCL or CUDA device";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);  // compilation dominates, also in `--all`
  const int batches = slow ? 10 : 1, each = slow ? 20 : 10;
  const auto file = std::filesystem::temp_directory_path() / ("ridge_random_" + std::to_string(getpid()) + ".cpp");
  int placed = 0;
  for (int batch = 0; batch < batches; ++batch) {
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
    ridge::place::judge::Options comparison;
    comparison.flags = {"-O0"};  // compilation dominates
    comparison.seconds = 1800;
    const auto outcome = ridge::place::judge::compare(report, text, comparison);
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

// Random functions over much of the language (wide_programs.hpp), placed as threads and as OpenCL kernels. Each must
// give the original's result with eight threads, with iterations and work-items in another order, and on overlapping
// arrays.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>

#include <gtest/gtest.h>

#include "reader.hpp"
#include "support/scratch.hpp"
#include "wide_programs.hpp"
#include "wide_world.hpp"

namespace {

using namespace place_test;

const std::string kCompare = R"(
long compared = 0, different = 0;
template <class T>
void compare(const char* name, Function<T> original, Function<T> placed, double bound, int times) {
  static const int sizes[][2] = {{13, 3}, {6, -2}, {1, 0}};
  for (const auto& size : sizes)
    for (int overlap = 0; overlap < 8; ++overlap) {
      World<T> x;
      call(original, x, overlap, size[0], size[1]);
      for (int again = 0; again < times; ++again) {
        World<T> y;
        call(placed, y, overlap, size[0], size[1]);
        const double first = apart(x.arena, y.arena, bound == 0), second = apart(x.v, y.v, bound == 0);
        ++compared;
        if (first <= bound && second <= bound) continue;
        ++different;
        std::printf("%s differs by %g and %g; n = %d, k = %d, overlap %d\n", name, first, second, size[0], size[1], overlap);
        return;
      }
    }
}
)";

// Numbers work-items in reverse, except in kernels with tiles, which are loaded by position in the group.
std::string items_reversed(const std::string& text) {
  if (text.find("_tile[") != std::string::npos) return text;
  return std::regex_replace(text, std::regex(R"(get_global_id\((\d)\))"),
                            "(get_global_size($1) - 1 - get_global_id($1))");
}

struct WideCounts {
  long functions = 0, with_threads = 0, with_kernels = 0, compared = 0;
};

void compare_wide(unsigned seed, int each, bool opencl, WideCounts& counts) {
  const ridge::test::ScratchFolder folder;
  const std::string at = folder.path().string() + "/";
  std::ofstream(at + "few.hpp") << kFewStandardNames << WideGenerator::declarations();
  const std::vector<std::string> flags{"-std=c++20", "-include", at + "few.hpp"};
  WideGenerator generator(seed);
  std::vector<Source> sources;
  std::vector<std::string> types;
  for (int f = 0; f < each; ++f) {
    const std::string name = "p" + std::to_string(f), text = generator.function(name);
    for (const char* emit : {"openmp", "opencl"})
      if (opencl || emit[4] != 'c') {
        sources.push_back({name, text, emit, f % 2 == 0 ? "always" : "auto", true});
        types.push_back(generator.type());
      }
  }
  std::set<std::string> headers, written;
  std::string text, calls, runtime;
  const Reader reader(flags);
  std::size_t read = 0;
  for (std::size_t k = 0; k < sources.size();)
    k = reader.read(sources, k, [&](std::size_t at_source, const ridge::place::Report& report) {
      ++read;
      if (report.placed.empty()) return;
      const Source& s = sources[at_source];
      const bool threads = s.emit == "openmp";
      ++(threads ? counts.with_threads : counts.with_kernels);
      if (written.insert(s.function).second) text += in_namespace("original_" + s.function, s.text, headers);
      std::vector<std::pair<std::string, std::string>> versions{{"placed", report.placed}};
      if (threads && !report.permuted.empty()) versions.emplace_back("permuted", report.permuted);
      if (!threads) versions.emplace_back("permuted", items_reversed(report.placed));
      for (const auto& [kind, program] : versions) {
        const std::string space = kind + "_" + s.emit + "_" + s.function;
        text += in_namespace(space, without_runtime(program, runtime), headers);
        calls += "  compare<" + types[at_source] + ">(\"" + s.function + " " + s.emit + " " + kind + "\", original_" +
                 s.function + "::" + s.function + ", " + space + "::" + s.function + ", " +
                 (report.reassociates ? "1e-4" : "0") + ", " + (threads ? "2" : "1") + ");\n";
      }
    });
  EXPECT_EQ(read, sources.size()) << "one of them does not compile";
  counts.functions += each;
  std::string all = kWideHeaders;
  for (const std::string& h : headers) all += h + "\n";
  all += "#ifdef _OPENMP\n#include <omp.h>\n#endif\n" + WideGenerator::declarations() + kWorld + kCompare + runtime +
         text + "int main() {\n" + calls +
         "  std::printf(\"compared %ld\\n\", compared);\n  return different > 0;\n}\n";
  std::ofstream(at + "all.cpp") << all;
  const auto keep = [&] {
    if (std::getenv("RIDGE_PLACE_KEEP") != nullptr)
      std::filesystem::copy_file(at + "all.cpp", "/tmp/ridge_wide_" + std::to_string(seed) + ".cpp",
                                 std::filesystem::copy_options::overwrite_existing);
  };
  // Another compiler with its flags, for longer runs.
  const char* named = std::getenv("RIDGE_WIDE_CXX");
  const std::string compiler = named != nullptr ? named : "c++ -fopenmp";
  if (std::system((compiler + " -O0 -fwrapv -fno-strict-aliasing -ffp-contract=off -std=c++20 -w -o " + at + "all " +
                   at + "all.cpp " + (opencl ? "-lOpenCL " : "") + "> " + at + "log 2>&1")
                      .c_str()) != 0) {
    keep();
    FAIL() << all_of(at + "log").substr(0, 4000);
  }
  const int code =
      std::system(("PLACED_ALWAYS=1 OMP_NUM_THREADS=8 OMP_WAIT_POLICY=passive OMP_SCHEDULE=dynamic,1 timeout 900 " +
                   at + "all > " + at + "log 2>&1")
                      .c_str());
  const std::string log = all_of(at + "log");
  if (code != 0) keep();
  EXPECT_EQ(code, 0) << log;
  const auto said = log.rfind("compared ");
  ASSERT_NE(said, std::string::npos) << log;
  counts.compared += std::atol(log.c_str() + said + 9);
}

// RIDGE_WIDE_FROM, RIDGE_WIDE_BATCHES and RIDGE_WIDE_EACH select longer runs; with RIDGE_PLACE_KEEP a program with a
// difference is kept in /tmp.
TEST(WidePrograms, EachEqualsTheOriginal) {
  if (!Reader().there()) GTEST_SKIP() << "this build has no placement compiler";
  const auto number = [](const char* name, int otherwise) {
    const char* given = std::getenv(name);
    return given == nullptr ? otherwise : std::atoi(given);
  };
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  const int from = number("RIDGE_WIDE_FROM", 1), batches = number("RIDGE_WIDE_BATCHES", slow ? 10 : 1),
            each = number("RIDGE_WIDE_EACH", slow ? 50 : 12), kernels = number("RIDGE_WIDE_KERNELS", 8);
  setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
  WideCounts counts;
  for (int batch = 0; batch < batches; ++batch) {
    const unsigned seed = static_cast<unsigned>(from + batch);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_wide(seed, each, kernels > 0 && batch % kernels == kernels - 1, counts);
    if (batches > 1) {
      std::printf("%ld functions, %ld on threads, %ld on a device, %ld comparisons\n", counts.functions,
                  counts.with_threads, counts.with_kernels, counts.compared);
      std::fflush(stdout);
    }
  }
  EXPECT_GT(counts.with_threads, 0);
  EXPECT_GT(counts.compared, 0);
}

}  // namespace

// Random functions (wide_programs.hpp) placed as threads, run by a run time that simulates the threads and finds every
// race (simulated/threads.cpp). Many functions form one program, so that thousands can be compared in minutes.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "reader.hpp"
#include "support/scratch.hpp"
#include "wide_programs.hpp"
#include "wide_world.hpp"

namespace {

using namespace place_test;

const std::string kSimulated = R"(
namespace simulated {
extern unsigned long seed;
extern long conflicts, regions;
}
long compared = 0, different = 0, ran = 0, crashed = 0;
sigjmp_buf before_crash;
void crash(int) { siglongjmp(before_crash, 1); }
template <class T>
void compare(const char* name, Function<T> original, Function<T> placed, double bound) {
  static const World<T> fresh;
  static World<T> x, y;
  static const int sizes[][2] = {{13, 3}, {6, -2}, {1, 0}};
  for (const auto& size : sizes)
    for (int overlap = 0; overlap < 8; ++overlap) {
      x = fresh;
      std::signal(SIGSEGV, crash);
      if (sigsetjmp(before_crash, 1) != 0) {  // the original leaves its memory: nothing to compare
        ++crashed;
        return;
      }
      call(original, x, overlap, size[0], size[1]);
      std::signal(SIGSEGV, SIG_DFL);
      for (int again = 0; again < 2; ++again) {
        y = fresh;
        const long before = simulated::regions;
        simulated::conflicts = 0;
        call(placed, y, overlap, size[0], size[1]);
        ran += simulated::regions > before;
        const double first = apart(x.arena, y.arena, bound == 0), second = apart(x.v, y.v, bound == 0);
        ++compared;
        if (first <= bound && second <= bound && simulated::conflicts == 0) continue;
        ++different;
        std::printf("%s differs by %g and %g, %ld conflicts; n = %d, k = %d, overlap %d\n", name, first, second,
                    simulated::conflicts, size[0], size[1], overlap);
        return;
      }
    }
}
)";

struct SimulatedCounts {
  long functions = 0, placed = 0, compared = 0, ran = 0;
};

int environment_number(const char* name, int otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::atoi(given);
}

// One program of `each` functions. A difference is a failure with the function's text.
void compare_simulated(unsigned seed, int each, const std::string& runtime_object, SimulatedCounts& counts) {
  const ridge::test::ScratchFolder folder;
  const std::string at = folder.path().string() + "/";
  std::ofstream(at + "few.hpp") << kFewStandardNames << WideGenerator::declarations();
  WideGenerator generator(seed, seed % 4 != 0);
  std::vector<Source> sources;
  std::vector<std::string> types;
  for (int f = 0; f < each; ++f) {
    const std::string name = "p" + std::to_string(f), text = generator.function(name);
    sources.push_back({name, text, "openmp", "auto", true});
    types.push_back(generator.type());
  }
  std::set<std::string> headers;
  std::string text, calls;
  std::vector<std::string> helpers;
  const Reader reader({"-std=c++20", "-include", at + "few.hpp"});
  std::size_t read = 0;
  for (std::size_t k = 0; k < sources.size();)
    k = reader.read(sources, k, [&](std::size_t i, const ridge::place::Report& report) {
      ++read;
      if (report.placed.empty()) return;
      const std::string& name = sources[i].function;
      ++counts.placed;
      text += in_namespace("original_" + name, sources[i].text, headers) +
              in_namespace("placed_" + name, without_helpers(report.placed, helpers), headers);
      calls += "  compare<" + types[i] + ">(\"" + name + "\", original_" + name + "::" + name + ", placed_" + name +
               "::" + name + ", " + (report.reassociates ? "1e-4" : "0") + ");\n";
    });
  EXPECT_EQ(read, sources.size()) << "one of them does not compile";
  counts.functions += each;
  std::string all = kWideHeaders;
  for (const std::string& h : headers) all += h + "\n";
  all += "#include <csetjmp>\n#include <csignal>\n#include <omp.h>\n";
  for (const std::string& h : helpers) all += h + "}  // namespace placed\n";
  all += WideGenerator::declarations() + kWorld + kSimulated + text + "int main() {\n" + calls +
         "  std::printf(\"compared %ld, on threads %ld\\n\", compared, ran);\n  return different > 0;\n}\n";
  std::ofstream(at + "all.cpp") << all;
  const auto keep = [&] {
    if (std::getenv("RIDGE_PLACE_KEEP") != nullptr)
      std::filesystem::copy_file(at + "all.cpp", "/tmp/ridge_simulated_" + std::to_string(seed) + ".cpp",
                                 std::filesystem::copy_options::overwrite_existing);
  };
  const std::string flags =
      "-O0 -pipe -fopenmp -fsanitize=thread -fwrapv -fno-strict-aliasing -ffp-contract=off -std=c++20 "
      "-w ";
  if (std::system(("c++ " + flags + "-c -o " + at + "all.o " + at + "all.cpp > " + at + "log 2>&1 && c++ -o " + at +
                   "all " + at + "all.o " + runtime_object + " >> " + at + "log 2>&1")
                      .c_str()) != 0) {
    keep();
    FAIL() << all_of(at + "log").substr(0, 4000);
  }
  const int code = std::system(("PLACED_ALWAYS=1 timeout 300 " + at + "all > " + at + "log 2>&1").c_str());
  const std::string log = all_of(at + "log");
  if (code != 0) keep();
  EXPECT_EQ(code, 0) << log;
  long compared = 0, ran = 0;
  if (const auto said = log.rfind("compared "); said != std::string::npos)
    std::sscanf(log.c_str() + said, "compared %ld, on threads %ld", &compared, &ran);
  counts.compared += compared;
  counts.ran += ran;
}

// RIDGE_WIDE_FROM, RIDGE_WIDE_BATCHES and RIDGE_WIDE_EACH select longer runs; with RIDGE_PLACE_KEEP a program with a
// difference is kept in /tmp.
TEST(SimulatedThreads, EveryRandomFunctionEqualsTheOriginal) {
  if (!Reader().there()) GTEST_SKIP() << "this build has no placement compiler";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  const int from = environment_number("RIDGE_WIDE_FROM", 1),
            batches = environment_number("RIDGE_WIDE_BATCHES", slow ? 10 : 1),
            each = environment_number("RIDGE_WIDE_EACH", slow ? 200 : 24);
  const ridge::test::ScratchFolder folder;
  std::string object = folder.path().string() + "/threads.o";
  const std::string source = (std::filesystem::path(__FILE__).parent_path() / "simulated/threads.cpp").string();
  if (const char* made = std::getenv("RIDGE_SIMULATED_OBJECT"); made != nullptr)  // on a machine without the sources
    object = made;
  else
    ASSERT_EQ(std::system(("c++ -O2 -std=c++20 -w -c -o " + object + " " + source).c_str()), 0);
  SimulatedCounts counts;
  for (int batch = 0; batch < batches; ++batch) {
    const unsigned seed = static_cast<unsigned>(from + batch);
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare_simulated(seed, each, object, counts);
    if (batches > 1) {
      std::printf("seed %u: %ld functions, %ld placed, %ld comparisons, %ld on threads\n", seed, counts.functions,
                  counts.placed, counts.compared, counts.ran);
      std::fflush(stdout);
    }
  }
  EXPECT_GT(counts.placed, counts.functions / 3);
  EXPECT_GT(counts.ran, counts.placed);
}

}  // namespace

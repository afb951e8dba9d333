// Placed programs against their originals: on a Ridgeline device, as plain OpenCL, as OpenMP under the thread
// sanitizer; CUDA programs are compiled only.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "cuda_text.hpp"
#include "place/judge/process.hpp"
#include "programs.hpp"
#include "support/scratch.hpp"

namespace {

using namespace place_test;
namespace judge = ridge::place::judge;

bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

bool some_device() {
  for (const auto& d : ridge::devices().devices)
    if (!d.is_host()) return true;
  return false;
}

void compare_cases(const std::string& emit, const std::string& compiler, const std::vector<std::string>& few) {
  const std::vector<Placed> all = place_cases(emit, slow() ? std::vector<std::string>{} : few);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(compare_all(all, emit, compiler), static_cast<int>(all.size()));
}

TEST(Placed, EqualsTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!some_device()) GTEST_SKIP() << "no OpenCL or CUDA device";
  judge::Options comparison;
  comparison.flags = {"-O0", "-I" + folder().string()};                      // headers next to the corpus
  for (const Placed& p : place_cases("ridge", {"scratch_of_any_length"})) {  // the same comparison as `ridge place`
    SCOPED_TRACE(p.function);
    const auto outcome = judge::compare(p.report, p.original, comparison);
    EXPECT_TRUE(outcome.verified) << outcome.text;
  }
  if (slow()) compare_cases("ridge", "c++", {});
}

TEST(Placed, EqualsTheOriginalAsPlainOpenCl) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (command("printf '#include <CL/cl.h>\\nint main() { return clGetPlatformIDs(0, 0, 0); }' | c++ -w -x c++ - "
              "-lOpenCL -o /dev/null 2> /dev/null") != 0)
    GTEST_SKIP() << "no OpenCL headers or library to compile with";
  compare_cases("opencl", "c++", {"heat_by_swap",        "least_in_plane",   "plane_at",
                                  "product_by_sum",      "window_of_nine",   "window_of_any_radius",
                                  "complex_rotated",     "mandelbrot",       "torus",
                                  "rows_by_number",      "complex_assigned", "table_of_columns",
                                  "view_that_is_closed", "points_passed",    "rows_of_three_passed",
                                  "ring_passed",         "bodies_move",      "cells_by_number",
                                  "samples_copied",      "ends_by_the_host", "end_after_a_step",
                                  "images_of_a_list",    "factored",         "written_in_vain",
                                  "written_and_kept"});
}

// Tables of rows that overlap each other, or rows of other tables: the loops run as written, or the result is the same.
const std::string kTables = R"(#include <cstdio>
#include <cstdlib>
#include <vector>
void relax(double** u, double** rhs, double** out, int n) {
  for (int i = 2; i < n; i++)
    for (int j = 2; j < n; j++)
      out[i][j] = 0.25 * (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - 0.5 * rhs[i][j]);
}
void accumulate(double** a, const double* b, int n) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) a[i][j] = 2 * a[i][j] + b[j];
}
void both(double** u, double** rhs, double** out, const double* b, int n) {
  relax(u, rhs, out, n);
  accumulate(out, b, n);
}
int main() {
  const int n = 150;
  double sum = 0;
  for (int form = 0; form < 7; ++form) {
    std::vector<double> m(4 * 160 * 160);
    for (std::size_t k = 0; k < m.size(); ++k) m[k] = (k * 2654435761u % 1000) / 1000.0;
    std::vector<double*> u(160), r(160), o(160);
    const auto at = [&](int which, int i) { return m.data() + which * 160 * 160 + i * 160; };
    for (int i = 0; i < 160; ++i) {
      u[i] = at(0, i), r[i] = at(1, i), o[i] = at(2, i);
      if (form == 1) o[i] = at(0, i);                    // in place
      if (form == 2) o[i] = at(2, i / 2);                // two names for each row
      if (form == 3) u[i] = m.data() + 480 * i / 3 * 3 / 3, o[i] = u[i] + 160 / 2;  // interleaved
      if (form == 4) o[i] = at(2, 159 - i);              // descending: fine, but not recognized
      if (form == 5) o[i] = at(2, 0) + i * 100;          // rows overlap partly
      if (form == 6) o[i] = i == 80 ? at(0, 40) : at(2, i);  // one row is another table's
    }
    both(u.data(), r.data(), o.data(), form == 5 ? o[70] : m.data(), n);
    double s = 0;
    for (std::size_t k = 0; k < m.size(); ++k) s += m[k] * (k % 97);
    std::printf("%d %.17g\n", form, s);
  }
}
)";

TEST(Placed, TablesWithOverlappingRowsEqualTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder folder;
  const std::string at = folder.path().string() + "/";
  std::ofstream(at + "original.cpp") << kTables;
  ridge::place::Options options;
  options.function = "both";
  options.emit = "openmp";
  const auto report = ridge::place::analyze(at + "original.cpp", options);
  ASSERT_FALSE(report.placed.empty());
  for (const auto& l : report.loops) EXPECT_TRUE(l.placed) << l.id;
  for (const std::string test : {"stacked(", "apart("})
    EXPECT_NE(report.placed.find("placed::" + test), std::string::npos);
  std::size_t written = 0;  // ranges; each loop writes one table, and races of loops this short are rare
  for (std::size_t k = 0; (k = report.placed.find(", true}", k)) != std::string::npos; ++k) ++written;
  EXPECT_EQ(written, 2u);
  std::ofstream(at + "placed.cpp") << report.placed;
  for (const std::string name : {"original", "placed"})
    ASSERT_EQ(command("c++ -O1 -std=c++20 -fopenmp -w -o " + at + name + " " + at + name + ".cpp"), 0) << report.placed;
  ASSERT_EQ(command("PLACED_ALWAYS=1 OMP_NUM_THREADS=8 OMP_WAIT_POLICY=passive OMP_SCHEDULE=dynamic,1 " + at +
                    "placed > " + at + "placed.txt && " + at + "original > " + at + "original.txt && cmp " + at +
                    "placed.txt " + at + "original.txt"),
            0);
}

// C files stay C: as threads, and on a device with a second file in C++.
TEST(Placed, EqualsTheOriginalInC) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  int compared = 0;
  for (const Case& c : cases())
    for (const std::string emit : {"openmp", "ridge"}) {
      const bool few = emit == "openmp" ? c.function == "c_triangle" || c.function == "c_distance" ||
                                              c.function == "c_planes_of_n" || c.function == "c_assigned"
                                        : c.function == "c_words" || c.function == "c_ends_by_the_host";
      if (!c.run || !in_c(c.file) || (!slow() && !few) || (emit == "ridge" && !some_device())) continue;
      if (c.emit == "openmp" && emit != "openmp") continue;  // on threads only
      SCOPED_TRACE(c.function + " " + emit);
      ridge::place::Options options;
      options.function = c.function;
      options.emit = emit;
      const auto report = ridge::place::analyze(c.file, options);
      ASSERT_FALSE(report.placed.empty());
      EXPECT_EQ(report.placed.find("::"), std::string::npos) << "C++ in a C file";
      judge::Options comparison;
      comparison.emit = emit;
      comparison.flags = {"-O0"};
      // Rows of 64 elements: with larger sizes no threads start.
      if (c.function == "c_triangle") comparison.parameters = {{"m", 50}, {"n", 60}};
      if (c.function == "c_product") comparison.parameters = {{"n", 60}};
      const auto outcome = judge::compare(report, text_of(c.file), comparison);
      EXPECT_TRUE(outcome.verified) << outcome.text;
      ++compared;
    }
  EXPECT_GT(compared, 0);
}

// The sanitizer must understand OpenMP's synchronization: clang has archer for that.
TEST(Placed, EqualsTheOriginalAsThreads) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const std::string clang =
      "setarch -R true && command -v clang++-19 > /dev/null && ls /usr/lib/llvm-19/lib/libarcher.so && "
      "echo 'int main() {}' | clang++-19 -fsanitize=thread -x c++ - -o /dev/null";
  if (slow() && command("(" + clang + ") > /dev/null 2>&1") == 0) {
    setenv("OMP_NUM_THREADS", "4", 1);
    setenv("TSAN_OPTIONS", "ignore_noninstrumented_modules=1", 1);
    setenv("OMP_TOOL_LIBRARIES", "/usr/lib/llvm-19/lib/libarcher.so", 1);
    // It must report a real race, and nothing else.
    const ridge::test::ScratchFolder folder;
    const std::string at = folder.path().string() + "/race";
    std::ofstream(at + ".cpp") << R"(int main(int n, char**) {
  static float a[1000];
  for (int k = 0; k < 9; ++k) {
#pragma omp parallel for
    for (int i = 1; i < 1000; ++i) a[i] += n > 1 ? a[i - 1] : 1;
    a[k] = 1;
  }
})";
    ASSERT_EQ(command("clang++-19 -O1 -fopenmp -fsanitize=thread -o " + at + " " + at + ".cpp"), 0);
    EXPECT_EQ(command(at + " > /dev/null 2>&1"), 0);
    EXPECT_NE(command(at + " race > /dev/null 2>&1"), 0);
    compare_cases("openmp", "clang++-19 -fopenmp -fsanitize=thread", {});
  } else {
    compare_cases(
        "openmp", "c++ -fopenmp",
        {"bilateral",        "heat_by_swap",        "span_of_two",     "view_of_parameters", "bodies_move",
         "bodies_of_vector", "bodies_row",          "cells_by_number", "cells_pointed",      "difference_before",
         "rows_by_number",   "complex_rotated",     "torus",           "complex_assigned",   "complex_real_of_user",
         "table_of_columns", "view_that_is_closed", "points_assigned", "named_by_namespace", "written_in_namespace",
         "pixels_stepped",   "image_stepped",       "stepped_back"});
  }
}

#ifdef RIDGE_HAVE_CUDA
// Compiles the output of --emit cuda: its kernels with NVRTC, the whole program with nvcc.
TEST(Placed, CudaProgramsCompile) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!ridge::detail::nvrtc(why)) GTEST_SKIP() << why;
  const auto all =
      place_cases("cuda", slow() ? std::vector<std::string>{}
                                 : std::vector<std::string>{"least_in_plane", "product_by_sum", "window_of_nine"});
  std::string kernels;
  for (const Placed& p : all) {
    const std::string& text = p.report.placed;
    const std::string closes = "}  // namespace " + p.function + "_kernels\n";
    const auto from = text.find("namespace " + p.function + "_kernels {"), to = text.find(closes);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << p.function;
    kernels += text.substr(from, to + closes.size() - from);
  }
  EXPECT_NE(ptx(kernels, "#define INFINITY __int_as_float(0x7f800000)\n").find(".entry"), std::string::npos);
  const char* nvcc = std::filesystem::exists("/usr/local/cuda/bin/nvcc") ? "/usr/local/cuda/bin/nvcc" : "nvcc";
  if (!slow() || command(std::string(nvcc) + " --version > /dev/null 2>&1") != 0) return;
  const ridge::test::ScratchFolder folder;
  const std::string file = folder.path().string() + "/placed.cu";
  std::ofstream(file) << program_of(all, "cuda", true);
  EXPECT_EQ(command(std::string(nvcc) + " -w -std=c++20 -arch=sm_90 -I" + place_test::folder().string() +
                    " -c -o /dev/null " + file),
            0);
}
#endif

TEST(Placed, SequentialExamplesEqualTheOriginals) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!slow()) GTEST_SKIP() << "RIDGE_SLOW=1 runs it";
  if (!some_device()) GTEST_SKIP() << "no OpenCL or CUDA device";
  const std::string examples = std::string(RIDGE_TEST_PLACE) + "/../../examples/sequential/";
  const std::pair<const char*, const char*> all[] = {
      {"simple_flow.cpp", "simple_flow"},       {"variance.cpp", "variance_two_pass"},
      {"variance.cpp", "variance_koenig"},      {"variance.cpp", "variance_online"},
      {"variance.cpp", "variance_pairwise"},    {"variance.cpp", "variance_three_wise"},
      {"matrix_product.cpp", "matrix_product"}, {"jacobi.cpp", "jacobi"},
      {"separable.cpp", "separable"},           {"covariance.cpp", "covariance"}};
  for (const auto& [file, function] : all) {
    SCOPED_TRACE(function);
    ridge::place::Options options;
    options.function = function;
    options.flags = {"-std=c++20"};
    const auto report = ridge::place::analyze(examples + file, options);
    ASSERT_FALSE(report.placed.empty());
    const auto outcome = judge::compare(report, text_of(examples + file), {});
    EXPECT_TRUE(outcome.verified) << outcome.text;
  }
}

// A kernel with dependent iterations gives the original's result if work-items run in order, as on a CPU within one
// group: the comparison must detect it nevertheless.
TEST(Placed, ADependenceBetweenWorkItemsIsDetected) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!some_device()) GTEST_SKIP() << "no OpenCL or CUDA device";
  const ridge::test::ScratchFolder scratch;
  const auto file = scratch.path() / "sums.cpp";
  const std::string before = "void sums(const float* a, float* b, int n) {\n  for (int i = 0; i < n; ++i) b[i] = ",
                    free = "a[i] + 1", bound = "(i > 0 ? b[i - 1] : 0) + a[i]";
  std::ofstream(file) << before + free + ";\n}\n";
  ridge::place::Options options;
  options.function = "sums";
  auto report = ridge::place::analyze(file.string(), options);
  judge::Options comparison;
  comparison.flags = {"-O0"};
  EXPECT_TRUE(judge::compare(report, before + free + ";\n}\n", comparison).verified);
  const auto at = report.placed.find(free, report.placed.find("R\"kernels("));
  ASSERT_NE(at, std::string::npos);
  report.placed.replace(at, free.size(), bound);
  const auto outcome = judge::compare(report, before + bound + ";\n}\n", comparison);
  EXPECT_TRUE(outcome.compared);
  EXPECT_FALSE(outcome.verified) << outcome.text;
}

// The same for threads: the comparison detects it by reordering the iterations, independently of the scheduling.
TEST(Placed, ADependenceBetweenThreadsIsDetected) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder scratch;
  const auto file = scratch.path() / "sums.cpp";
  const std::string before = "void sums(const float* a, float* b, int n) {\n  for (int i = 0; i < n; ++i) b[i] = ",
                    free = "a[i] + 1", bound = "(i > 0 ? b[i - 1] : 0) + a[i]";
  std::ofstream(file) << before + free + ";\n}\n";
  ridge::place::Options options;
  options.function = "sums";
  options.emit = "openmp";
  auto report = ridge::place::analyze(file.string(), options);
  judge::Options comparison;
  comparison.emit = "openmp";
  comparison.flags = {"-O0"};
  const auto good = judge::compare(report, before + free + ";\n}\n", comparison);
  EXPECT_TRUE(good.verified) << good.text;
  EXPECT_EQ(good.runs, 9);
  for (std::string* text : {&report.placed, &report.permuted}) {
    ASSERT_NE(text->find(free), std::string::npos) << *text;
    for (auto at = text->find(free); at != std::string::npos; at = text->find(free))
      text->replace(at, free.size(), bound);
  }
  const auto pragma = report.placed.find("#pragma omp parallel for");  // one thread: source order
  ASSERT_NE(pragma, std::string::npos);
  report.placed.insert(report.placed.find("schedule(", pragma), "num_threads(1) ");
  const auto outcome = judge::compare(report, before + bound + ";\n}\n", comparison);
  EXPECT_TRUE(outcome.compared);
  EXPECT_FALSE(outcome.verified) << outcome.text;
  EXPECT_NE(outcome.text.find("iterations in another order"), std::string::npos) << outcome.text;
}

// Sums are added in blocks that do not depend on the number of threads: every run gives the same bits.
TEST(Placed, SumsAreTheSameInEveryRun) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder scratch;
  const auto file = scratch.path() / "norm.cpp";
  const std::string text =
      "float norm(const float* a, int n, int m) {\n  float s = 0, p = 1;\n  int c = 0;\n"
      "  for (int i = n - 1; i >= 0; i -= 2) {\n    if (a[i] < 0) continue;\n"
      "    for (int j = 0; j < m; ++j) s += a[i * m + j] * a[i * m + j];\n    p *= 1 + 0.001f * a[i];\n    ++c;\n  }\n"
      "  return s * p + c;\n}\n";
  std::ofstream(file) << text;
  ridge::place::Options options;
  options.function = "norm";
  options.emit = "openmp";
  const auto report = ridge::place::analyze(file.string(), options);
  EXPECT_FALSE(report.varies);
  EXPECT_EQ(report.placed.find("reduction(+:s)"), std::string::npos) << report.placed;
  EXPECT_NE(report.placed.find("reduction(+:c)"), std::string::npos) << report.placed;
  judge::Options comparison;
  comparison.emit = "openmp";
  comparison.parameters = {{"n", 1501}, {"m", 1601}};
  const auto outcome = judge::compare(report, text, comparison);
  EXPECT_TRUE(outcome.verified) << outcome.text;
  EXPECT_EQ(outcome.varies, 0);
  EXPECT_EQ(outcome.runs, 9);
}

// Arrays larger than the device's memory: strips of the outermost loop with the rows around them, also if the range of
// the inner loop depends on it and rows are written from the last to the first. Sums have no strips.
TEST(Placed, StripsEqualTheOriginal) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!some_device()) GTEST_SKIP() << "no OpenCL or CUDA device";
  const ridge::test::ScratchFolder scratch;
  const auto file = scratch.path() / "large.cpp";
  const std::string text = R"(#include <vector>
void large(const float* a, float* b, std::vector<float>& c, int h, int w) {
  for (int y = 2; y < h - 2; ++y)
    for (int x = 0; x < w; ++x) b[y * w + x] += a[(y - 2) * w + x] * c[x] + a[(y + 2) * w + x];
  for (int y = 0; y < h; ++y)
    for (int x = 0; x <= y && x < w; ++x) b[(h - 1 - y) * w + x] *= 0.5f;
}
float total(const float* a, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i];
  return sum;
}
)";
  std::ofstream(file) << text;
  ridge::place::Options options;
  options.function = "total";
  options.flags = {"-std=c++20"};
  options.memories.strips = true;
  EXPECT_EQ(ridge::place::analyze(file.string(), options).placed.find("_strip("), std::string::npos);
  options.function = "large";
  auto report = ridge::place::analyze(file.string(), options);
  EXPECT_NE(report.placed.find("void large_l1_strip("), std::string::npos) << report.placed;
  EXPECT_NE(report.placed.find("void large_l3_strip("), std::string::npos) << report.placed;
  judge::Options comparison;
  comparison.flags = {"-O0"};
  comparison.parameters = {{"h", 499}, {"w", 149}};
  const auto outcome = judge::compare(report, text, comparison);
  EXPECT_TRUE(outcome.verified) << outcome.text;
  const std::string moved = "b = b_part - b_first";
  const auto at = report.placed.find(moved);
  ASSERT_NE(at, std::string::npos);
  report.placed.replace(at, moved.size(), "b = b_part");
  const auto wrong = judge::compare(report, text, comparison);
  EXPECT_TRUE(wrong.compared);
  EXPECT_FALSE(wrong.verified) << wrong.text;
}

// The report must quote the linker's error, not the compiler's summary of it.
TEST(Placed, AnUndefinedSymbolIsNamed) {
  const ridge::test::ScratchFolder scratch;
  const auto log = scratch.path() / "log";
  std::ofstream(log) << "/usr/bin/ld: /tmp/a.o: in function `main':\na.cpp:(.text+0x5): undefined reference to "
                        "`missing(int)'\ncollect2: error: ld returned 1 exit status\n";
  EXPECT_NE(judge::first_lines(log).find("missing(int)"), std::string::npos) << judge::first_lines(log);
  std::ofstream(log) << "a.cpp:1:1: warning: x\na.cpp:2:5: error: 'y' was not declared\n";
  EXPECT_EQ(judge::first_lines(log), "a.cpp:2:5: error: 'y' was not declared");
}

TEST(Placed, ADifferenceIsDetected) {
  using judge::Array;
  const auto array = [](float x, float y) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &x, 4);
    std::memcpy(bytes.data() + 4, &y, 4);
    return std::vector<Array>{{"a", "float", bytes}};
  };
  std::string where;
  using judge::difference;
  EXPECT_EQ(difference(array(1, 2), array(1, 2), true, where), 0);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), array(1, 2.0001f), true, where)));
  EXPECT_NEAR(difference(array(1, 2), array(1, 2.002f), false, where), 0.001, 1e-5);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), array(1, NAN), false, where)));
  EXPECT_EQ(difference(array(1, NAN), array(1, NAN), false, where), 0);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), {}, false, where)));
}

}  // namespace

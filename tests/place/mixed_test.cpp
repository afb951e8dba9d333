// Programs for a device whose other loops run on threads of the host, and functions called with a session of the
// caller.
#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "programs.hpp"
#include "support/scratch.hpp"

namespace {

using namespace place_test;
namespace judge = ridge::place::judge;

// A source in a scratch folder, placed with these options and compared with its original.
class Subject {
 public:
  Subject(const std::string& text, ridge::place::Options options)
      : text_(text), file_(folder_.path() / "subject.cpp"), options_(std::move(options)) {
    std::ofstream(file_) << text_;
    options_.flags = {"-std=c++17"};  // older than Ridgeline's headers
    report = ridge::place::analyze(file_.string(), options_);
  }
  judge::Outcome compare() const {
    judge::Options comparison;
    comparison.flags = {"-O0", "-std=c++17"};
    comparison.threads = options_.threads;
    comparison.session = options_.session;
    return judge::compare(report, text_, comparison);
  }
  const ridge::place::LoopVerdict& loop(const std::string& id) const {
    for (const auto& l : report.loops)
      if (l.id == id) return l;
    throw std::runtime_error("no loop " + id);
  }
  ridge::place::Report report{};

 private:
  std::string text_;
  ridge::test::ScratchFolder folder_{};
  std::filesystem::path file_;
  ridge::place::Options options_;
};

bool can_run(std::string& why) {
  if (!available(why)) return false;
  for (const auto& d : ridge::devices().devices)
    if (!d.is_host()) return true;
  why = "no OpenCL or CUDA device";
  return false;
}

constexpr const char* kAssertion = R"(#include <cassert>
static void add(const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    assert(n > 0);
    c[i] += b[i];
  }
}
void blend(const float* a, float* b, float* c, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) b[y * w + x] = 0.5f * a[y * w + x] + 1;
  for (int y = 0; y < h; ++y) {
    assert(w > 0);
    for (int x = 0; x < w; ++x) c[y * w + x] += b[y * w + x];
  }
  add(b, c, h * w);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) b[y * w + x] += 3 * c[y * w + x];
}
)";

// The loops with an assertion cannot be kernels. Its inner loop could be one, but would be launched once per row.
TEST(PlacedThreads, LoopsOfTheHostRunOnThreads) {
  std::string why;
  if (!can_run(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.function = "blend";
  options.threads = true;
  Subject subject(kAssertion, options);
  EXPECT_GE(subject.loop("l1").axis, 0);
  EXPECT_GE(subject.loop("l5").axis, 0);
  EXPECT_TRUE(subject.loop("l3").threads);
  EXPECT_FALSE(subject.loop("l4").placed);
  EXPECT_TRUE(subject.loop("add.l1").threads);
  EXPECT_EQ(subject.report.kernels.size(), 2U);
  const auto outcome = subject.compare();
  EXPECT_TRUE(outcome.verified) << outcome.text;
  EXPECT_EQ(outcome.runs, 9);
}

// The runs without the device must notice a fault in the threads of a nest that is also a kernel.
TEST(PlacedThreads, AFaultInTheThreadsOfAKernelIsSeen) {
  std::string why;
  if (!can_run(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.function = "blend";
  options.threads = true;
  Subject subject(kAssertion, options);
  const auto pragma =
      subject.report.placed.find("#pragma omp parallel for", subject.report.placed.find("blend_l1_threads"));
  const auto at = subject.report.placed.find("0.5f * a", subject.report.placed.find("on_device.takes(\"blend_l1\")"));
  ASSERT_NE(pragma, std::string::npos);
  ASSERT_NE(at, std::string::npos) << subject.report.placed;
  subject.report.placed.replace(at, 4, "0.6f");
  const auto outcome = subject.compare();
  EXPECT_TRUE(outcome.compared);
  EXPECT_FALSE(outcome.verified) << outcome.text;
  EXPECT_NE(outcome.text.find("with "), std::string::npos) << outcome.text;
}

// The overlap of an array of unknown extent cannot be tested: only a claim puts the loop on threads.
TEST(PlacedThreads, AClaimExcludesOverlap) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.function = "take";
  options.emit = "openmp";
  const std::string head = "void take(const float* in, const int* at, float* out, int n) {\n",
                    loop = "  for (int i = 0; i < n; ++i) out[i] = 2 * in[at[i]];\n}\n";
  const Subject without(head + loop, options), with(head + "#pragma omp parallel for\n" + loop, options);
  EXPECT_TRUE(without.loop("l1").parallel);
  EXPECT_TRUE(without.report.placed.empty());
  EXPECT_FALSE(with.report.placed.empty());
  EXPECT_NE(with.loop("l1").claim.find("unknown extent"), std::string::npos) << with.loop("l1").claim;
}

// Reads first an element that the call before has left on the device.
constexpr const char* kSteps = R"(#include <vector>
namespace flow {
float step(std::vector<float>& a, std::vector<float>& b, int n) {
  const float first = a[1];
  for (int i = 0; i < n; ++i) b[i] = 0.5f * a[i] + first;
  for (int i = 1; i < n - 1; ++i) a[i] = b[i - 1] + b[i + 1];
  return first;
}
}  // namespace flow
)";

// A returned reference lets the caller write: the array must be on the host.
TEST(PlacedSession, AReturnedReferenceBringsDataToTheHost) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.function = "top";
  const Subject number("float top(float* a, int n) {\n  for (int i = 0; i < n; ++i) a[i] *= 2;\n  return 1;\n}\n",
                       options);
  const Subject reference(
      "float& top(float* a, int n) {\n  for (int i = 0; i < n; ++i) a[i] *= 2;\n  return a[1];\n}\n", options);
  const std::string taken = "on_device.host_takes_over();\n  return";
  EXPECT_EQ(number.report.placed.find(taken), std::string::npos) << number.report.placed;
  EXPECT_NE(reference.report.placed.find(taken), std::string::npos) << reference.report.placed;
}

TEST(PlacedSession, DataStayOnTheDeviceBetweenCalls) {
  std::string why;
  if (!can_run(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.function = "flow::step";
  options.session = true;
  Subject subject(kSteps, options);
  EXPECT_NE(
      subject.report.header.find("namespace flow {\nfloat step(placed::Session& on_device, std::vector<float>& a"),
      std::string::npos)
      << subject.report.header;
  const auto outcome = subject.compare();
  EXPECT_TRUE(outcome.verified) << outcome.text;
  auto& text = subject.report.placed;
  const auto at = text.find("on_device.host_reads(a.data()");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, text.find(';', at) - at, "(void)0");
  const auto wrong = subject.compare();
  EXPECT_TRUE(wrong.compared);
  EXPECT_FALSE(wrong.verified) << wrong.text;
}

}  // namespace

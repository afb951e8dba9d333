// Placed programs against their originals, on the device of this machine and as threads.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "cases.hpp"
#include "place/judge/judge.hpp"

namespace {

using namespace place_test;

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

void compare_all(const std::string& emit, const std::vector<std::string>& names) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  bool device = false;
  for (const auto& d : ridge::devices().devices) device |= !d.is_host();
  if (!device && emit == "ridge") GTEST_SKIP() << "no OpenCL or CUDA device";
  int compared = 0;
  for (const Case& c : cases()) {
    if (!c.run) continue;
    if (!names.empty() && std::find(names.begin(), names.end(), c.function) == names.end()) continue;
    SCOPED_TRACE(c.function);
    ridge::place::Options options;
    options.function = c.function;
    options.emit = emit;
    options.flags = {"-std=c++20"};
    const auto report = ridge::place::analyze(c.file, options);
    ASSERT_TRUE(report.errors.empty()) << report.errors[0];
    if (report.placed.empty() && emit == "openmp") continue;  // an extreme with its place has no clause
    ASSERT_FALSE(report.placed.empty());
    ridge::place::judge::Wishes wishes;
    wishes.flags = options.flags;
    wishes.emit = emit;
    const auto outcome = ridge::place::judge::compare(report, text_of(c.file), wishes);
    EXPECT_TRUE(outcome.verified) << outcome.text;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

const std::vector<std::string> kFew{"heat_by_swap", "least_in_plane", "scratch_of_any_length"};
bool slow() { return std::getenv("RIDGE_SLOW") != nullptr; }

TEST(Placed, EqualsTheOriginal) { compare_all("ridge", slow() ? std::vector<std::string>{} : kFew); }
TEST(Placed, EqualsTheOriginalAsThreads) {
  compare_all("openmp", slow() ? std::vector<std::string>{} : std::vector<std::string>{"bilateral"});
}

TEST(Placed, SequentialExamplesEqualTheOriginals) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  if (!slow()) GTEST_SKIP() << "RIDGE_SLOW=1 runs it";
  bool device = false;
  for (const auto& d : ridge::devices().devices) device |= !d.is_host();
  if (!device) GTEST_SKIP() << "no OpenCL or CUDA device";
  const std::string examples = std::string(RIDGE_TEST_PLACE) + "/../../examples/sequential/";
  const std::pair<const char*, const char*> all[] = {
      {"simple_flow.cpp", "simple_flow"},    {"variance.cpp", "variance_two_pass"},
      {"variance.cpp", "variance_koenig"},   {"variance.cpp", "variance_online"},
      {"variance.cpp", "variance_pairwise"}, {"variance.cpp", "variance_three_wise"}};
  for (const auto& [file, function] : all) {
    SCOPED_TRACE(function);
    ridge::place::Options options;
    options.function = function;
    options.flags = {"-std=c++20"};
    const auto report = ridge::place::analyze(examples + file, options);
    ASSERT_FALSE(report.placed.empty());
    const auto outcome = ridge::place::judge::compare(report, text_of(examples + file), {});
    EXPECT_TRUE(outcome.verified) << outcome.text;
  }
}

TEST(Placed, ADifferenceIsSeen) {
  using ridge::place::judge::Array;
  const auto array = [](float x, float y) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &x, 4);
    std::memcpy(bytes.data() + 4, &y, 4);
    return std::vector<Array>{{"a", "float", bytes}};
  };
  std::string where;
  using ridge::place::judge::difference;
  EXPECT_EQ(difference(array(1, 2), array(1, 2), true, where), 0);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), array(1, 2.0001f), true, where)));
  EXPECT_NEAR(difference(array(1, 2), array(1, 2.002f), false, where), 0.001, 1e-5);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), array(1, NAN), false, where)));
  EXPECT_EQ(difference(array(1, NAN), array(1, NAN), false, where), 0);
  EXPECT_TRUE(std::isinf(difference(array(1, 2), {}, false, where)));
}

}  // namespace

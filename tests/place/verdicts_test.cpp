// Every function of the corpus must get the verdicts given above it, and its kernels must compile.
#include <set>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "cuda_text.hpp"
#include "support/scratch.hpp"

namespace {

using namespace place_test;

int occurrences(const std::string& text, const std::string& word) {
  int n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// Compiles all kernels with NVRTC, as the device layer does.
void compile_as_cuda([[maybe_unused]] const std::map<std::string, ridge::place::Report>& reports) {
#ifdef RIDGE_HAVE_CUDA
  std::string why, text;
  if (!ridge::detail::nvrtc(why)) return;
  int kernels = 0;
  for (const auto& [file, report] : reports)
    for (const auto& k : report.kernels)
      text += "namespace kernel_" + std::to_string(kernels++) + " {\n" + k.text + "}\n";
  EXPECT_GE(kernels, 50);
  EXPECT_NE(text.find("_tile["), std::string::npos);
  EXPECT_NE(text.find("CONSTANT float*"), std::string::npos);
  EXPECT_GE(occurrences(text, "_strip("), 50);
  EXPECT_EQ(occurrences(ptx(text, ridge::detail::cuda_prelude()), ".entry"), kernels + occurrences(text, "_strip("));
#endif
}

// Analyzed once, with tiles and strips, which change no verdict.
TEST(Verdicts, TheCorpusHasItsVerdicts) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  std::map<std::string, ridge::place::Report> reports;
  int checked = 0;
  for (const Case& c : cases()) {
    if (reports.count(c.file) == 0) {
      ridge::place::Options options;  // no name: every function of the file
      options.flags = {in_c(c.file) ? "-std=c17" : "-std=c++20"};
      options.memories.tiles = "always";
      options.memories.strips = true;
      reports[c.file] = ridge::place::analyze(c.file, options);
      ASSERT_TRUE(reports[c.file].errors.empty()) << reports[c.file].errors[0];
    }
    const auto& report = reports[c.file];
    SCOPED_TRACE(c.function);
    for (const auto& [loop, expected] : c.loops) {
      bool found = false;
      for (const auto& l : report.loops)
        if (l.id == c.shown + "." + loop || l.id == loop) {
          found = true;
          EXPECT_TRUE(agrees(expected, verdict(l)))
              << loop << " is " << verdict(l) << ", not " << expected << ": " << l.why;
          EXPECT_TRUE(l.parallel || !l.why.empty()) << loop << " is sequential and does not say why";
        }
      EXPECT_TRUE(found) << "no loop " << loop;
    }
    int kernels = 0;
    for (const auto& k : report.kernels) kernels += k.loops[0].rfind(c.shown + ".", 0) == 0;
    EXPECT_TRUE(kernels == c.kernels || c.function == "whole_tree") << kernels << " kernels, not " << c.kernels;
    if (!c.says.empty()) {
      bool said = false;
      for (const auto& d : report.diagnostics) said |= d.text.find(c.says) != std::string::npos && d.line > 0;
      for (const auto& l : report.loops) said |= l.function == c.shown && l.why.find(c.says) != std::string::npos;
      for (const auto& a : report.assumptions) said |= a.find(c.says) != std::string::npos;
      EXPECT_TRUE(said) << "nobody says \"" << c.says << "\"";
    }
    ++checked;
  }
  EXPECT_GE(checked, 80);
  compile_as_cuda(reports);
}

// Legal transformations are applied; illegal ones are refused with the dependence that forbids them.
TEST(Verdicts, OfTheTransformations) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  std::set<std::string> legal, illegal;
  for (const Case& c : cases()) {
    if (c.by.empty() && c.not_by.empty() && c.without.empty()) continue;
    legal.insert(c.by);
    illegal.insert(c.not_by);
    illegal.insert(c.without);
    SCOPED_TRACE(c.function);
    ridge::place::Options options;
    options.function = c.function;
    options.emit = c.emit;
    const auto report = ridge::place::analyze(c.file, options);
    ASSERT_TRUE(report.errors.empty()) << report.errors[0];
    std::string taken, tried;
    for (const auto& l : report.loops) {
      for (const std::string& t : l.transformed) taken += t + "\n";
      for (const std::string& t : l.tried) tried += t + "\n";
    }
    EXPECT_TRUE(c.by.empty() || taken.find(c.by) != std::string::npos) << "taken: " << taken << "tried: " << tried;
    if (!c.not_by.empty()) {
      EXPECT_EQ(taken.find(c.not_by), std::string::npos) << taken;
      EXPECT_NE(tried.find(c.not_by), std::string::npos) << tried;
      EXPECT_NE(tried.find("reversed"), std::string::npos) << tried;
    }
    EXPECT_TRUE(c.without.empty() || taken.find(c.without) == std::string::npos) << taken;
    EXPECT_EQ(report.placed.empty(), report.kernels.empty());
  }
  for (const char* each :
       {"fusion", "fission", "coalescing", "index-set", "strip", "tiling", "interchange", "unrolling", "skewing",
        "expansion", "dead-write", "lanes", "rescheduling", "last", "wrap-around"}) {
    EXPECT_EQ(legal.count(each), 1u) << each;
    EXPECT_EQ(illegal.count(each), 1u) << each;
  }
}

// A template is read as its instantiations, with the line numbers of the user's file.
TEST(Verdicts, OfTemplates) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const std::string file = (folder() / "transformed.cpp").string();
  ridge::place::Options options;
  options.function = "template_with_loops";
  const auto report = ridge::place::analyze(file, options);
  ASSERT_TRUE(report.errors.empty()) << report.errors[0];
  EXPECT_EQ(report.kernels.size(), 2u);
  ASSERT_EQ(report.loops.size(), 4u);
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (const auto& l : report.loops)
    EXPECT_NE(lines[static_cast<std::size_t>(l.line) - 1].find("for (int"), std::string::npos) << l.id << " " << l.line;
  EXPECT_NE(report.placed.find("blended_double_2_placed("), std::string::npos);
  options.function = "blended";
  EXPECT_NE(ridge::place::analyze(file, options).errors.at(0).find("is a template"), std::string::npos);
}

// Arrays that get a tile in local memory or constant memory with --tiles always; none on a device without them.
TEST(Verdicts, OfTheWindows) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const std::string file = (folder() / "windows.cpp").string();
  ridge::place::Options options;
  options.memories.tiles = "always";
  const auto always = ridge::place::analyze(file, options);
  options.memories.tiles = "never";
  options.memories.constant = false;
  const auto never = ridge::place::analyze(file, options);
  int checked = 0;
  for (const Case& c : cases()) {
    if (c.tiles < 0) continue;
    SCOPED_TRACE(c.function);
    const auto text = [&](const ridge::place::Report& report) {
      std::string all;
      for (const auto& k : report.kernels)
        if (k.name == c.shown + "_l1") all += k.text;
      return all;
    };
    EXPECT_EQ(occurrences(text(always), "LOCAL_ARRAY("), c.tiles) << text(always);
    EXPECT_EQ(occurrences(text(always), "in local memory"), c.tiles) << text(always);
    if (c.constants >= 0) {
      EXPECT_EQ(occurrences(text(always), "CONSTANT "), c.constants) << text(always);
    }
    EXPECT_EQ(occurrences(text(never), "LOCAL_ARRAY("), 0);
    EXPECT_EQ(occurrences(text(never), "CONSTANT "), 0);
    ++checked;
  }
  EXPECT_GE(checked, 8);
  // By the cost model, nine reads of 1.5 elements per work-item pay, six reads of a volume's 2.4 elements do not, and
  // slow local memory never pays.
  options.memories = {};
  const auto kernel = [&](const std::string& name) {
    for (const auto& k : ridge::place::analyze(file, options).kernels)
      if (k.name == name) return k.text;
    return std::string();
  };
  EXPECT_EQ(occurrences(kernel("window_with_weights_l1"), "LOCAL_ARRAY("), 1);
  // A tile holds the elements of the group and their neighbours, and no more: 8 x 32 items with a border of one.
  EXPECT_NE(kernel("window_of_nine_l1").find("LOCAL_ARRAY(float, in_tile, 340)"), std::string::npos);
  EXPECT_EQ(occurrences(kernel("window_in_a_volume_l1"), "LOCAL_ARRAY("), 0);
  options.memories.local = 0.3;
  EXPECT_EQ(occurrences(kernel("window_with_weights_l1"), "LOCAL_ARRAY("), 0);
  options.memories.local = 1;
  options.memories.local_bytes = 1024;  // too small for a tile
  EXPECT_EQ(occurrences(kernel("window_with_weights_l1"), "LOCAL_ARRAY("), 0);
}

TEST(Verdicts, OfTheSequentialExamples) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  ridge::place::Options options;
  options.flags = {"-std=c++20"};
  const std::string examples = std::string(RIDGE_TEST_PLACE) + "/../../examples/sequential/";
  const auto flow = ridge::place::analyze(examples + "simple_flow.cpp", options);
  ASSERT_TRUE(flow.errors.empty());
  std::set<std::string> placed;
  for (const auto& k : flow.kernels) placed.insert(k.loops[0].substr(0, k.loops[0].find('.')));
  // Search, filter, irregularity and occlusion are placed; selection and extrapolation carry a dependence on done[].
  for (const char* name : {"search", "cross_bilateral", "irregularity", "occlusions", "upscale"})
    EXPECT_EQ(placed.count(name), 1u) << name;
  for (const char* name : {"select_points", "extrapolate"}) EXPECT_EQ(placed.count(name), 0u) << name;
  for (const auto& l : flow.loops)
    if (l.id == "select_points.l1" || l.id == "extrapolate.l1") {
      EXPECT_FALSE(l.parallel);
      bool done = false;
      for (const auto& d : l.dependences) done |= d.variable == "done";
      EXPECT_TRUE(done) << l.id << ": " << l.why;
    }
  const auto variance = ridge::place::analyze(examples + "variance.cpp", options);
  ASSERT_TRUE(variance.errors.empty());
  placed.clear();
  for (const auto& k : variance.kernels) placed.insert(k.loops[0].substr(0, k.loops[0].find('.')));
  for (const char* name :
       {"variance_two_pass", "variance_koenig", "variance_online", "variance_pairwise", "variance_three_wise"})
    EXPECT_EQ(placed.count(name), 1u) << name;
}

// A library function without a body is refused, with a model it is read, and an error in the models has their line.
TEST(Verdicts, OfModelsOfALibrary) {
  std::string why;
  if (!available(why)) GTEST_SKIP() << why;
  const ridge::test::ScratchFolder scratch;
  const std::string file = (scratch.path() / "uses.cpp").string();
  std::ofstream(file) << "namespace mylib { float damp(float x, float by); }\n"
                         "void all(const float* in, float* out, int n) {\n"
                         "  for (int i = 0; i < n; ++i) out[i] = mylib::damp(in[i], 0.5f);\n}\n";
  ridge::place::Options options;
  const auto without = ridge::place::analyze(file, options);
  ASSERT_EQ(without.loops.size(), 1u);
  EXPECT_FALSE(without.loops[0].parallel);
  options.models =
      "namespace ridge_models::mylib {\ninline float damp(float x, float by) { return x > 0 ? x * by : 0; }\n}\n";
  const auto with = ridge::place::analyze(file, options);
  ASSERT_EQ(with.loops.size(), 1u);
  EXPECT_TRUE(with.loops[0].parallel) << with.loops[0].why;
  EXPECT_EQ(with.kernels.size(), 1u);
  options.models = "namespace ridge_models {\noops\n}\n";
  const auto broken = ridge::place::analyze(file, options);
  ASSERT_FALSE(broken.errors.empty());
  EXPECT_EQ(broken.errors[0].rfind("--models:", 0), 0u) << broken.errors[0];
}

}  // namespace

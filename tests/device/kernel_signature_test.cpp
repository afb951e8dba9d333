// Parameter counts parsed from kernel text.
#include "device/kernel_text.hpp"

#include <gtest/gtest.h>

namespace ridge::detail {
namespace {

std::optional<std::size_t> count(const std::string& text, const std::string& kernel = "run",
                                 std::vector<std::pair<std::string, std::string>> defines = {}) {
  return parameter_count({.name = "t", .text = text, .defines = std::move(defines)}, kernel);
}

TEST(KernelSignature, CountsParameters) {
  EXPECT_EQ(count("KERNEL void run() {}"), 0u);
  EXPECT_EQ(count("KERNEL void run(void) {}"), 0u);
  EXPECT_EQ(count("KERNEL WORK_GROUP(8, 1, 1) void run(GLOBAL const float* RESTRICT in,\n  ulong n)\n{}"), 2u);
  EXPECT_EQ(count("KERNEL WORK_GROUP_RESIDENT(A * B, 1, 1, 2) CLUSTER(2) void run (\n uint a, uint b, uint c) {}"), 3u);
  EXPECT_EQ(count("KERNEL void run(GLOBAL float* a, TILE_MAP(in_map), TILE_MAP(out_map)) {}"), 5u);
}

TEST(KernelSignature, IgnoresCommentsAndOtherFunctions) {
  const std::string text =
      "// KERNEL void run(int a, int b, int c)\n"
      "/* KERNEL void run(int a) */\n"
      "FUNCTION void run_part(int a) { f(a, a); }\n"
      "FUNCTION void rerun(int a, int b, int c, int d) {}\n"
      "KERNEL void run(GLOBAL int* a, int /* the second, with a comma */ b) { run_part(1); }\n"
      "KERNEL void other(GLOBAL int* a) { int run = 3; }\n";
  EXPECT_EQ(count(text), 2u);
  EXPECT_EQ(count(text, "other"), 1u);
  EXPECT_EQ(count(text, "none"), std::nullopt);
  EXPECT_EQ(count(text, "run_part"), std::nullopt);
}

TEST(KernelSignature, HasNoCountForAmbiguousTexts) {
  EXPECT_EQ(count("KERNEL void run(ARGUMENTS(int)) {}"), std::nullopt);
  EXPECT_EQ(count("KERNEL void run(int a\n#if B\n, int b\n#endif\n) {}"), std::nullopt);
  EXPECT_EQ(count("KERNEL void run(MORE int a) {}", "run", {{"MORE", "int b,"}}), std::nullopt);
  EXPECT_EQ(count("KERNEL void run(CELL* a) {}", "run", {{"CELL", "float"}}), 1u);
  EXPECT_EQ(count("#if A\nKERNEL void run(int a) {}\n#else\nKERNEL void run(int a, int b) {}\n#endif"), std::nullopt);
  EXPECT_EQ(count("#if A\nKERNEL void run(int a) {}\n#else\nKERNEL void run(long a) {}\n#endif"), 1u);
  EXPECT_EQ(count("KERNEL void run(int a"), std::nullopt);
  EXPECT_EQ(count(""), std::nullopt);
}

}  // namespace
}  // namespace ridge::detail

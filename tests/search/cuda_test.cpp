// Compiles the search's kernels by NVRTC; needs the library, but no driver and no GPU.
#ifdef RIDGE_HAVE_CUDA
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <ridge/device.hpp>

#include "codegen/text.hpp"
#include "device/cuda/compiler.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/dialect.hpp"
#include "device/kernel_text.hpp"
#include "search/device/byte_beams.hpp"
#include "search/device/coherent.hpp"
#include "search/device/pulses.hpp"

namespace ridge::detail {
namespace {

// A pass of a tree, from pairs of 16 bits.
KernelSource tree_source(const char* radix, const char* out) {
  const bool last = std::string_view(out) == "float";
  return {.name = fmt::format("tree of radix {} to {}", radix, out),
          .text = kernel_text("search/tree"),
          .defines = {{"RADIX", radix},
                      {"TIMES", "512"},
                      {"ITEMS_IN_GROUP", "512"},
                      {"TILE_WORDS", "28160"},
                      {"ALIGNED", "1"},
                      {"IN_BYTES", "2"},
                      {"OUT_BYTES", last ? "4" : "2"},
                      {"OUT_PAIRS", "1"},
                      {"OUT_PAIR", fmt::format("{}2", out)},
                      {"MAKE_PAIR", fmt::format("make_{}2", out)},
                      {"IN", "ushort"},
                      {"OUT", out}}};
}

KernelSource matrix_source() {
  return {.name = "brute force on the matrix units",
          .text = codegen::matrix_macros_text(256) + kernel_text("search/brute_force_matrix"),
          .defines = {{"WARPS", "8"}, {"TILES", "16"}, {"STAGE", "16"}, {"RESIDENT", "1"}, {"DELAY_RANGE", "64"}}};
}

KernelSource float16_beams() {
  return search::ByteBeams::source({.stations = 64, .beams = 512, .polarizations = 1, .times = 1024, .float16 = true});
}

TEST(SearchKernels, CompileForCuda) {
  std::string why_not;
  const Nvrtc* compiler = nvrtc(why_not);
  if (compiler == nullptr) GTEST_SKIP() << why_not;
  std::vector<KernelSource> sources{{.name = "brute force",
                                     .text = kernel_text("search/brute_force"),
                                     .defines = {{"WARPS", "16"},
                                                 {"TRIALS_EACH", "4"},
                                                 {"WORDS", "4"},
                                                 {"STAGE", "16"},
                                                 {"DELAY_RANGE", "64"},
                                                 {"WIDE_IN_LOCAL", "1"}}},
                                    tree_source("16", "float"),
                                    tree_source("16", "ushort"),
                                    {.name = "fourier",
                                     .text = kernel_text("search/fourier"),
                                     .defines = {{"TAPS", "6"}, {"STEPS", "1024"}, {"POSITION_BITS", "40"}}},
                                    {.name = "beams",
                                     .text = kernel_text("search/beams"),
                                     .defines = {{"ITEMS_IN_GROUP", "64"}, {"STATIONS_AT_ONCE", "512"}}}};
  for (const std::size_t widest : {32, 256}) sources.push_back(search::DevicePulses::source(widest));
  sources.push_back(search::ByteBeams::source({.stations = 64, .beams = 512, .times = 1024}));
  sources.push_back(float16_beams());
  for (const KernelSource& source : sources) {
    int first_line = 0;
    const CudaTarget target{"compute_90"};
    const std::string code = compile_cuda(*compiler, source, assemble(cuda_prelude(), source, first_line), target,
                                          cuda_options(target, source.relaxed_math))
                                 .code;
    EXPECT_NE(code.find(".entry"), std::string::npos) << source.name;
  }
}

// Sums and points stay in registers.
TEST(SearchKernels, ProductsAndTransformsSpillNothing) {
  if (!nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  std::vector<KernelResources> all = resources_for(matrix_source(), "sm_90");
  for (const std::size_t points : {4096, 65536}) {
    std::ranges::copy(resources_for(search::DeviceCoherent::fused_source(points, true), "sm_90"),
                      std::back_inserter(all));
  }
  EXPECT_EQ(all.size(), 3U);
  for (const KernelResources& one : all) EXPECT_EQ(one.spilled_bytes, 0) << one.kernel;
}

// Weights, sums and powers stay in registers, and 16 warps fit a compute unit; 32 warps of a tree.
TEST(SearchKernels, BeamsAndBoxcarsSpillNothing) {
  if (!nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  std::vector<KernelResources> all =
      resources_for(search::ByteBeams::source({.stations = 64, .beams = 512, .times = 1024}), "sm_90");
  std::ranges::copy(resources_for(search::DevicePulses::source(32), "sm_90"), std::back_inserter(all));
  for (const KernelResources& one : resources_for(float16_beams(), "sm_90"))  // 8 warps
    EXPECT_LE(one.spilled_bytes, one.kernel == "power_bytes" ? 16 : 0) << one.kernel << " of 16-bit floats";
  for (const char* out : {"ushort", "float"}) {
    for (const KernelResources& one : resources_for(tree_source("16", out), "sm_90")) {
      EXPECT_EQ(one.spilled_bytes, 0) << out;
      EXPECT_LE(one.registers, 64) << out;
    }
  }
  for (const bool float16 : {false, true}) {
    const search::ByteBeamProblem p{
        .stations = 64, .beams = 512, .polarizations = float16 ? 1U : 2U, .times = 1024, .float16 = float16};
    std::ranges::copy(resources_for(search::ByteBeams::warp_group_source(p), "sm_90a"), std::back_inserter(all));
  }
  for (const KernelResources& one : all) {
    EXPECT_LE(one.spilled_bytes, one.kernel == "power_bytes" ? 16 : 0) << one.kernel;
    EXPECT_LE(one.registers, 128) << one.kernel;
  }
}

}  // namespace
}  // namespace ridge::detail
#endif

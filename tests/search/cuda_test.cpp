// Compiles the search's kernels by NVRTC; needs the library, but no driver and no GPU.
#ifdef RIDGE_HAVE_CUDA
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include <ridge/device.hpp>

#include "device/cuda/compiler.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/dialect.hpp"
#include "device/kernel_text.hpp"
#include "search/device/byte_beams.hpp"
#include "search/device/pulses.hpp"

namespace ridge::detail {
namespace {

TEST(SearchKernels, CompileForCuda) {
  std::string why_not;
  const Nvrtc* compiler = nvrtc(why_not);
  if (compiler == nullptr) GTEST_SKIP() << why_not;
  std::vector<KernelSource> sources{
      {.name = "brute force",
       .text = kernel_text("search/brute_force"),
       .defines = {{"WARPS", "16"}, {"TRIALS_EACH", "4"}, {"WORDS", "4"}, {"STAGE", "8"}, {"SPREAD", "128"}}},
      {.name = "tree",
       .text = kernel_text("search/tree"),
       .defines = {{"RADIX", "8"},
                   {"TIMES", "512"},
                   {"ITEMS_IN_GROUP", "512"},
                   {"TILE_WORDS", "24576"},
                   {"ALIGNED", "1"},
                   {"IN_BYTES", "2"},
                   {"OUT_BYTES", "4"},
                   {"OUT_PAIRS", "1"},
                   {"OUT_PAIR", "float2"},
                   {"MAKE_PAIR", "make_float2"},
                   {"IN", "ushort"},
                   {"OUT", "float"}}},
      {.name = "fourier",
       .text = kernel_text("search/fourier"),
       .defines = {{"TAPS", "6"}, {"STEPS", "1024"}, {"POSITION_BITS", "40"}}},
      {.name = "beams",
       .text = kernel_text("search/beams"),
       .defines = {{"ITEMS_IN_GROUP", "64"}, {"STATIONS_AT_ONCE", "512"}}}};
  for (const std::size_t widest : {32, 256}) sources.push_back(search::DevicePulses::source(widest));
  sources.push_back(search::ByteBeams::source({.stations = 64, .beams = 512, .times = 1024}));
  for (const KernelSource& source : sources) {
    int first_line = 0;
    const CudaTarget target{"compute_90"};
    const std::string code = compile_cuda(*compiler, source, assemble(cuda_prelude(), source, first_line), target,
                                          cuda_options(target, source.relaxed_math))
                                 .code;
    EXPECT_NE(code.find(".entry"), std::string::npos) << source.name;
  }
}

// Weights, sums and powers stay in registers, and 16 warps fit a compute unit.
TEST(SearchKernels, BeamsAndBoxcarsSpillNothing) {
  if (!nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  std::vector<KernelResources> all =
      resources_for(search::ByteBeams::source({.stations = 64, .beams = 512, .times = 1024}), "sm_90");
  std::ranges::copy(resources_for(search::DevicePulses::source(32), "sm_90"), std::back_inserter(all));
  std::ranges::copy(resources_for(search::ByteBeams::warp_group_source(), "sm_90a"), std::back_inserter(all));
  for (const KernelResources& one : all) {
    EXPECT_LE(one.spilled_bytes, one.kernel == "power_bytes" ? 16 : 0) << one.kernel;
    EXPECT_LE(one.registers, 128) << one.kernel;
  }
}

}  // namespace
}  // namespace ridge::detail
#endif

// Compiles every image kernel with NVRTC; needs the library, but no driver and no GPU.
#ifdef RIDGE_HAVE_CUDA
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "device/cuda/loader.hpp"
#include "device/cuda/nvrtc.hpp"
#include "image/flow/device/design.hpp"
#include "image/operators_support.hpp"
#include "image/variance/device/design.hpp"
#include "image/variant.hpp"
#include "support/devices.hpp"

namespace ridge::image::on_device {
namespace {

TEST(DeviceFlowText, EveryDesignCompilesForCudaAndStaysInRegisters) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  const FlowParameters parameters, in_order{.selection = Selection::scan_order};
  std::set<std::string> seen;  // designs share most of their texts
  for (const FlowDesign& design : flow_designs()) {
    for (const KernelSource& source :
         {stages_source(parameters, design), stages_source(in_order, design), search_source(parameters, design),
          smooth_source(filter_at_the_end(parameters), design, true)}) {
      std::string all = source.text;
      for (const auto& [name, value] : source.defines) all += name + "=" + value + ";";
      if (!seen.insert(all).second) continue;
      for (const detail::KernelResources& kernel : detail::resources_for(source, "sm_90")) {
        EXPECT_EQ(kernel.spilled_bytes, 0) << source.name << " " << kernel.kernel;
      }
    }
  }
}

TEST(DeviceVarianceText, EveryDesignCompilesForCudaAndStaysInRegisters) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  std::set<std::string> seen;  // kernels of both methods
  for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise}) {
    const VarianceProblem problem{.rows = 8262, .columns = 9688, .method = method};
    for (const VarianceDesign& design : {VarianceDesign{.kernel = VarianceKernel::plain},
                                         {.kernel = VarianceKernel::exact},
                                         {.kernel = VarianceKernel::three_wise, .together = 3},
                                         {.kernel = VarianceKernel::three_wise, .together = 6},
                                         {.kernel = VarianceKernel::lanes},
                                         {.kernel = VarianceKernel::columns, .together = 1, .items = 64},
                                         {.kernel = VarianceKernel::columns, .together = 2, .items = 128}}) {
      if (design.kernel == VarianceKernel::lanes && method != VarianceMethod::exact) continue;
      const KernelSource source = variance_source(problem, design);
      std::string all = source.text;
      for (const auto& [name, value] : source.defines) all += name + "=" + value + ";";
      if (!seen.insert(all).second) continue;
      for (const detail::KernelResources& kernel : detail::resources_for(source, "sm_90")) {
        RecordProperty("registers", kernel.registers);
        EXPECT_EQ(kernel.spilled_bytes, 0) << static_cast<int>(design.kernel) << " together " << design.together;
      }
    }
  }
}

// Compiles one variant per operator, with alternating depths, channels and borders; with RIDGE_SLOW=1 every variant in
// every depth.
TEST(DeviceOperatorText, EveryVariantCompilesForCudaAndSpillsLittle) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  if (test::accelerators().empty()) GTEST_SKIP() << "no device whose limits could be asked";
  const Device device = test::accelerators().front();
  const Depth depths[] = {Depth::u8, Depth::f32, Depth::u16};
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  std::set<std::string> seen;
  std::size_t round = 0;
  std::vector<Operation> operations = test::all_operators();
  operations.emplace_back(test::large_kernel(30, 31));
  for (const Operation& operation : operations) {
    for (std::size_t i = 0; i < (slow ? 3 : 1); ++i, ++round) {
      OperatorProblem problem;
      problem.input = {.rows = 270, .columns = 480, .channels = 1 + round % 4, .depth = depths[round % 3]};
      problem.chain = {operation};
      problem.border = static_cast<Border>(round % 5);
      std::vector<Entry> entries = list_variants(device, problem);
      const auto* convolve = std::get_if<Convolve>(&operation);
      const bool large = convolve != nullptr && convolve->rows == 30;  // only its transforms add kernel text
      std::erase_if(entries, [&](const Entry& entry) {
        return !entry.candidate.refusal.empty() || (large && entry.candidate.variant != "fft");
      });
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!slow && i != round / 2 % entries.size()) continue;
        const Entry& entry = entries[i];
        for (const KernelSource& source : entry.kernels()) {
          std::string all = source.text;
          for (const auto& [name, value] : source.defines) all += name + "=" + value + ";";
          if (!seen.insert(all).second) continue;
          const std::string& kind = entry.candidate.variant;
          // Spills are allowed in the border code of strips, windows and bands, and for addresses in streams of four
          // channels.
          const int allowed = kind == "bands" ? 896 : kind == "strips" || kind == "windows" ? 320 : 160;
          for (const detail::KernelResources& kernel : detail::resources_for(source, "sm_90")) {
            EXPECT_LE(kernel.spilled_bytes, allowed)
                << entry.candidate.name() << " of " << to_string(operation) << " " << problem.input.text();
          }
        }
      }
    }
  }
}

TEST(DeviceOperatorText, StripsOfBytesSpillLittle) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  if (test::accelerators().empty()) GTEST_SKIP() << "no device whose limits could be asked";
  const std::pair<std::size_t, Operation> filters[] = {{1, Gauss{1, 2}}, {3, Box{5, 5}}};
  for (const auto& [channels, operation] : filters) {
    OperatorProblem problem;
    problem.input = {.rows = 270, .columns = 480, .channels = channels, .depth = Depth::u8};
    problem.chain = {operation};
    int seen = 0;
    for (const Entry& entry : list_variants(test::accelerators().front(), problem)) {
      if (entry.candidate.variant != "strips" || seen > 0) continue;  // they share a kernel
      ASSERT_EQ(entry.candidate.refusal, "");
      for (const detail::KernelResources& kernel : detail::resources_for(entry.kernels().front(), "sm_90")) {
        ++seen;
        RecordProperty(to_string(operation), kernel.registers);
        EXPECT_LE(kernel.spilled_bytes, 64) << to_string(operation);  // at the image's ends
      }
    }
    EXPECT_GT(seen, 0);
  }
}

TEST(DeviceOperatorText, ProductsOfBytesSpillLittle) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  if (test::accelerators().empty()) GTEST_SKIP() << "no device whose limits could be asked";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  std::vector<std::pair<std::size_t, Operation>> filters{{1, Gauss{1, 2}}, {3, Box{9, 9}}};
  if (slow) filters.insert(filters.end(), {{3, Gauss{1, 2}}, {1, Box{9, 9}}, {1, Gauss{1.5, 3}}, {1, Box{15, 15}}});
  for (const auto& [channels, operation] : filters) {
    OperatorProblem problem;
    problem.input = {.rows = 270, .columns = 480, .channels = channels, .depth = Depth::u8};
    problem.chain = {operation};
    std::map<std::string, int> seen;
    for (const Entry& entry : list_variants(test::accelerators().front(), problem)) {
      const std::string& kind = entry.candidate.variant;
      if ((kind != "windows" && kind != "bands") || (seen[kind] > 0 && !slow)) continue;
      for (const detail::KernelResources& kernel : detail::resources_for(entry.kernels().front(), "sm_90")) {
        ++seen[kind];
        RecordProperty(entry.candidate.name() + " " + to_string(operation), kernel.registers);
        // At the image's ends.
        EXPECT_LE(kernel.spilled_bytes, kind == "windows" ? 352 : 896)
            << entry.candidate.name() << " of " << to_string(operation) << ", " << kernel.registers << " registers";
      }
    }
    EXPECT_GT(seen["windows"], 0);
    EXPECT_GT(seen["bands"], 0);
  }
}

TEST(DeviceOperatorText, WordsOfBytesStayInRegisters) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  if (test::accelerators().empty()) GTEST_SKIP() << "no device whose limits could be asked";
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    OperatorProblem problem;
    problem.input = {.rows = 270, .columns = 480, .channels = 1, .depth = depth};
    problem.chain = {Gauss{1, 2}};
    int seen = 0;
    for (const Entry& entry : list_variants(test::accelerators().front(), problem)) {
      if (entry.candidate.variant != "stream words" || (seen > 0 && !slow)) continue;
      for (const detail::KernelResources& kernel : detail::resources_for(entry.kernels().front(), "sm_90")) {
        ++seen;
        RecordProperty(entry.candidate.name(), kernel.registers);
        EXPECT_EQ(kernel.spilled_bytes, 0) << entry.candidate.name() << " of " << problem.input.text();
      }
    }
    EXPECT_GT(seen, 0);
  }
}

TEST(DeviceOperatorText, PrefetchedRowsStayInRegisters) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  if (test::accelerators().empty()) GTEST_SKIP() << "no device whose limits could be asked";
  struct Chosen {
    const char* variant;
    Depth depth;
    Operation operation;
  };
  for (const Chosen& chosen :
       {Chosen{"march", Depth::f32, Gauss{1, 2}}, Chosen{"march", Depth::f32, Gauss{5}},
        Chosen{"enlarge", Depth::f32, Resize{.scale = 1.6, .interpolation = Interpolation::bicubic}},
        Chosen{"resample", Depth::u8, Resize{.scale = 1.6, .interpolation = Interpolation::bicubic}},
        Chosen{"resample", Depth::u8, Resize{.scale = 1.6}},
        Chosen{"phases", Depth::u8, Resize{.scale = 1.6, .interpolation = Interpolation::bicubic}},
        Chosen{"sums", Depth::u8, Box{9, 9}}, Chosen{"lanes", Depth::f32, Gauss{1, 2}}}) {
    OperatorProblem problem;
    problem.input = {.rows = 270, .columns = 480, .channels = 1, .depth = chosen.depth};
    problem.chain = {chosen.operation};
    int seen = 0;
    for (const Entry& entry : list_variants(test::accelerators().front(), problem)) {
      if (entry.candidate.variant != chosen.variant || seen > 0) continue;
      for (const detail::KernelResources& kernel : detail::resources_for(entry.kernels().front(), "sm_90")) {
        ++seen;
        RecordProperty(entry.candidate.name(), kernel.registers);
        EXPECT_EQ(kernel.spilled_bytes, 0) << entry.candidate.name();
      }
    }
    EXPECT_GT(seen, 0) << chosen.variant;
  }
}

}  // namespace
}  // namespace ridge::image::on_device
#endif

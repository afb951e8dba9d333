// Every kernel of the images through NVRTC: needs the library, no driver and no GPU.
#ifdef RIDGE_HAVE_CUDA
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/loader.hpp"
#include "device/cuda/nvrtc.hpp"
#include "image/device/flow_design.hpp"
#include "image/device/variance_design.hpp"

namespace ridge::image::on_device {
namespace {

TEST(DeviceFlowText, EveryDesignCompilesForCudaAndStaysInRegisters) {
  std::string why_not;
  if (detail::nvrtc(why_not) == nullptr) GTEST_SKIP() << why_not;
  const FlowParameters parameters;
  std::set<std::string> seen;  // designs share most of their texts
  for (const FlowDesign& design : flow_designs()) {
    for (const KernelSource& source : {stages_source(parameters, design), search_source(parameters, design),
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
  for (const VarianceMethod method : {VarianceMethod::exact, VarianceMethod::three_wise}) {
    const VarianceProblem problem{.rows = 8262, .columns = 9688, .method = method};
    for (const VarianceDesign& design : {VarianceDesign{.kernel = VarianceKernel::plain},
                                         {.kernel = VarianceKernel::exact},
                                         {.kernel = VarianceKernel::byte_dots},
                                         {.kernel = VarianceKernel::three_wise, .together = 3},
                                         {.kernel = VarianceKernel::three_wise, .together = 6}}) {
      for (const detail::KernelResources& kernel : detail::resources_for(variance_source(problem, design), "sm_90")) {
        RecordProperty("registers", kernel.registers);
        EXPECT_EQ(kernel.spilled_bytes, 0) << static_cast<int>(design.kernel) << " together " << design.together;
      }
    }
  }
}

}  // namespace
}  // namespace ridge::image::on_device
#endif

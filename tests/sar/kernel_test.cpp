// Compiles the SAR kernels for CUDA; needs no GPU.
#include <gtest/gtest.h>

#include "device/cuda/nvrtc.hpp"
#include "sar/device/backproject.hpp"
#include "sar/variant.hpp"

namespace ridge::sar {
namespace {

TEST(SarKernel, CompilesForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC here";
  EXPECT_FALSE(detail::compile_for(migration_source(), "sm_90").empty());
  EXPECT_FALSE(detail::compile_for(backproject_source(), "sm_90").empty());
  EXPECT_FALSE(detail::compile_for(factorized_source(), "sm_90").empty());
}

}  // namespace
}  // namespace ridge::sar

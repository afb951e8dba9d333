// Power and energy by NVML.
#include "machine/device/nvml.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <ridge/device.hpp>
#include "support/devices.hpp"

namespace ridge::machine {
namespace {

bool driver_is_here() { return dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr; }

std::string first_cuda_bus() {
  const auto cuda = test::devices_of(Backend::cuda);
  return cuda.empty() ? std::string() : cuda.front().info().bus;
}

TEST(Nvml, WithoutAnAddressThereIsNoCounterAndAReason) {
  std::string why_not;
  EXPECT_FALSE(NvmlReader::open("", why_not));
  EXPECT_NE(why_not.find("PCI address"), std::string::npos) << why_not;
}

TEST(Nvml, WithoutADriverTheReasonNamesTheLibrary) {
  if (driver_is_here()) GTEST_SKIP() << "this machine has NVML";
  std::string why_not;
  EXPECT_FALSE(NvmlReader::open("0000:01:00.0", why_not));
  EXPECT_NE(why_not.find("libnvidia-ml.so.1 not found"), std::string::npos) << why_not;
}

TEST(Nvml, AnUnknownAddressIsNamed) {
  if (first_cuda_bus().empty() || !driver_is_here()) GTEST_SKIP() << "no CUDA device, or no NVML";
  std::string why_not;
  EXPECT_FALSE(NvmlReader::open("ffff:7f:1f.0", why_not));
  EXPECT_NE(why_not.find("ffff:7f:1f.0"), std::string::npos) << why_not;
}

TEST(Nvml, ReadsPowerAndARisingEnergyCounter) {
  const std::string bus = first_cuda_bus();
  if (bus.empty()) GTEST_SKIP() << "no CUDA device";
  std::string why_not;
  const auto reader = NvmlReader::open(bus, why_not);
  if (!reader) GTEST_SKIP() << why_not;
  EXPECT_GT(reader->watts(), 0);
  EXPECT_LT(reader->watts(), 5000);
  if (const auto before = reader->joules()) {
    const auto after = reader->joules();
    ASSERT_TRUE(after);
    EXPECT_GE(*after, *before);
  }
}

}  // namespace
}  // namespace ridge::machine

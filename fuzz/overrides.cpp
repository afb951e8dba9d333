// Fuzz target: RIDGE_LIMITS files.
#include "support.hpp"

#include "device/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    DeviceInfo info;
    info.id = "opencl:0";
    info.limits.work_group = 1024;
    info.limits.memory = std::size_t{1} << 30;
    info.limits.float64 = true;
    detail::apply_overrides(std::string(fuzz::text_of(data, size)), info);
    if (info.limits.work_group > 1024 || info.limits.memory > std::size_t{1} << 30) std::abort();
  });
}

// Properties derived from architecture numbers, without such devices.
#include "device/traits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/dialect.hpp"
#include "device/registry.hpp"

namespace ridge::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

DeviceInfo described(int architecture, Backend backend) {
  DeviceInfo info;
  info.id = backend == Backend::cuda ? "cuda:0" : "opencl:0";
  info.backend = backend;
  info.vendor = backend == Backend::cuda ? "NVIDIA" : "NVIDIA CUDA";
  describe_architecture(architecture, backend, info.limits);
  return info;
}

struct Expected {
  int architecture;
  std::size_t items, local_kib;
  bool ampere, hopper;
};

TEST(DeviceTraits, FollowTheArchitecturesNumber) {
  for (const Expected& one :
       {Expected{61, 2048, 96, false, false}, Expected{75, 1024, 64, false, false},
        Expected{80, 2048, 164, true, false}, Expected{89, 1536, 100, true, false}, Expected{90, 2048, 228, true, true},
        Expected{100, 2048, 228, true, true}, Expected{120, 1536, 100, true, true}}) {
    const Limits limits = described(one.architecture, Backend::cuda).limits;
    SCOPED_TRACE(one.architecture);
    EXPECT_EQ(limits.architecture, one.architecture);
    EXPECT_EQ(limits.items_per_unit, one.items);
    EXPECT_EQ(limits.unit_local_memory, one.local_kib * 1024);
    EXPECT_GT(limits.unit_registers, 0u);
    EXPECT_EQ(limits.matrix_units, one.ampere);
    EXPECT_EQ(limits.asynchronous_copies, one.ampere);
    EXPECT_EQ(limits.clusters, one.hopper);
    EXPECT_EQ(limits.tensor_maps, one.hopper);
    EXPECT_TRUE(limits.private_arrays_in_registers);
    const Limits by_opencl = described(one.architecture, Backend::opencl).limits;
    EXPECT_EQ(by_opencl.matrix_units, one.ampere);
    EXPECT_FALSE(by_opencl.clusters || by_opencl.tensor_maps) << "OpenCL has neither";
  }
}

// A three-digit architecture once compared as less than a two-digit one.
TEST(DeviceTraits, NewerThanAmpereCopiesAsynchronously) {
  constexpr const char* kWord = "cp.async";
  EXPECT_THAT(opencl_prelude(described(75, Backend::opencl)), Not(HasSubstr(kWord)));
  for (const int architecture : {80, 90, 100, 120}) {
    EXPECT_THAT(opencl_prelude(described(architecture, Backend::opencl)), HasSubstr(kWord)) << architecture;
  }
}

TEST(DeviceTraits, AnUnknownUnitIsThatOfALargeGpu) {
  Limits silent;
  silent.items_per_unit = 0;
  const UnitCapacity unknown = unit_capacity(silent), hopper = unit_capacity(described(90, Backend::cuda).limits);
  EXPECT_EQ(unknown.registers, hopper.registers);
  EXPECT_EQ(unknown.items, hopper.items);
  EXPECT_EQ(unknown.local_memory, hopper.local_memory);
  const Limits newer = described(130, Backend::cuda).limits;
  EXPECT_TRUE(newer.clusters && newer.matrix_units);
  EXPECT_GT(newer.unit_registers, 0u);
}

TEST(DeviceTraits, CanBeRemovedByAnOverride) {
  DeviceInfo info = described(90, Backend::cuda);
  apply_overrides(R"({"cuda": {"architecture": 80, "unit_local_memory": 1024, "private_arrays_in_registers": false}})",
                  info);
  EXPECT_EQ(info.limits.architecture, 80);
  EXPECT_FALSE(info.limits.clusters || info.limits.tensor_maps);
  EXPECT_TRUE(info.limits.matrix_units && info.limits.asynchronous_copies);
  EXPECT_EQ(info.limits.unit_local_memory, 1024u);
  EXPECT_FALSE(info.limits.private_arrays_in_registers);
  EXPECT_EQ(info.overrides.size(), 3u);
  apply_overrides(R"({"*": {"matrix_units": false}, "cuda:0": {"asynchronous_copies": true}})", info);
  EXPECT_FALSE(info.limits.matrix_units);
  EXPECT_TRUE(info.limits.asynchronous_copies);
}

TEST(DeviceTraits, CannotBeAddedByAnOverride) {
  DeviceInfo info = described(80, Backend::cuda);
  for (const char* text :
       {R"({"*": {"clusters": true}})", R"({"*": {"architecture": 90}})", R"({"*": {"matrix_units": 1}})",
        R"({"*": {"unit_registers": 1000000}})", R"({"*": {"architecture": "sm_90"}})"}) {
    EXPECT_THROW(apply_overrides(text, info), Error) << text;
  }
  EXPECT_TRUE(info.overrides.empty());
}

}  // namespace
}  // namespace ridge::detail

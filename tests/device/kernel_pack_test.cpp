// Packs of shipped kernels: written kernels are found again, damage is detected, and keys depend on everything that
// changes the machine code and on nothing else.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include <ridge/fft.hpp>

#include "base/files.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/kernel_pack.hpp"
#include "device/opencl_support.hpp"
#include "device/registry.hpp"

namespace ridge {
namespace {

using detail::KernelPack;
using detail::PackKey;
using testing::HasSubstr;

std::map<PackKey, std::string> some_kernels() {
  std::map<PackKey, std::string> kernels;
  for (const std::size_t bytes : {1, 2, 3, 63, 64, 65, 1009})
    kernels[{0x9e3779b97f4a7c15u * bytes, bytes}] = std::string(bytes, static_cast<char>(bytes));
  return kernels;
}

struct KernelPackFile : testing::Test {
  const test::FreshCache cache;
  const std::filesystem::path path = cache.kernels().parent_path() / "some.pack";
  std::string bytes{};

  void SetUp() override {
    detail::write_kernel_pack(path, "for tests.", some_kernels());
    bytes = *base::read_file(path, 1 << 20);
  }
  std::string refusal(const std::string& changed) const {
    base::write_file(path, changed);
    return test::thrown_error([&] { KernelPack{path}; }).what();
  }
};

TEST_F(KernelPackFile, FindsEveryStoredKernel) {
  const KernelPack pack(path);
  EXPECT_TRUE(pack);
  EXPECT_THAT(pack.describe(), HasSubstr("7 kernels"));
  EXPECT_THAT(pack.describe(), HasSubstr("for tests."));
  for (const auto& [key, code] : some_kernels()) {
    EXPECT_EQ(pack.find(key), code);
    EXPECT_FALSE(pack.find({key[0], key[1] + 1}));
    EXPECT_FALSE(pack.find({key[0] - 1, key[1]}));
  }
  EXPECT_FALSE(KernelPack());
  EXPECT_FALSE(KernelPack().find({1, 1}));
  detail::write_kernel_pack(path, "", {});
  EXPECT_FALSE(KernelPack(path));
}

TEST_F(KernelPackFile, RefusesDamage) {
  for (const std::size_t size : {0, 5, 31, 40, 100, 300})
    EXPECT_THAT(refusal(bytes.substr(0, size)), HasSubstr("cannot use"));
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 100)), HasSubstr("cannot use"));
  for (const std::size_t at : {3, 8, 16, 24, 33, 64, 80, 100}) {  // magic, sizes, checksum, description, index
    std::string changed = bytes;
    changed[at] ^= 64;
    EXPECT_THAT(refusal(changed), HasSubstr("cannot use")) << at;
  }
  std::filesystem::remove(path);
  EXPECT_THAT(test::thrown_error([&] { KernelPack{path}; }).what(), HasSubstr("no such file"));
}

TEST_F(KernelPackFile, RefusesAFileThatOthersMayWrite) {
  std::filesystem::permissions(path, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_THAT(test::thrown_error([&] { KernelPack{path}; }).what(), HasSubstr("chmod go-w"));
}

TEST_F(KernelPackFile, DamagedKernelsAreNotFound) {
  const auto kernels = some_kernels();
  const std::string& long_one = std::max_element(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
                                  return a.second.size() < b.second.size();
                                })->second;
  bytes[bytes.find(long_one) + 500] ^= 1;
  base::write_file(path, bytes);
  const KernelPack pack(path);
  const test::Warnings warnings;
  for (const auto& [key, code] : kernels) EXPECT_EQ(pack.find(key).has_value(), code.size() != long_one.size());
  EXPECT_THAT(warnings.messages, testing::ElementsAre(HasSubstr("damaged")));
}

TEST(ShippedKernels, HaveKeysOfTextArchitectureAndOptions) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC";
  const Device h200 = ridge::device("recorded:h200");
  const fft::Plan<float> plan(h200, {.shape = {16}, .batch = 64}, {.effort = Effort::quick});
  std::vector<KernelSource> kernels = detail::take_kernels(h200);
  ASSERT_FALSE(kernels.empty());
  EXPECT_TRUE(detail::take_kernels(h200).empty());
  using detail::shipped_kernel;
  using detail::ShippedCode;
  const auto [key, code] = shipped_kernel(kernels[0], 90, ShippedCode::machine);
  EXPECT_THAT(code, HasSubstr("ELF"));
  EXPECT_EQ(shipped_kernel(kernels[0], 90, ShippedCode::machine).first, key);
  EXPECT_NE(shipped_kernel(kernels[0], 80, ShippedCode::machine).first, key);
  const auto [later, text] = shipped_kernel(kernels[0], 90, ShippedCode::ptx);
  EXPECT_NE(later, key);
  EXPECT_THAT(text, HasSubstr(".target sm_90"));
  EXPECT_EQ(text.find('\0'), text.size() - 1);
  kernels[0].relaxed_math = !kernels[0].relaxed_math;
  EXPECT_NE(shipped_kernel(kernels[0], 90, ShippedCode::machine).first, key);
}

}  // namespace
}  // namespace ridge

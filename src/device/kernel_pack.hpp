// Kernels that are compiled when the library is packaged: one file for all architectures, mapped, and searched before
// the user's cache and before NVRTC is opened. A machine without a CUDA toolkit runs the problems in it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ridge::detail {

// 128 bits of the options and the assembled text. Unlike the key of the compile cache it names no device, driver or
// version of NVRTC: machine code serves every device of its architecture.
using PackKey = std::array<std::uint64_t, 2>;

class KernelPack {
 public:
  KernelPack() = default;                                  // without kernels
  explicit KernelPack(const std::filesystem::path& file);  // Error{io} for a file that is missing, damaged or foreign
  // Nothing, with a warning, also for a kernel whose checksum is wrong. Valid until the process ends.
  std::optional<std::string_view> find(const PackKey& key) const;
  std::string describe() const;  // "FILE: 452 kernels, 9.1 MB; Ridgeline 0.1.0: sm_80: 212, sm_90: 240."
  explicit operator bool() const { return kernels_ > 0; }

 private:
  std::filesystem::path path_{};
  std::string_view file_{}, description_{};
  std::size_t index_ = 0, kernels_ = 0;  // where the index begins
};

// The file named by RIDGE_KERNELS (off: none), else ridge-kernels.pack where plugins are installed. Opened once; a file
// that cannot be used gives a warning and a pack without kernels.
const KernelPack& shipped_kernels();

void write_kernel_pack(const std::filesystem::path& path, std::string_view description,
                       const std::map<PackKey, std::string>& kernels);

}  // namespace ridge::detail

// The host as a Device: its buffers are ordinary memory and its queue works synchronously. Host kernels are C++ in the
// workloads, so nothing is compiled here.
#include <hwy/targets.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/host_memory.hpp"
#include "base/instruction_sets.hpp"
#include "base/number.hpp"
#include "base/threads.hpp"
#include "device/backend.hpp"

namespace ridge::detail {
namespace {

struct HostAllocation : Allocation {
  HostAllocation(std::size_t bytes, std::size_t fence_bytes)
      : memory(base::allocate_aligned(bytes + 2 * fence_bytes)), fence(fence_bytes) {}
  std::byte* first() const { return static_cast<std::byte*>(memory.get()) + fence; }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(first()); }
  std::byte* map() override { return first(); }
  void unmap() override {}
  std::unique_ptr<void, base::FreeAligned> memory;
  std::size_t fence;
};

struct HostEvent : EventState {
  void wait() override {}
  bool done() override { return true; }
  double seconds_until(EventState& later) override { return static_cast<HostEvent&>(later).at - at; }
  double at = base::now();
};

std::byte* address(MemoryState& memory, std::ptrdiff_t offset) { return memory.allocation->map() + offset; }

void copy_box(const std::byte* from, const Pitches& from_pitches, std::byte* to, const Pitches& to_pitches,
              const ByteBox& box) {
  for (std::size_t slice = 0; slice < box.slices; ++slice) {
    for (std::size_t row = 0; row < box.rows; ++row) {
      std::memcpy(to + to_pitches.offset + slice * to_pitches.slice + row * to_pitches.row,
                  from + from_pitches.offset + slice * from_pitches.slice + row * from_pitches.row, box.bytes);
    }
  }
}

struct HostQueue : QueueState {
  void upload(const void* from, MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memcpy(address(to, offset), from, bytes);
  }
  void download(MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memcpy(to, address(from, offset), bytes);
  }
  void copy(MemoryState& from, MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
            std::ptrdiff_t to_offset) override {
    std::memmove(address(to, to_offset), address(from, from_offset), bytes);
  }
  void upload(const void* from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
              const ByteBox& box) override {
    copy_box(static_cast<const std::byte*>(from), from_pitches, address(to, 0), to_pitches, box);
  }
  void download(MemoryState& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                const ByteBox& box) override {
    copy_box(address(from, 0), from_pitches, static_cast<std::byte*>(to), to_pitches, box);
  }
  void copy(MemoryState& from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
            const ByteBox& box) override {
    copy_box(address(from, 0), from_pitches, address(to, 0), to_pitches, box);
  }
  void fill(MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memset(address(to, offset), std::to_integer<int>(value), bytes);
  }
  void launch(KernelState&, const Launch&, const std::vector<Argument>&) override {
    throw Error(ErrorKind::internal, "the host device has no dialect kernels to launch");
  }
  std::shared_ptr<EventState> record() override { return std::make_shared<HostEvent>(); }
  void wait_for(EventState&) override {}
  void finish() override {}
  std::uintptr_t native() const override { return 0; }
};

struct HostDevice : DeviceState, std::enable_shared_from_this<HostDevice> {
  std::unique_ptr<Allocation> allocate(std::size_t bytes, std::size_t fence, const BufferOptions&) override {
    return std::make_unique<HostAllocation>(bytes, fence);
  }
  std::shared_ptr<QueueState> queue() override { return std::make_shared<HostQueue>(); }
  std::shared_ptr<ProgramState> compile(const KernelSource& source) override {
    throw Error(ErrorKind::unavailable,
                fmt::format("kernel {}: the host runs C++ kernels, not the kernel dialect; use an OpenCL device "
                            "(opencl:pocl runs on this processor) or CUDA",
                            source.name));
  }
};

// The value of the first line of a /proc-like file that starts with one of the keys.
std::string line_value(const char* path, std::initializer_list<const char*> keys) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    for (const char* key : keys) {
      if (!line.starts_with(key)) continue;
      const auto colon = line.find(':');
      if (colon == std::string::npos) continue;
      const auto start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return "";
}

// ARM processors give numbers; these are the ones people compute on.
std::string arm_name() {
  const std::string implementer = line_value("/proc/cpuinfo", {"CPU implementer"});
  const std::string part = line_value("/proc/cpuinfo", {"CPU part"});
  static constexpr std::pair<const char*, const char*> parts[] = {
      {"0xd03", "Cortex-A53"},  {"0xd07", "Cortex-A57"},  {"0xd08", "Cortex-A72"},  {"0xd0b", "Cortex-A76"},
      {"0xd0c", "Neoverse-N1"}, {"0xd40", "Neoverse-V1"}, {"0xd49", "Neoverse-N2"}, {"0xd4f", "Neoverse-V2"},
      {"0xd84", "Neoverse-V3"}, {"0xd8e", "Neoverse-N3"}};
  if (implementer == "0x41") {
    for (const auto& [number, name] : parts) {
      if (part == number) return fmt::format("ARM {}", name);
    }
  }
  return part.empty() ? "" : fmt::format("ARM-compatible {} {}", implementer, part);
}

double clock_ghz() {
  for (const char* path : {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"}) {
    std::ifstream file(path);
    if (double khz = 0; file >> khz && khz > 0) return khz * 1e-6;
  }
  return base::number_of(line_value("/proc/cpuinfo", {"cpu MHz"})).value_or(0) * 1e-3;
}

std::string best_simd() {
  // Highway orders its targets best first, by lowest bit.
  const std::int64_t best = hwy::SupportedTargets() & -hwy::SupportedTargets();
  return hwy::TargetName(best);
}

}  // namespace

std::vector<std::shared_ptr<DeviceState>> enumerate_host(std::vector<std::string>&) {
  base::require_built_instructions();
  auto device = std::make_shared<HostDevice>();
  DeviceInfo& info = device->info;
  info.id = "host";
  info.backend = Backend::host;
  info.name = line_value("/proc/cpuinfo", {"model name", "Model"});
  if (info.name.empty()) info.name = arm_name();
  if (info.name.empty()) info.name = "processor";
  info.vendor = "host";
  info.isa = best_simd();
  info.driver = fmt::format("{} compiler {}", info.isa, __VERSION__);
  info.clock_ghz = clock_ghz();
  info.shares_host_memory = info.runs_on_host_cores = true;
  info.limits.compute_units = base::hardware_threads();
  info.limits.alignment = base::kAlignment;
  info.limits.memory = base::host_memory();
  info.limits.allocation = info.limits.memory;
  return {device};
}

}  // namespace ridge::detail

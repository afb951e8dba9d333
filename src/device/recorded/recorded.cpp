// Devices described by a table, for machines without them: "recorded:mi300x" lists variants, refuses, predicts, plans
// and generates kernels as that device would, and runs nothing.
#include "device/registry.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/backend.hpp"
#include "device/traits.hpp"

namespace ridge::detail {
namespace {

constexpr std::size_t kKib = 1024, kGib = std::size_t{1} << 30;

// Facts from the vendors' data sheets and instruction set manuals. Rates are in machine/roofline/ceilings.cpp.
// sub_group is what the back end would report: 0 where the driver does not let kernels request a width
// (cl_intel_required_subgroup_size), as on AMD's GPUs.
struct Recorded {
  const char* key;
  const char* name;
  const char* vendor;
  const char* isa;
  int architecture;  // of NVIDIA; 0: a device of OpenCL
  std::size_t units, sub_group, local_kib, unit_local_kib, unit_registers, items_per_unit, memory_gib;
  double clock_ghz;
  bool float64;
};

constexpr Recorded kRecorded[] = {
    {"mi300x", "AMD Instinct MI300X", "AMD", "gfx942", 0, 304, 0, 64, 64, 131072, 2048, 192, 2.1, true},
    {"mi250x", "AMD Instinct MI250X, one die", "AMD", "gfx90a", 0, 110, 0, 64, 64, 131072, 2048, 64, 1.7, true},
    {"rx7900", "AMD Radeon RX 7900 XTX", "AMD", "gfx1100", 0, 48, 0, 64, 128, 98304, 2048, 24, 2.5, true},
    {"a770", "Intel Arc A770", "Intel", "xe-hpg", 0, 32, 16, 64, 128, 65536, 1024, 16, 2.1, false},
    {"a100", "NVIDIA A100-SXM4-80GB", "NVIDIA Corporation", "sm_80", 80, 108, 32, 163, 0, 0, 0, 80, 1.41, true},
    {"h200", "NVIDIA H200", "NVIDIA Corporation", "sm_90", 90, 132, 32, 227, 0, 0, 0, 141, 1.98, true},
    {"b200", "NVIDIA B200", "NVIDIA Corporation", "sm_100", 100, 148, 32, 227, 0, 0, 0, 180, 1.97, true},
    {"a40", "NVIDIA A40", "NVIDIA Corporation", "sm_86", 86, 84, 32, 99, 0, 0, 0, 48, 1.74, true},
    {"rtx4090", "NVIDIA GeForce RTX 4090", "NVIDIA Corporation", "sm_89", 89, 128, 32, 99, 0, 0, 0, 24, 2.52, true},
};

struct NoMemory : Allocation {
  std::uintptr_t native() const override { return 0; }
  std::byte* map() override { return nullptr; }
  void unmap() override {}
};

struct NoProgram : ProgramState {
  std::shared_ptr<DeviceState> device;
  std::shared_ptr<KernelState> kernel(const std::string& wanted) override {
    auto state = std::make_shared<KernelState>();
    state->name = wanted;
    state->device = device;
    state->work_group = device->info.limits.work_group;
    return state;
  }
};

// Accepts transfers, which a plan makes for its tables, and refuses launches.
struct NoQueue : QueueState {
  [[noreturn]] void refuse() const {
    throw Error(
        ErrorKind::unavailable,
        fmt::format("{} is a description of a {}, which plans and explains but cannot run: pass a device of this "
                    "machine (ridge devices)",
                    device->info.id, device->info.name));
  }
  void upload(const void*, MemoryState&, std::size_t, std::ptrdiff_t) override {}
  void download(MemoryState&, void*, std::size_t, std::ptrdiff_t) override { refuse(); }
  void copy(MemoryState&, MemoryState&, std::size_t, std::ptrdiff_t, std::ptrdiff_t) override {}
  void upload(const void*, const Pitches&, MemoryState&, const Pitches&, const ByteBox&) override {}
  void download(MemoryState&, const Pitches&, void*, const Pitches&, const ByteBox&) override { refuse(); }
  void copy(MemoryState&, const Pitches&, MemoryState&, const Pitches&, const ByteBox&) override {}
  void fill(MemoryState&, std::byte, std::size_t, std::ptrdiff_t) override {}
  void launch(KernelState&, const Launch&, const std::vector<Argument>&) override { refuse(); }
  std::shared_ptr<EventState> record() override { refuse(); }
  void wait_for(EventState&) override {}
  void finish() override {}
  std::uintptr_t native() const override { return 0; }
};

struct RecordedDevice : DeviceState, std::enable_shared_from_this<RecordedDevice> {
  explicit RecordedDevice(const Recorded& from) {
    info = {.id = fmt::format("recorded:{}", from.key),
            .name = from.name,
            .vendor = from.vendor,
            .driver = "recorded",
            .isa = from.isa,
            .backend = from.architecture > 0 ? Backend::cuda : Backend::opencl,
            .clock_ghz = from.clock_ghz,
            .recorded = true};
    Limits& limits = info.limits;
    limits.work_group = 1024;
    limits.work_group_sides = {1024, 1024, from.architecture > 0 ? 64u : 1024u};
    limits.local_memory = from.local_kib * kKib;
    limits.constant_memory = 64 * kKib;
    limits.sub_group = from.sub_group;
    limits.compute_units = from.units;
    limits.memory = limits.allocation = from.memory_gib * kGib;
    limits.float64 = from.float64;
    limits.items_per_unit = from.items_per_unit;
    limits.unit_registers = from.unit_registers;
    limits.unit_local_memory = from.unit_local_kib * kKib;
    if (from.architecture > 0) describe_architecture(from.architecture, info.backend, limits);
    limits.registers = limits.unit_registers;
  }
  std::unique_ptr<Allocation> allocate(std::size_t, std::size_t, const BufferOptions&) override {
    return std::make_unique<NoMemory>();
  }
  std::shared_ptr<QueueState> queue() override {
    auto state = std::make_shared<NoQueue>();
    state->device = shared_from_this();
    return state;
  }
  std::shared_ptr<ProgramState> compile(const KernelSource& source) override {
    auto state = std::make_shared<NoProgram>();
    state->name = source.name;
    state->device = shared_from_this();
    const std::lock_guard lock(mutex);
    kernels.push_back(source);
    return state;
  }

  std::mutex mutex{};
  std::vector<KernelSource> kernels{};
};

}  // namespace

std::vector<std::string> recorded_devices() {
  std::vector<std::string> ids;
  for (const Recorded& one : kRecorded) ids.push_back(fmt::format("recorded:{}", one.key));
  return ids;
}

Device recorded_device(const std::string& id) {
  for (const Recorded& one : kRecorded) {
    if (id == fmt::format("recorded:{}", one.key)) return Device(std::make_shared<RecordedDevice>(one));
  }
  throw Error(ErrorKind::unavailable,
              fmt::format("no device \"{}\"; recorded are {}", id, fmt::join(recorded_devices(), ", ")));
}

std::vector<KernelSource> take_kernels(const Device& recorded) {
  auto& state = dynamic_cast<RecordedDevice&>(recorded.state());
  const std::lock_guard lock(state.mutex);
  return std::exchange(state.kernels, {});
}

}  // namespace ridge::detail

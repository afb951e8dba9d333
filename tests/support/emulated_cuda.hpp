// Emulates an H200: kernels are compiled by g++ and work-items run alternately on one thread. CUDA-only features
// (clusters, L2 rings, TMA tiles) can be compared without a GPU. Slow; a compilation takes about a second.
#pragma once
#include <dlfcn.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "support/hopper.hpp"
#include "support/scratch.hpp"

namespace ridge::test {

// Same layout as in the prelude.
struct EmulatedItem {
  std::uint32_t group[3], item[3], groups[3], items[3], rank;
};
struct EmulatedMachine {
  const EmulatedItem* now;
  unsigned char* (*block)();
  unsigned char* (*array)(int number, unsigned long bytes);
  unsigned char* (*peer)(const void* place, std::uint32_t rank);
  void (*barrier)();
  void (*cluster_arrive)();
  void (*cluster_wait)();
  void (*others)();
  unsigned long (*shuffle)(unsigned long bits, int lane);
  void (*tile)(const void* map, int column, int row, int array, void* local, bool store);
  void (*meet)(int number, int count, bool wait);
};
struct EmulatedTileMap {
  std::uint64_t base, columns, rows, row, arrays, array, box, element;
};

// Work-items of the concurrently running groups.
class Emulator {
 public:
  using Call = void (*)(void* const*);
  static Emulator& one() {
    static Emulator emulator;
    return emulator;
  }
  EmulatedMachine machine;

  // Runs `together` groups concurrently; each cluster consists of `cluster` consecutive groups.
  void run(Call call, void* const* arguments, const Launch& shape, std::size_t cluster, std::size_t together) {
    call_ = call;
    arguments_ = arguments;
    const std::uint64_t groups = shape.groups[0] * shape.groups[1] * shape.groups[2];
    const std::size_t items = shape.items[0] * shape.items[1] * shape.items[2];
    for (std::uint64_t first = 0; first < groups; first += together) {
      const std::size_t count = std::min<std::uint64_t>(together, groups - first);
      groups_ = std::vector<Group>(count);
      clusters_.assign((count + cluster - 1) / cluster, {});
      while (fibers_.size() < count * items) {
        fibers_.push_back(std::make_unique<Fiber>());
      }
      for (std::size_t g = 0; g < count; ++g) {
        const std::size_t bytes = shape.local_bytes + kImitated;
        groups_[g].local.reset(new (std::align_val_t{128}) unsigned char[bytes]);
        std::memset(groups_[g].local.get(), 0xff, bytes);
        groups_[g].cluster = g / cluster;
        groups_[g].live = groups_[g].items = items;
        clusters_[g / cluster].live += items;
        for (std::size_t i = 0; i < items; ++i) start(*fibers_[g * items + i], shape, first + g, i, g, g % cluster);
      }
      turns(count * items);
    }
  }

 private:
  struct FreeAligned128 {
    void operator()(unsigned char* p) const { ::operator delete[](p, std::align_val_t{128}); }
  };
  struct Barrier {
    std::size_t live = 0, arrived = 0, turn = 0;
    void leave() {
      --live;
      complete();
    }
    void complete() {
      if (arrived < live || live == 0) return;
      arrived = 0;
      ++turn;
    }
    std::size_t arrive() {
      const std::size_t mine = turn;
      ++arrived;
      complete();
      return mine;
    }
  };
  struct Group : Barrier {
    std::unique_ptr<unsigned char, FreeAligned128> local;
    std::map<int, std::unique_ptr<unsigned char, FreeAligned128>> arrays;
    std::map<std::size_t, std::array<unsigned long, 32>> lanes;
    std::map<std::size_t, Barrier> warps;
    std::map<int, Barrier> meetings;
    std::size_t cluster = 0, items = 0;
  };
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack{new std::byte[kStack]};
    EmulatedItem item;
    std::size_t group, number, cluster_turn;
    const std::size_t* waits = nullptr;  // waits until the value changes
    std::size_t seen = 0;
    bool over = false;
  };
  static constexpr std::size_t kStack = 64 * 1024;
  static constexpr std::size_t kImitated = 32 * 1024;  // local memory of emulated matrix units, after the kernel's own

  Emulator() {
    machine = {nullptr,
               [] { return one().group().local.get(); },
               [](int number, unsigned long bytes) { return one().array(number, bytes); },
               [](const void* place, std::uint32_t rank) { return one().peer(place, rank); },
               [] { one().wait(one().group(), one().group().arrive()); },
               [] { one().fiber_->cluster_turn = one().cluster().arrive(); },
               [] { one().wait(one().cluster(), one().fiber_->cluster_turn); },
               [] { one().yield(); },
               [](unsigned long bits, int lane) { return one().shuffle(bits, lane); },
               [](const void* map, int column, int row, int array, void* local, bool store) {
                 tile(*static_cast<const EmulatedTileMap*>(map), column, row, array, static_cast<std::byte*>(local),
                      store);
               },
               [](int number, int count, bool wait) { one().meet(number, count, wait); }};
  }

  Group& group() { return groups_[fiber_->group]; }
  Barrier& cluster() { return clusters_[group().cluster]; }

  void yield() { swapcontext(&fiber_->context, &home_); }
  void wait(const Barrier& barrier, std::size_t seen) {
    if (barrier.turn != seen) return;
    fiber_->waits = &barrier.turn;
    fiber_->seen = seen;
    yield();
  }
  unsigned char* array(int number, unsigned long bytes) {
    auto& place = group().arrays[number];
    if (!place) {
      place.reset(new (std::align_val_t{128}) unsigned char[bytes]);
      std::memset(place.get(), 0xff, bytes);
    }
    return place.get();
  }
  unsigned char* peer(const void* place, std::uint32_t rank) {
    const std::ptrdiff_t offset = static_cast<const unsigned char*>(place) - group().local.get();
    return groups_[fiber_->group - fiber_->item.rank + rank].local.get() + offset;
  }
  unsigned long shuffle(unsigned long bits, int lane) {
    const std::size_t warp = fiber_->number / 32;
    Barrier& barrier = group().warps[warp];
    if (barrier.live == 0) barrier.live = std::min<std::size_t>(32, group().items - warp * 32);
    auto& lanes = group().lanes[warp];
    lanes[fiber_->number % 32] = bits;
    wait(barrier, barrier.arrive());
    const unsigned long got = lanes[lane];
    wait(barrier, barrier.arrive());
    return got;
  }
  void meet(int number, int count, bool waits) {
    Barrier& barrier = group().meetings[number];
    barrier.live = static_cast<std::size_t>(count);
    const std::size_t seen = barrier.arrive();
    if (waits) wait(barrier, seen);
  }
  // Outside the array nothing is stored, and loads return zeros.
  static void tile(const EmulatedTileMap& map, int column, int row, int array, std::byte* local, bool store) {
    const std::uint64_t columns = map.box & 0xffffffffu, rows = map.box >> 32;
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (std::uint64_t c = 0; c < columns; ++c, local += map.element) {
        const std::uint64_t x = static_cast<std::uint64_t>(column) + c, y = static_cast<std::uint64_t>(row) + r;
        const bool inside = x < map.columns && y < map.rows && static_cast<std::uint64_t>(array) < map.arrays;
        auto* const there = reinterpret_cast<std::byte*>(map.base + static_cast<std::uint64_t>(array) * map.array +
                                                         y * map.row + x * map.element);
        if (store) {
          if (inside) std::memcpy(there, local, map.element);
        } else if (inside) {
          std::memcpy(local, there, map.element);
        } else {
          std::memset(local, 0, map.element);
        }
      }
    }
  }

  void start(Fiber& fiber, const Launch& shape, std::uint64_t group, std::size_t item, std::size_t slot,
             std::size_t rank) {
    for (int d = 0; d < 3; ++d) {
      fiber.item.groups[d] = static_cast<std::uint32_t>(shape.groups[d]);
      fiber.item.items[d] = static_cast<std::uint32_t>(shape.items[d]);
      fiber.item.group[d] = static_cast<std::uint32_t>(group % shape.groups[d]);
      fiber.item.item[d] = static_cast<std::uint32_t>(item % shape.items[d]);
      group /= shape.groups[d];
      if (d == 0) fiber.number = item;
      item /= shape.items[d];
    }
    fiber.item.rank = static_cast<std::uint32_t>(rank);
    fiber.group = slot;
    fiber.waits = nullptr;
    fiber.over = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack = {.ss_sp = fiber.stack.get(), .ss_flags = 0, .ss_size = kStack};
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Emulator::body, 0);
  }
  static void body() {
    Emulator& e = one();
    e.call_(e.arguments_);
    e.fiber_->over = true;
    e.group().leave();
    e.cluster().leave();
    for (;;) e.yield();
  }
  void turns(std::size_t count) {
    for (std::size_t left = count; left > 0;) {
      bool any = false;
      for (std::size_t i = 0; i < count; ++i) {
        Fiber& fiber = *fibers_[i];
        if (fiber.over || (fiber.waits != nullptr && *fiber.waits == fiber.seen)) continue;
        any = true;
        fiber.waits = nullptr;
        fiber_ = &fiber;
        machine.now = &fiber.item;
        swapcontext(&home_, &fiber.context);
        if (fiber.over) --left;
      }
      if (!any) throw Error(ErrorKind::internal, "emulated work-items wait for each other for ever");
    }
  }

  Call call_ = nullptr;
  void* const* arguments_ = nullptr;
  ucontext_t home_;
  Fiber* fiber_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Group> groups_;
  std::vector<Barrier> clusters_;
};

struct EmulatedKernel : detail::KernelState {
  Emulator::Call call = nullptr;
  std::size_t cluster = 1;
  bool together = false;  // groups synchronize with each other
};

struct EmulatedProgram : detail::ProgramState {
  void* library = nullptr;
  std::size_t cluster = 1;
  bool together = false;
  std::shared_ptr<detail::DeviceState> device;
  std::shared_ptr<detail::KernelState> kernel(const std::string& kernel_name) override {
    auto kernel = std::make_shared<EmulatedKernel>();
    kernel->name = kernel_name;
    kernel->device = device;
    kernel->call = reinterpret_cast<Emulator::Call>(dlsym(library, ("ridge_call_" + kernel_name).c_str()));
    kernel->cluster = cluster;
    kernel->together = together;
    if (kernel->call == nullptr) throw Error(ErrorKind::invalid_argument, "no kernel " + kernel_name);
    return kernel;
  }
};

struct EmulatedAllocation : detail::Allocation {
  EmulatedAllocation(std::size_t bytes, std::size_t fence_bytes)
      : memory(new (std::align_val_t{256}) std::byte[bytes + 2 * fence_bytes]), fence(fence_bytes) {}
  ~EmulatedAllocation() override { ::operator delete[](memory, std::align_val_t{256}); }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(memory + fence); }
  std::byte* map() override { return memory + fence; }
  void unmap() override {}
  std::byte* memory;
  std::size_t fence;
};

struct EmulatedEvent : detail::EventState {
  void wait() override {}
  bool done() override { return true; }
  double seconds_until(detail::EventState& later) override { return static_cast<EmulatedEvent&>(later).at - at; }
  double at = base::now();
};

struct EmulatedQueue : detail::QueueState {
  static std::byte* address(detail::MemoryState& memory, std::ptrdiff_t offset) {
    return memory.allocation->map() + offset;
  }
  void upload(const void* from, detail::MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memcpy(address(to, offset), from, bytes);
  }
  void download(detail::MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memcpy(to, address(from, offset), bytes);
  }
  void copy(detail::MemoryState& from, detail::MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
            std::ptrdiff_t to_offset) override {
    std::memmove(address(to, to_offset), address(from, from_offset), bytes);
  }
  static void box_copy(const std::byte* from, const Pitches& a, std::byte* to, const Pitches& b, const ByteBox& box) {
    for (std::size_t slice = 0; slice < box.slices; ++slice) {
      for (std::size_t row = 0; row < box.rows; ++row) {
        std::memcpy(to + b.offset + slice * b.slice + row * b.row, from + a.offset + slice * a.slice + row * a.row,
                    box.bytes);
      }
    }
  }
  void upload(const void* from, const Pitches& a, detail::MemoryState& to, const Pitches& b,
              const ByteBox& box) override {
    box_copy(static_cast<const std::byte*>(from), a, address(to, 0), b, box);
  }
  void download(detail::MemoryState& from, const Pitches& a, void* to, const Pitches& b, const ByteBox& box) override {
    box_copy(address(from, 0), a, static_cast<std::byte*>(to), b, box);
  }
  void copy(detail::MemoryState& from, const Pitches& a, detail::MemoryState& to, const Pitches& b,
            const ByteBox& box) override {
    box_copy(address(from, 0), a, address(to, 0), b, box);
  }
  void fill(detail::MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) override {
    std::memset(address(to, offset), std::to_integer<int>(value), bytes);
  }
  void launch(detail::KernelState& state, const Launch& shape, const std::vector<Argument>& arguments) override {
    auto& kernel = static_cast<EmulatedKernel&>(state);
    std::vector<std::uintptr_t> addresses(arguments.size());
    std::vector<void*> pointers(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].buffer() != nullptr) {
        addresses[i] = arguments[i].buffer()->state().allocation->native();
        pointers[i] = &addresses[i];
      } else {
        pointers[i] = const_cast<std::byte*>(arguments[i].bytes().data());  // read only
      }
    }
    const std::uint64_t groups = shape.groups[0] * shape.groups[1] * shape.groups[2];
    Emulator::one().run(kernel.call, pointers.data(), shape, kernel.cluster,
                        kernel.together ? static_cast<std::size_t>(groups) : kernel.cluster);
  }
  std::shared_ptr<detail::EventState> record() override { return std::make_shared<EmulatedEvent>(); }
  void wait_for(detail::EventState&) override {}
  void finish() override {}
  std::uintptr_t native() const override { return 0; }
};

// Path of the prelude in the source tree. __FILE__ is relative if ccache rewrites paths (base_dir); the file is then
// searched upwards from the folder of this program.
inline std::filesystem::path prelude_path() {
  const auto given = std::filesystem::path(__FILE__).parent_path() / "emulated_cuda_prelude.hpp";
  if (given.is_absolute()) return given;
  for (auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    const auto found = folder / "tests/support/emulated_cuda_prelude.hpp";
    if (std::filesystem::exists(found)) return found;
  }
  return given;
}

struct EmulatedCuda : Hopper, std::enable_shared_from_this<EmulatedCuda> {
  EmulatedCuda() {
    info.limits.compute_units = 4;  // so that rings have few groups
    info.limits.memory = info.limits.allocation = std::size_t{1} << 32;
    info.driver = "emulated";
    info.name = "emulated";
  }
  std::unique_ptr<detail::Allocation> allocate(std::size_t bytes, std::size_t fence, const BufferOptions&) override {
    return std::make_unique<EmulatedAllocation>(bytes, fence);
  }
  std::shared_ptr<detail::QueueState> queue() override {
    auto queue = std::make_shared<EmulatedQueue>();
    queue->device = shared_from_this();
    return queue;
  }
  std::shared_ptr<detail::ProgramState> compile(const KernelSource& source) override {
    const auto prelude = prelude_path();
    std::string text = fmt::format("#include \"{}\"\n", prelude.string());
    for (const auto& [name, value] : source.defines) text += fmt::format("#define {} {}\n", name, value);
    text += without_instructions(source.text);
    const std::regex kernel("KERNEL[^{;]*?void\\s+(\\w+)\\s*\\(");
    for (std::sregex_iterator each(source.text.begin(), source.text.end(), kernel), end; each != end; ++each) {
      const std::string name = (*each)[1];
      text += fmt::format("\nextern \"C\" void ridge_call_{0}(void* const* a) {{ ridge_call({0}, a); }}\n", name);
    }
    const std::string path = (folder_.path() / fmt::format("kernel{}", count_++)).string();
    std::ofstream(path + ".cpp") << text;
    const std::string command =
        fmt::format("g++ -std=c++20 -O1 -w -fsigned-char -fPIC -shared -o {0}.so {0}.cpp 2>{0}.log", path);
    if (std::system(command.c_str()) != 0) {  // NOLINT: our own command
      std::ifstream log(path + ".log");
      throw Error(ErrorKind::internal, std::string(std::istreambuf_iterator<char>(log), {}) + source.text);
    }
    auto program = std::make_shared<EmulatedProgram>();
    program->name = source.name;
    program->device = shared_from_this();
    program->library = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (program->library == nullptr) throw Error(ErrorKind::internal, dlerror());
    *static_cast<EmulatedMachine**>(dlsym(program->library, "ridge_machine")) = &Emulator::one().machine;
    std::smatch found;
    if (std::regex_search(source.text, found, std::regex("CLUSTER\\((\\d+)\\)"))) {
      program->cluster = std::stoul(found[1]);
    }
    program->together =
        source.text.find("SIGNAL_COUNT(") != std::string::npos || source.text.find("MAIL_SEND(") != std::string::npos;
    return program;
  }
  detail::TileMap tile_map(detail::MemoryState& buffer, const detail::TileMapShape& shape) override {
    const EmulatedTileMap map{buffer.allocation->native() + shape.offset,
                              shape.columns,
                              shape.rows,
                              shape.row,
                              shape.arrays,
                              shape.array,
                              shape.box_columns | static_cast<std::uint64_t>(shape.box_rows) << 32,
                              shape.float64 ? 8u : 4u};
    detail::TileMap both{};
    static_assert(sizeof(map) == sizeof(both.first));
    std::memcpy(&both.first, &map, sizeof(map));
    return both;
  }

 private:
  // Replaces PTX: named barriers become calls, and emulated matrix units synchronize one sub-group only, because other
  // sub-groups may be elsewhere.
  static std::string without_instructions(std::string text) {
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
      }
    };
    replace(R"(asm volatile("bar.arrive %0, 512;" ::"n"(id) : "memory"))", "ridge_machine->meet(id, 512, false)");
    replace(R"(asm volatile("bar.sync %0, 512;" ::"n"(id) : "memory"))", "ridge_machine->meet(id, 512, true)");
    replace("  BARRIER(); \\\n", "  SUB_GROUP_BARRIER(); \\\n");
    return text;
  }

  ScratchFolder folder_;
  int count_ = 0;
};

}  // namespace ridge::test

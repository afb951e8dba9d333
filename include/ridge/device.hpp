// One Device: the host, an OpenCL device or a CUDA device behind the same words.
//
//   auto gpu = ridge::device("cuda:0");
//   auto queue = gpu.queue();
//   auto data = gpu.buffer(bytes, {.name = "samples"});
//   auto kernel = gpu.compile({.name = "scale", .text = source}).kernel("scale");
//   queue.launch(kernel, {.groups = {n / 256}, .items = {256}}, {data, 2.0f});
//
// All classes are cheap handles to shared state. Devices, programs, kernels and buffers may be used from several
// threads at once; a queue belongs to one thread at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ridge/error.hpp>

namespace ridge {

enum class Backend { host, opencl, cuda };
const char* to_string(Backend backend);

// What a device allows. Zero means "the device has none" (no sub-groups) unless said otherwise.
struct Limits {
  std::size_t work_group = 1;                            // most work-items in a work-group
  std::array<std::size_t, 3> work_group_sides{1, 1, 1};  // most along each axis
  std::size_t local_memory = 0;                          // bytes a work-group may take
  std::size_t registers = 0;                             // 32-bit registers a work-group may take; 0: unknown
  std::size_t constant_memory = 0;                       // bytes
  std::size_t sub_group = 0;                             // lanes that can shuffle
  std::size_t alignment = 64;                            // bytes, of a buffer's start
  std::size_t compute_units = 1;                         // cores, multiprocessors
  std::size_t items_per_unit = 1;                        // resident work-items a compute unit; 0: unknown
  std::size_t memory = 0;                                // bytes
  std::size_t allocation = 0;                            // bytes, the largest single buffer
  bool float64 = true;
  // Traits that decide which variants exist; zero and false where the device has none or does not say.
  int architecture = 0;                     // CUDA's number, 90 for sm_90 and 120 for sm_120, by OpenCL too
  std::size_t unit_registers = 0;           // 32-bit registers of a compute unit, shared by its resident groups
  std::size_t unit_local_memory = 0;        // bytes of local memory of a compute unit, shared by its resident groups
  bool matrix_units = false;                // products of small matrices as instructions (mma)
  bool asynchronous_copies = false;         // global to local memory behind the work-items' backs (cp.async)
  bool clusters = false;                    // groups that read each other's local memory
  bool tensor_maps = false;                 // tiles fetched by a copy engine (TMA)
  bool private_arrays_in_registers = true;  // false: unrolled private arrays live in memory (PoCL)
};

struct DeviceInfo {
  std::string id{};      // "host", "opencl:0", "cuda:0"
  std::string name{};    // what the vendor calls it
  std::string vendor{};  // for OpenCL the platform's name, so that "opencl:pocl" can find it
  std::string driver{};  // driver and runtime versions; part of every cache key
  std::string isa{};     // "sm_90", "NEON", "AVX3": what kernels are compiled for
  std::string bus{};     // PCI address, "0000:1b:00.0", where the driver tells it (CUDA); finds the power counters
  Backend backend = Backend::host;
  Limits limits = {};
  double clock_ghz = 0;                     // rated; 0 where the system does not say
  bool shares_host_memory = false;          // integrated devices and PoCL
  bool runs_on_host_cores = false;          // its compute units are the host's: PoCL and other CPU devices
  std::vector<std::string> overrides = {};  // limits an override file changed, "work_group 1024 -> 128"
  std::string fingerprint() const;          // changes whenever saved measurements of this device stop being valid
};

// Where a buffer lives.
enum class MemoryKind {
  device,  // the device's own memory
  pinned,  // page-locked host memory: fast, asynchronous copies
  mapped,  // host memory that kernels read and write in place
};

struct BufferOptions {
  MemoryKind kind = MemoryKind::device;
  std::string name = "buffer";  // shown when something goes wrong with it
  bool write_combined = false;  // mapped and pinned only: the host will write and never read
};

namespace detail {
struct DeviceState;
struct MemoryState;
struct ProgramState;
struct KernelState;
struct QueueState;
struct EventState;
}  // namespace detail

class Device;

// A mapping of a buffer into host memory; ends with its scope. The device must not use the buffer meanwhile.
class Mapping {
 public:
  explicit Mapping(std::shared_ptr<detail::MemoryState> memory);
  ~Mapping();
  Mapping(Mapping&&) noexcept = default;
  Mapping& operator=(Mapping&&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::shared_ptr<detail::MemoryState> memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::shared_ptr<detail::MemoryState> state) : state_(std::move(state)) {}
  explicit operator bool() const { return state_ != nullptr; }
  std::size_t size() const;  // bytes
  MemoryKind kind() const;
  const std::string& name() const;
  Device device() const;
  Mapping map() const;            // host, pinned and mapped buffers; else Error
  std::uintptr_t native() const;  // CUdeviceptr, cl_mem, or the host address
  detail::MemoryState& state() const;

 private:
  std::shared_ptr<detail::MemoryState> state_;
};

// A point in a queue's work. Two of one device tell the time that passed on the device between them.
class Event {
 public:
  Event() = default;
  explicit Event(std::shared_ptr<detail::EventState> state) : state_(std::move(state)) {}
  explicit operator bool() const { return state_ != nullptr; }
  void wait() const;
  bool done() const;
  detail::EventState& state() const;

 private:
  std::shared_ptr<detail::EventState> state_;
};
double seconds_between(const Event& first, const Event& last);  // waits for both

// What a kernel is given: a buffer, or the bytes of a scalar or small struct.
class Argument {
 public:
  Argument(const Buffer& buffer) : buffer_(&buffer) {}  // NOLINT: implicit on purpose, so that {a, b, 3} reads well
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && sizeof(T) <= 64) Argument(const T& value)
      : size_(sizeof(T)) {  // NOLINT: implicit on purpose
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  const Buffer* buffer() const { return buffer_; }
  std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }

 private:
  const Buffer* buffer_ = nullptr;
  std::size_t size_ = 0;
  alignas(16) std::array<std::byte, 64> bytes_{};
};

// Counts along three axes. An axis that is not given counts 1; a plain array would make it 0.
struct Extent : std::array<std::uint64_t, 3> {
  constexpr Extent(std::uint64_t x = 1, std::uint64_t y = 1, std::uint64_t z = 1)  // NOLINT: implicit on purpose
      : array{x, y, z} {}
  constexpr Extent(const std::array<std::uint64_t, 3>& sides) : array(sides) {}  // NOLINT: implicit on purpose
};

struct Launch {
  Extent groups{};              // work-groups along each axis
  Extent items{};               // work-items in a group along each axis
  std::size_t local_bytes = 0;  // what the kernel's LOCAL_BLOCK takes (see the dialect)
};

// Source in the kernel dialect (src/device/dialect.hpp; docs/device.md).
struct KernelSource {
  std::string name{};  // shown in errors and dumps
  std::string text{};
  std::vector<std::pair<std::string, std::string>> defines = {};  // in order, before the text
  bool relaxed_math = false;  // approximate division and square root, flush denormals
};

class Kernel {
 public:
  Kernel() = default;
  explicit Kernel(std::shared_ptr<detail::KernelState> state) : state_(std::move(state)) {}
  explicit operator bool() const { return state_ != nullptr; }
  const std::string& name() const;
  std::size_t registers() const;      // a work-item; 0 where the back end does not say
  std::size_t private_bytes() const;  // spilled or private memory a work-item
  std::size_t work_group() const;     // most work-items this kernel can run with
  detail::KernelState& state() const;

 private:
  std::shared_ptr<detail::KernelState> state_;
};

class Program {
 public:
  explicit Program(std::shared_ptr<detail::ProgramState> state) : state_(std::move(state)) {}
  Kernel kernel(const std::string& name) const;
  bool from_cache() const;  // compiled in an earlier process
  detail::ProgramState& state() const;

 private:
  std::shared_ptr<detail::ProgramState> state_;
};

// Rows of bytes, and slices of rows, inside a longer stretch of memory: where the first byte lies and how far apart
// rows and slices are. Zero: right after each other. Slices must lie a whole number of rows apart.
struct Pitches {
  std::size_t offset = 0;  // bytes, as all three
  std::size_t row = 0;
  std::size_t slice = 0;
};
// How much of them a copy takes.
struct ByteBox {
  std::size_t bytes = 0;  // of a row
  std::size_t rows = 1;
  std::size_t slices = 1;
};

// In order. Copies and launches return at once where the memory allows it; host memory given to upload and download
// must stay alive until the queue has passed them.
class Queue {
 public:
  explicit Queue(std::shared_ptr<detail::QueueState> state) : state_(std::move(state)) {}
  void upload(const void* from, const Buffer& to, std::size_t bytes, std::size_t to_offset = 0);
  void download(const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset = 0);
  void copy(const Buffer& from, const Buffer& to, std::size_t bytes, std::size_t from_offset = 0,
            std::size_t to_offset = 0);  // between buffers of this device, of any kind
  // The same for part of a picture or a volume.
  void upload(const void* from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
              const ByteBox& box);
  void download(const Buffer& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                const ByteBox& box);
  void copy(const Buffer& from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
            const ByteBox& box);
  void fill(const Buffer& to, std::byte value);
  void launch(const Kernel& kernel, const Launch& shape, const std::vector<Argument>& arguments);
  Event record();                     // when everything before it is done
  void wait_for(const Event& event);  // later work of this queue waits for an event of another queue of this device
  void finish();
  Device device() const;
  std::uintptr_t native() const;  // CUstream or cl_command_queue

  template <class T>
  void upload(std::span<const T> from, const Buffer& to) {
    upload(from.data(), to, from.size_bytes());
  }
  template <class T>
  void download(const Buffer& from, std::span<T> to) {
    download(from, to.data(), to.size_bytes());
  }

 private:
  std::shared_ptr<detail::QueueState> state_;
};

class Device {
 public:
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
  const DeviceInfo& info() const;
  const Limits& limits() const { return info().limits; }
  const std::string& id() const { return info().id; }
  bool is_host() const { return info().backend == Backend::host; }
  Queue queue() const;
  Buffer buffer(std::size_t bytes, const BufferOptions& options = {}) const;
  Program compile(const KernelSource& source) const;  // from the cache on disk where it can; not on the host
  detail::DeviceState& state() const;
  std::shared_ptr<detail::DeviceState> shared_state() const { return state_; }

 private:
  std::shared_ptr<detail::DeviceState> state_;
};

// Every device of this machine, the host first, and a line for each back end that is not there and why.
struct DeviceList {
  std::vector<Device> devices = {};
  std::vector<std::string> notes = {};
};
const DeviceList& devices();

// "host", "opencl:0", "opencl:pocl" (part of the platform's or device's name), "cuda:0", "best"; empty means
// RIDGE_DEVICE, or "best" where that is not set.
Device device(const std::string& name = "");
Device host();
Device best();

// Checking mode: fences around every buffer, new memory poisoned with NaN, every launch followed by a check that names
// the kernel and the buffer of an overrun. On from the start with RIDGE_CHECK=1; applies to buffers made afterwards.
void set_checking(bool on);
bool checking();

}  // namespace ridge

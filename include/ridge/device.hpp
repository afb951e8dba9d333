// Devices, buffers, kernels and queues: one interface for the host, OpenCL devices and CUDA devices.
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

// Limits and features of a device. Zero means that the device lacks the feature (no sub-groups), unless noted
// otherwise.
struct Limits {
  std::size_t work_group = 1;                            // maximum work-items per work-group
  std::array<std::size_t, 3> work_group_sides{1, 1, 1};  // maximum along each axis
  std::size_t local_memory = 0;                          // bytes available to one work-group
  std::size_t registers = 0;                             // 32-bit registers available to one work-group; 0: unknown
  std::size_t constant_memory = 0;                       // bytes
  std::size_t sub_group = 0;                             // work-items of a sub-group (a CUDA warp), which can shuffle
  std::size_t alignment = 64;                            // bytes, of a buffer's first address
  std::size_t compute_units = 1;                         // cores, multiprocessors
  std::size_t items_per_unit = 1;                        // resident work-items per compute unit; 0: unknown
  std::size_t memory = 0;                                // bytes
  std::size_t allocation = 0;                            // bytes, the largest single buffer
  bool float64 = true;
  // Features that decide which variants exist. Zero or false: absent, or not reported by the driver.
  int architecture = 0;  // CUDA compute capability: 90 for sm_90, 120 for sm_120; also set for NVIDIA's OpenCL
  std::size_t unit_registers = 0;     // 32-bit registers of a compute unit, shared by its resident groups
  std::size_t unit_local_memory = 0;  // bytes of local memory of a compute unit, shared by its resident groups
  bool matrix_units = false;          // products of small matrices as instructions (mma)
  bool asynchronous_copies = false;   // asynchronous copies from global to local memory (cp.async)
  bool clusters = false;              // work-groups that read each other's local memory (distributed shared memory)
  bool tensor_maps = false;           // tiles fetched by a copy engine (TMA)
  bool private_arrays_in_registers = true;  // false: unrolled private arrays stay in memory (PoCL)
};

struct DeviceInfo {
  std::string id{};      // "host", "opencl:0", "cuda:0"
  std::string name{};    // as reported by the driver
  std::string vendor{};  // for OpenCL the platform's name, which "opencl:pocl" matches
  std::string driver{};  // driver and runtime versions; part of every cache key
  std::string isa{};     // "sm_90", "NEON", "AVX3": the target of compiled kernels
  std::string bus{};     // PCI address, "0000:1b:00.0", if the driver reports it (CUDA); identifies the power counters
  Backend backend = Backend::host;
  Limits limits = {};
  double clock_ghz = 0;                     // rated; 0 if the system does not report it
  bool shares_host_memory = false;          // integrated devices and PoCL
  bool runs_on_host_cores = false;          // its compute units are the host's: PoCL and other CPU devices
  bool recorded = false;                    // a description (recorded:mi300x): plans and explains, runs nothing
  std::vector<std::string> overrides = {};  // limits changed by an override file, "work_group 1024 -> 128"
  std::string fingerprint() const;          // changes whenever saved measurements of this device become invalid
};

// Memory in which a buffer is allocated.
enum class MemoryKind {
  device,  // the device's own memory
  pinned,  // page-locked host memory: fast, asynchronous copies
  mapped,  // host memory that kernels access in place
};

struct BufferOptions {
  MemoryKind kind = MemoryKind::device;
  std::string name = "buffer";  // shown in error messages
  bool write_combined = false;  // mapped and pinned only: the host writes and never reads
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

// A mapping of a buffer into host memory; ends with its scope. The device must not use the buffer while it is mapped.
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
  Mapping map() const;            // host, pinned and mapped buffers; Error for other kinds
  std::uintptr_t native() const;  // CUdeviceptr, cl_mem, or the host address
  detail::MemoryState& state() const;

 private:
  std::shared_ptr<detail::MemoryState> state_;
};

// A point in a queue's work. The device time between two events of one device can be measured.
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

// A kernel argument: a buffer, or the bytes of a scalar or small struct.
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

// Counts along three axes. Omitted axes default to 1; in a plain array they would be 0.
struct Extent : std::array<std::uint64_t, 3> {
  constexpr Extent(std::uint64_t x = 1, std::uint64_t y = 1, std::uint64_t z = 1)  // NOLINT: implicit on purpose
      : array{x, y, z} {}
  constexpr Extent(const std::array<std::uint64_t, 3>& sides) : array(sides) {}  // NOLINT: implicit on purpose
};

struct Launch {
  Extent groups{};              // work-groups along each axis
  Extent items{};               // work-items in a group along each axis
  std::size_t local_bytes = 0;  // size of the kernel's LOCAL_BLOCK (see the kernel dialect)
};

// Source in the kernel dialect, which compiles as OpenCL C and CUDA C++ (src/device/dialect.hpp, docs/device.md).
struct KernelSource {
  std::string name{};  // shown in errors and dumps
  std::string text{};
  std::vector<std::pair<std::string, std::string>> defines = {};  // in order, emitted before the text
  bool relaxed_math = false;  // approximate division and square root, flush denormals
};

class Kernel {
 public:
  Kernel() = default;
  explicit Kernel(std::shared_ptr<detail::KernelState> state) : state_(std::move(state)) {}
  explicit operator bool() const { return state_ != nullptr; }
  const std::string& name() const;
  std::size_t registers() const;      // per work-item; 0 if the back end does not report it
  std::size_t private_bytes() const;  // spilled or private memory per work-item
  std::size_t work_group() const;     // maximum work-group size of this kernel
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

// Layout of rows and slices inside an allocation: offset of the first byte and distances between rows and slices. Zero
// means packed. The slice pitch must be a multiple of the row pitch.
struct Pitches {
  std::size_t offset = 0;  // bytes, like the other two
  std::size_t row = 0;
  std::size_t slice = 0;
};
// Size of a strided copy.
struct ByteBox {
  std::size_t bytes = 0;  // per row
  std::size_t rows = 1;
  std::size_t slices = 1;
};

// An in-order queue. Copies and launches are asynchronous if the memory kind allows it. Host memory passed to upload
// and download must stay alive until the queue has executed the copy.
class Queue {
 public:
  explicit Queue(std::shared_ptr<detail::QueueState> state) : state_(std::move(state)) {}
  void upload(const void* from, const Buffer& to, std::size_t bytes, std::size_t to_offset = 0);
  void download(const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset = 0);
  void copy(const Buffer& from, const Buffer& to, std::size_t bytes, std::size_t from_offset = 0,
            std::size_t to_offset = 0);  // between buffers of this device, of any kind
  // Strided copies of a rectangle or a volume.
  void upload(const void* from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
              const ByteBox& box);
  void download(const Buffer& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                const ByteBox& box);
  void copy(const Buffer& from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
            const ByteBox& box);
  void fill(const Buffer& to, std::byte value);
  void launch(const Kernel& kernel, const Launch& shape, const std::vector<Argument>& arguments);
  Event record();                     // completes after all work enqueued before it
  void wait_for(const Event& event);  // later work of this queue waits for the event, which may be of another queue of
                                      // this device
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
  Program compile(const KernelSource& source) const;  // uses the cache on disk if possible; not on the host
  detail::DeviceState& state() const;
  std::shared_ptr<detail::DeviceState> shared_state() const { return state_; }

 private:
  std::shared_ptr<detail::DeviceState> state_;
};

// Every device of this machine, the host first, and one line per unavailable back end with the reason.
struct DeviceList {
  std::vector<Device> devices = {};
  std::vector<std::string> notes = {};
};
const DeviceList& devices();

// Accepts "host", "opencl:0", "opencl:pocl" (a part of the platform's or device's name), "cuda:0" and "best". Empty
// means RIDGE_DEVICE, or "best" if that is not set.
Device device(const std::string& name = "");
Device host();
Device best();

// Checking mode: guard zones around every buffer, new memory filled with NaN, and a check after every launch that names
// the kernel and the buffer of an overrun. Enabled from the start by RIDGE_CHECK=1; applies to buffers created
// afterwards.
void set_checking(bool on);
bool checking();

}  // namespace ridge

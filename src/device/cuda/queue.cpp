// Copies, fills and launches on a CUDA stream, and its events.
#include <fmt/format.h>

#include <array>

#include "device/cuda/state.hpp"
#include "device/recording.hpp"

namespace ridge::detail {
namespace {

constexpr std::size_t kMostArguments = 64;

CUdeviceptr address(MemoryState& memory, std::ptrdiff_t offset) {
  return static_cast<CUdeviceptr>(memory.allocation->native()) + static_cast<CUdeviceptr>(offset);
}

CUdeviceptr unified(const void* pointer) { return static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(pointer)); }

CudaEvent& of_this_device(EventState& event, const CudaDevice& device) {
  auto* cuda = dynamic_cast<CudaEvent*>(&event);
  if (cuda && cuda->device.get() == &device) return *cuda;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("needs an event of {}, got one of another device", device.info.id));
}

// One end of a copy of a box: a buffer, or the caller's memory.
struct Side {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
};
Side side_of(MemoryState& memory) {
  // Pinned memory is known to the driver by its address.
  return {memory.kind == MemoryKind::device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED, nullptr,
          address(memory, 0)};
}
Side side_of(const void* pointer) { return {CU_MEMORYTYPE_HOST, const_cast<void*>(pointer), 0}; }

CUDA_MEMCPY3D box_copy(const Side& from, const Pitches& from_pitches, const Side& to, const Pitches& to_pitches,
                       const ByteBox& box) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from.type;
  copy.srcHost = static_cast<const std::byte*>(from.host) + (from.host ? from_pitches.offset : 0);
  copy.srcDevice = from.device + from_pitches.offset;
  copy.srcPitch = from_pitches.row;
  copy.srcHeight = from_pitches.slice / from_pitches.row;
  copy.dstMemoryType = to.type;
  copy.dstHost = static_cast<std::byte*>(to.host) + (to.host ? to_pitches.offset : 0);
  copy.dstDevice = to.device + to_pitches.offset;
  copy.dstPitch = to_pitches.row;
  copy.dstHeight = to_pitches.slice / to_pitches.row;
  copy.WidthInBytes = box.bytes;
  copy.Height = box.rows;
  copy.Depth = box.slices;
  return copy;
}

// CUDA allows 2^31 - 1 work-groups along the first axis of a grid, but only 65535 along the others.
void check_groups(const CudaKernel& kernel, const Launch& shape) {
  constexpr std::array<std::uint64_t, 3> most{0x7fffffff, 65535, 65535};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (shape.groups[axis] > most[axis]) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("kernel {}: {} work-groups along axis {}, CUDA allows {}; put the longest axis first",
                              kernel.name, shape.groups[axis], axis, most[axis]));
    }
  }
}

unsigned narrow(std::uint64_t count) { return static_cast<unsigned>(count); }

// Lets the groups start before earlier kernels of the stream have ended; they wait in AFTER_PREVIOUS_KERNEL().
CUresult launch_early(const CudaDriver& driver, CUfunction function, const Launch& shape, CUstream stream,
                      void** arguments) {
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig how{};
  how.gridDimX = narrow(shape.groups[0]);
  how.gridDimY = narrow(shape.groups[1]);
  how.gridDimZ = narrow(shape.groups[2]);
  how.blockDimX = narrow(shape.items[0]);
  how.blockDimY = narrow(shape.items[1]);
  how.blockDimZ = narrow(shape.items[2]);
  how.sharedMemBytes = narrow(shape.local_bytes);
  how.hStream = stream;
  how.attrs = &early;
  how.numAttrs = 1;
  return driver.launch_kernel_with(&how, function, arguments, nullptr);
}

struct CudaGraph : GraphState {
  explicit CudaGraph(std::shared_ptr<CudaDevice> owner) : device(std::move(owner)) {}
  ~CudaGraph() override {
    if (handle != nullptr && device->make_current_quietly()) device->driver.graph_exec_destroy(handle);
  }
  std::shared_ptr<CudaDevice> device;
  CUgraphExec handle = nullptr;
};

}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<CudaDevice> owner) : cuda(std::move(owner)) {
  device = cuda;
  cuda->make_current();
  cuda->check(cuda->driver.stream_create(&stream, CU_STREAM_NON_BLOCKING), "creating a queue");
}

CudaQueue::CudaQueue(std::shared_ptr<CudaDevice> owner, CUstream others)
    : cuda(std::move(owner)), stream(others), own(false) {
  device = cuda;
  cuda->make_current();
}
CudaQueue::~CudaQueue() {
  if (own && cuda->make_current_quietly()) cuda->driver.stream_destroy(stream);
}

void CudaQueue::upload(const void* from, MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) {
  cuda->make_current();
  // Unified addressing: `from` may be device memory too.
  cuda->check(cuda->driver.memcpy_any(address(to, offset), unified(from), bytes, stream), "uploading");
}

void CudaQueue::download(MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) {
  cuda->make_current();
  cuda->check(cuda->driver.memcpy_any(unified(to), address(from, offset), bytes, stream), "downloading");
}

void CudaQueue::copy(MemoryState& from, MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
                     std::ptrdiff_t to_offset) {
  cuda->make_current();
  cuda->check(cuda->driver.memcpy_any(address(to, to_offset), address(from, from_offset), bytes, stream),
              "copying between buffers");
}

void CudaQueue::upload(const void* from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                       const ByteBox& box) {
  cuda->make_current();
  const CUDA_MEMCPY3D copy = box_copy(side_of(from), from_pitches, side_of(to), to_pitches, box);
  cuda->check(cuda->driver.memcpy_box(&copy, stream), "uploading rows");
}

void CudaQueue::download(MemoryState& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                         const ByteBox& box) {
  cuda->make_current();
  const CUDA_MEMCPY3D copy = box_copy(side_of(from), from_pitches, side_of(to), to_pitches, box);
  cuda->check(cuda->driver.memcpy_box(&copy, stream), "downloading rows");
}

void CudaQueue::copy(MemoryState& from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                     const ByteBox& box) {
  cuda->make_current();
  const CUDA_MEMCPY3D copy = box_copy(side_of(from), from_pitches, side_of(to), to_pitches, box);
  cuda->check(cuda->driver.memcpy_box(&copy, stream), "copying rows between buffers");
}

void CudaQueue::fill(MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) {
  cuda->make_current();
  cuda->check(cuda->driver.memset_bytes(address(to, offset), std::to_integer<unsigned char>(value), bytes, stream),
              "filling a buffer");
}

void CudaQueue::launch(KernelState& kernel_state, const Launch& shape, const std::vector<Argument>& arguments) {
  auto& kernel = static_cast<CudaKernel&>(kernel_state);
  if (arguments.size() > kMostArguments) {
    throw Error(ErrorKind::invalid_argument, fmt::format("kernel {}: {} arguments, at most {} can be given",
                                                         kernel.name, arguments.size(), kMostArguments));
  }
  kernel.check_arguments(arguments);
  check_groups(kernel, shape);
  cuda->make_current();
  kernel.allow_local_memory(shape.local_bytes);

  std::array<CUdeviceptr, kMostArguments> addresses;  // NOLINT: filled below as far as it is read
  std::array<void*, kMostArguments> pointers;         // NOLINT: the same
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.buffer()) {
      addresses[i] = static_cast<CUdeviceptr>(argument.buffer()->state().allocation->native());
      pointers[i] = &addresses[i];
    } else {
      pointers[i] = const_cast<std::byte*>(argument.bytes().data());  // the driver only reads it
    }
  }
  cuda->remember_launch(kernel.shared_name);
  const auto start = [&](auto function, auto... last) {
    return function(kernel.function, narrow(shape.groups[0]), narrow(shape.groups[1]), narrow(shape.groups[2]),
                    narrow(shape.items[0]), narrow(shape.items[1]), narrow(shape.items[2]), narrow(shape.local_bytes),
                    stream, pointers.data(), last...);
  };
  const CUresult result = kernel.early ? launch_early(cuda->driver, kernel.function, shape, stream, pointers.data())
                          : kernel.together ? start(cuda->driver.launch_cooperative)
                                            : start(cuda->driver.launch_kernel, nullptr);
  if (result != CUDA_SUCCESS) cuda->fail(result, fmt::format("launching kernel {}", kernel.name));
}

std::shared_ptr<EventState> CudaQueue::record() {
  auto event = std::make_shared<CudaEvent>(cuda);
  cuda->check(cuda->driver.event_record(event->handle, stream), "recording an event");
  return event;
}

void CudaQueue::wait_for(EventState& event) {
  const CudaEvent& other = of_this_device(event, *cuda);
  cuda->make_current();
  cuda->check(cuda->driver.stream_wait_event(stream, other.handle, 0), "making a queue wait for an event");
}

void CudaQueue::finish() {
  cuda->make_current();
  cuda->check(cuda->driver.stream_synchronize(stream), "waiting for a queue");
}

std::shared_ptr<GraphState> CudaDevice::graph_of(std::uintptr_t queue, const std::function<void()>& calls) {
  if (driver.graph_instantiate == nullptr || driver.stream_begin_capture == nullptr) return nullptr;
  const auto stream = reinterpret_cast<CUstream>(queue);  // NOLINT: a handle
  make_current();
  // Relaxed: other threads may allocate memory and load modules during the capture.
  check(driver.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "beginning to record a graph");
  CUgraph graph = nullptr;
  try {
    calls();
  } catch (...) {
    driver.stream_end_capture(stream, &graph);
    if (graph != nullptr) driver.graph_destroy(graph);
    throw;
  }
  check(driver.stream_end_capture(stream, &graph), "recording a graph");
  auto made = std::make_shared<CudaGraph>(shared_from_this());
  const CUresult result = driver.graph_instantiate(&made->handle, graph, 0);
  driver.graph_destroy(graph);
  check(result, "compiling a recorded graph");
  return made;
}

void CudaDevice::enqueue(GraphState& graph, std::uintptr_t queue) {
  make_current();
  check(driver.graph_launch(static_cast<CudaGraph&>(graph).handle, reinterpret_cast<CUstream>(queue)),  // NOLINT
        "launching a recorded graph");
}

CudaEvent::CudaEvent(std::shared_ptr<CudaDevice> owner) : device(std::move(owner)) {
  device->make_current();
  device->check(device->driver.event_create(&handle, CU_EVENT_DEFAULT), "creating an event");
}

CudaEvent::~CudaEvent() {
  if (device->make_current_quietly()) device->driver.event_destroy(handle);
}

void CudaEvent::wait() {
  device->make_current();
  device->check(device->driver.event_synchronize(handle), "waiting for an event");
}

bool CudaEvent::done() {
  device->make_current();
  const CUresult result = device->driver.event_query(handle);
  if (result == CUDA_ERROR_NOT_READY) return false;
  device->check(result, "testing whether an event is complete");
  return true;
}

double CudaEvent::seconds_until(EventState& later) {
  const CudaEvent& last = of_this_device(later, *device);
  device->make_current();
  float milliseconds = 0;
  device->check(device->driver.event_elapsed_time(&milliseconds, handle, last.handle), "reading the time of events");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace ridge::detail

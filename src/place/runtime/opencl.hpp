// OpenCL device of placed programs: memory, transfers and launches on one queue.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>

namespace placed {

inline void check(cl_int code, const char* what) {
  if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + ": OpenCL error " + std::to_string(code));
}

// Long copies through mapped, page-locked buffers; all blocks use one in-order queue.
class Transfers {
 public:
  // `first`: byte of the device's memory where the copied part begins.
  void run(cl_context context, cl_command_queue queue, char* host, cl_mem device, Int first, Int bytes, bool up) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (lanes_.empty()) open(context, queue);
    for (Lane& lane : lanes_) {
      lane.device = device;
      lane.first = first;
    }
    copy_by_lanes(lanes_, host, bytes, up);
  }

 private:
  struct Lane {
    cl_command_queue queue = nullptr;
    cl_mem locked[2]{}, device = nullptr;
    Int first = 0;
    char* slot[2]{};
    cl_event done[2]{};
    void wait(int turn) {
      if (done[turn] == nullptr) return;
      check(clWaitForEvents(1, &done[turn]), "waiting for a copy");
      clReleaseEvent(done[turn]);
      done[turn] = nullptr;
    }
    void start(int turn, Int at, Int n, bool up) {
      const auto from = static_cast<std::size_t>(first + at), bytes = static_cast<std::size_t>(n);
      check(up ? clEnqueueWriteBuffer(queue, device, CL_FALSE, from, bytes, slot[turn], 0, nullptr, &done[turn])
               : clEnqueueReadBuffer(queue, device, CL_FALSE, from, bytes, slot[turn], 0, nullptr, &done[turn]),
            "copying");
      check(clFlush(queue), "copying");
    }
  };
  std::mutex mutex_{};
  std::vector<Lane> lanes_{};

  void open(cl_context context, cl_command_queue queue) {
    std::vector<Lane> made(lanes_here());
    const auto bytes = static_cast<std::size_t>(kPiece);
    for (Lane& lane : made) {
      lane.queue = queue;
      for (int i = 0; i < 2; ++i) {
        cl_int code = CL_SUCCESS;
        lane.locked[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &code);
        check(code, "page-locked memory");
        lane.slot[i] = static_cast<char*>(clEnqueueMapBuffer(queue, lane.locked[i], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                             0, bytes, 0, nullptr, nullptr, &code));
        check(code, "page-locked memory");
      }
    }
    lanes_ = std::move(made);
  }
};

// The kernels of a program, on the first GPU or else the first device. Without a device that compiles them, the program
// runs its original loops.
class Kernels {
 public:
  explicit Kernels(const char* source) {
    for (const cl_device_type type : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}}) {
      cl_platform_id platforms[16];
      cl_uint count = 0;
      if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return;
      for (cl_uint p = 0; p < std::min(count, cl_uint{16}) && device == nullptr; ++p)
        if (clGetDeviceIDs(platforms[p], type, 1, &device, nullptr) != CL_SUCCESS) device = nullptr;
      if (device != nullptr) break;
    }
    if (device == nullptr) return;
    cl_int code = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    check(code, "making a context");
    queue = clCreateCommandQueue(context, device, 0, &code);
    check(code, "making a queue");
    program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    check(code, "the kernels");
    // Correctly rounded division and square root, as on the host, if the device supports them.
    cl_device_fp_config can = 0;
    clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(can), &can, nullptr);
    const char* const exactly =
        (can & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0 ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
    if (clBuildProgram(program, 1, &device, exactly, nullptr, nullptr) != CL_SUCCESS) {
      std::string log(65536, '\0');
      std::size_t length = 0;
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), &log[0], &length);
      std::fprintf(stderr, "runs on the host: the device cannot compile the kernels: %s\n", log.c_str());
      return;
    }
    cl_ulong bytes = 0, most = 0;
    clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes, nullptr);
    clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, nullptr);
    cl_bool shared = CL_TRUE;  // shares the host's memory
    clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(shared), &shared, nullptr);
    apart = shared == CL_FALSE;
    memory = static_cast<Int>(bytes);
    largest = static_cast<Int>(most);
    there = true;
  }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  bool there = false, apart = false;
  Int memory = 0, largest = 0;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  std::map<std::string, cl_kernel> kernels{};
  std::mutex mutex{};  // kernel arguments are state of the kernel object
  Transfers transfers{};

  // Buffers released by a call are reused by later ones: the queue is in order, so no earlier command still uses them.
  cl_mem take(Int bytes) {
    const std::lock_guard<std::mutex> lock(spare_mutex_);
    if (const auto at = spare_.find(bytes); at != spare_.end()) {
      cl_mem found = at->second;
      spare_.erase(at);
      return found;
    }
    cl_int code = CL_SUCCESS;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, static_cast<std::size_t>(bytes), nullptr, &code);
    if (code != CL_SUCCESS) {  // retry after freeing the spare buffers
      for (const auto& [size, old] : spare_) clReleaseMemObject(old);
      spare_.clear();
      made = clCreateBuffer(context, CL_MEM_READ_WRITE, static_cast<std::size_t>(bytes), nullptr, &code);
    }
    check(code, "memory of the device");
    return made;
  }
  void leave(cl_mem memory, Int bytes) {
    const std::lock_guard<std::mutex> lock(spare_mutex_);
    if (spare_.size() < 32)
      spare_.emplace(bytes, memory);
    else
      clReleaseMemObject(memory);
  }

 private:
  std::mutex spare_mutex_{};
  std::multimap<Int, cl_mem> spare_{};
};

class Device {
 public:
  using Memory = std::shared_ptr<_cl_mem>;
  explicit Device(Kernels& kernels) : k_(kernels) {}
  bool there() const { return k_.there; }
  Int memory() const { return k_.memory; }
  Int largest() const { return k_.largest; }
  Memory allocate(Int bytes) const {
    Kernels& k = k_;
    return Memory(k.take(bytes), [&k, bytes](cl_mem memory) { k.leave(memory, bytes); });
  }
  void recycle(Memory memory) const { memory.reset(); }
  // `at`: byte of the device's memory where the copied part begins.
  void upload(const void* from, const Memory& to, Int bytes, Int at) const {
    if (k_.apart && bytes >= kLongCopy)
      k_.transfers.run(k_.context, k_.queue, const_cast<char*>(static_cast<const char*>(from)), to.get(), at, bytes,
                       true);
    else
      check(clEnqueueWriteBuffer(k_.queue, to.get(), CL_TRUE, static_cast<std::size_t>(at),
                                 static_cast<std::size_t>(bytes), from, 0, nullptr, nullptr),
            "copying to the device");
  }
  void download(const Memory& from, void* to, Int bytes, Int at = 0) const {
    if (k_.apart && bytes >= kLongCopy)
      k_.transfers.run(k_.context, k_.queue, static_cast<char*>(to), from.get(), at, bytes, false);
    else
      check(clEnqueueReadBuffer(k_.queue, from.get(), CL_TRUE, static_cast<std::size_t>(at),
                                static_cast<std::size_t>(bytes), to, 0, nullptr, nullptr),
            "copying from the device");
  }
  void copy(const Memory& from, const Memory& to, Int bytes) const {
    check(
        clEnqueueCopyBuffer(k_.queue, from.get(), to.get(), 0, 0, static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
        "copying on the device");
  }
  void clear(const Memory& memory, Int bytes) const {
    const unsigned char zero = 0;
    check(
        clEnqueueFillBuffer(k_.queue, memory.get(), &zero, 1, 0, static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
        "clearing memory");
  }
  void uploaded() const {}
  template <class... Actual>
  void launch(const char* name, const Grid& grid, const Actual&... actual) const {
    const std::lock_guard<std::mutex> lock(k_.mutex);
    cl_kernel& kernel = k_.kernels[name];
    cl_int code = CL_SUCCESS;
    if (kernel == nullptr) kernel = clCreateKernel(k_.program, name, &code);
    check(code, name);
    cl_uint index = 0;
    for (const cl_int set : {give(kernel, index++, actual)...}) check(set, name);
    std::size_t all[3], items[3];
    for (int a = 0; a < 3; ++a) {
      items[a] = grid.items[a];
      all[a] = grid.groups[a] * grid.items[a];
    }
    check(clEnqueueNDRangeKernel(k_.queue, kernel, 3, nullptr, all, items, 0, nullptr, nullptr), name);
  }

 private:
  static cl_int give(cl_kernel kernel, cl_uint index, const Memory& memory) {
    cl_mem plain = memory.get();
    return clSetKernelArg(kernel, index, sizeof(plain), &plain);
  }
  template <class Number>
  static cl_int give(cl_kernel kernel, cl_uint index, const Number& value) {
    return clSetKernelArg(kernel, index, sizeof(value), &value);
  }
  Kernels& k_;
};

using Session = SessionOn<Device>;

}  // namespace placed

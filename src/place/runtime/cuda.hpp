// CUDA device of placed programs: memory, transfers and launches on one stream.
#include <cuda_runtime.h>

#include <memory>
#include <mutex>
#include <stdexcept>

namespace placed {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

// Staging streams, so that the blocks of a long copy overlap.
class Transfers {
 public:
  void run(char* host, char* device, Int bytes, bool up, cudaStream_t after) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (lanes_.empty()) open();
    check(cudaEventRecord(ready_, after), "before a copy");
    for (Lane& lane : lanes_) {
      lane.device = device;
      check(cudaStreamWaitEvent(lane.stream, ready_, 0), "before a copy");
    }
    copy_by_lanes(lanes_, host, bytes, up);
  }

 private:
  struct Lane {
    cudaStream_t stream{};
    cudaEvent_t done[2]{};
    char* slot[2]{};
    char* device = nullptr;
    void wait(int turn) { check(cudaEventSynchronize(done[turn]), "waiting for a copy"); }
    void start(int turn, Int at, Int n, bool up) {
      const auto bytes = static_cast<std::size_t>(n);
      check(up ? cudaMemcpyAsync(device + at, slot[turn], bytes, cudaMemcpyHostToDevice, stream)
               : cudaMemcpyAsync(slot[turn], device + at, bytes, cudaMemcpyDeviceToHost, stream),
            "copying");
      check(cudaEventRecord(done[turn], stream), "copying");
    }
  };
  std::mutex mutex_;
  std::vector<Lane> lanes_;
  cudaEvent_t ready_{};

  void open() {
    check(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming), "making an event");
    lanes_.resize(lanes_here());
    for (Lane& lane : lanes_) {
      check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "making a stream");
      for (int i = 0; i < 2; ++i) {
        check(cudaEventCreateWithFlags(&lane.done[i], cudaEventDisableTiming), "making an event");
        check(cudaMallocHost(&lane.slot[i], static_cast<std::size_t>(kPiece)), "page-locked memory");
      }
    }
  }
};

class Device {
 public:
  using Memory = std::shared_ptr<void>;
  Device() : shared_(shared()) {}
  bool there() const { return shared_.there; }
  Int memory() const { return shared_.memory; }
  Int largest() const { return shared_.memory; }
  Memory allocate(Int bytes) const {
    void* data = nullptr;
    const cudaStream_t stream = shared_.stream;
    check(cudaMallocAsync(&data, static_cast<std::size_t>(bytes), stream), "memory of the device");
    return Memory(data, [stream](void* p) { cudaFreeAsync(p, stream); });
  }
  void recycle(Memory memory) const { memory.reset(); }  // the stream's pool keeps it for later
  // `at`: byte of the device's memory where the copied part begins.
  void upload(const void* from, const Memory& to, Int bytes, Int at) const {
    char* const part = static_cast<char*>(to.get()) + at;
    if (bytes >= kLongCopy)
      shared_.transfers.run(const_cast<char*>(static_cast<const char*>(from)), part, bytes, true, shared_.stream);
    else
      check(cudaMemcpyAsync(part, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, shared_.stream),
            "copying to the device");
  }
  void download(const Memory& from, void* to, Int bytes, Int at = 0) const {
    char* const part = static_cast<char*>(from.get()) + at;
    if (bytes >= kLongCopy) {
      shared_.transfers.run(static_cast<char*>(to), part, bytes, false, shared_.stream);
      return;
    }
    check(cudaMemcpyAsync(to, part, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, shared_.stream),
          "copying from the device");
    check(cudaStreamSynchronize(shared_.stream), "waiting for the device");
  }
  void copy(const Memory& from, const Memory& to, Int bytes) const {
    check(cudaMemcpyAsync(to.get(), from.get(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                          shared_.stream),
          "copying on the device");
  }
  void clear(const Memory& memory, Int bytes) const {
    check(cudaMemsetAsync(memory.get(), 0, static_cast<std::size_t>(bytes), shared_.stream), "clearing memory");
  }
  void uploaded() const {}  // CUDA has read pageable memory when an upload returns
  template <class... Formal, class... Actual>
  void launch(void (*kernel)(Formal...), const Grid& grid, const Actual&... actual) const {
    const dim3 groups(unsigned(grid.groups[0]), unsigned(grid.groups[1]), unsigned(grid.groups[2]));
    const dim3 items(unsigned(grid.items[0]), unsigned(grid.items[1]), unsigned(grid.items[2]));
    kernel<<<groups, items, 0, shared_.stream>>>(as<Formal>(actual)...);
    check(cudaGetLastError(), "launching a kernel");
  }

 private:
  struct Shared {
    bool there = false;
    Int memory = 0;
    cudaStream_t stream{};
    Transfers transfers;
    Shared() {
      int count = 0;
      std::size_t free = 0, total = 0;
      if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 || cudaMemGetInfo(&free, &total) != cudaSuccess)
        return;
      cudaMemPool_t pool{};
      std::uint64_t keep = UINT64_MAX;  // freed memory is kept for the next call
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
      check(cudaDeviceGetDefaultMemPool(&pool, 0), "the device's memory");
      check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "the device's memory");
      memory = static_cast<Int>(total);
      there = true;
    }
  };
  static Shared& shared() {
    static Shared* one = new Shared;  // never destroyed: statics of the program may use it at exit
    return *one;
  }
  template <class Formal>
  static Formal as(const Memory& memory) {
    return static_cast<Formal>(memory.get());
  }
  template <class Formal, class Number>
  static Formal as(const Number& value) {
    return static_cast<Formal>(value);
  }
  Shared& shared_;
};

using Session = SessionOn<Device>;

}  // namespace placed

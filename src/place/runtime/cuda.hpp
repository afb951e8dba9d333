#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace placed {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

// Long copies between pageable memory and the device go through page-locked buffers, several threads at a time: one
// thread's memcpy is slower than the bus.
class Transfers {
 public:
  void run(char* host, char* device, Int bytes, bool up, cudaStream_t after) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (lanes_.empty()) open();
    check(cudaEventRecord(ready_, after), "before a copy");
    std::atomic<Int> next{0};
    std::atomic<int> failed{cudaSuccess};
    std::vector<std::thread> threads;
    for (Lane& lane : lanes_)
      threads.emplace_back([&, up] {
        const cudaError_t code =
            up ? upload(lane, host, device, bytes, next) : download(lane, host, device, bytes, next);
        if (code != cudaSuccess) failed = code;
      });
    for (std::thread& t : threads) t.join();
    check(static_cast<cudaError_t>(failed.load()), up ? "copying to the device" : "copying from the device");
  }

 private:
  static constexpr Int kChunk = Int{1} << 21;
  struct Lane {
    cudaStream_t stream{};
    cudaEvent_t done[2]{};
    char* slot[2]{};
  };
  std::mutex mutex_;
  std::vector<Lane> lanes_;
  cudaEvent_t ready_{};

  void open() {
    check(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming), "making an event");
    lanes_.resize(std::max(1u, std::min(8u, std::thread::hardware_concurrency() / 2)));
    for (Lane& lane : lanes_) {
      check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "making a stream");
      for (int i = 0; i < 2; ++i) {
        check(cudaEventCreateWithFlags(&lane.done[i], cudaEventDisableTiming), "making an event");
        check(cudaMallocHost(&lane.slot[i], kChunk), "page-locked memory");
      }
    }
  }
  cudaError_t upload(Lane& lane, const char* host, char* device, Int bytes, std::atomic<Int>& next) {
    cudaError_t code = cudaStreamWaitEvent(lane.stream, ready_, 0);
    for (int turn = 0; code == cudaSuccess; turn = 1 - turn) {
      const Int at = next.fetch_add(kChunk), n = min(kChunk, bytes - at);
      if (n <= 0) break;
      code = cudaEventSynchronize(lane.done[turn]);
      std::memcpy(lane.slot[turn], host + at, static_cast<std::size_t>(n));
      if (code == cudaSuccess)
        code = cudaMemcpyAsync(device + at, lane.slot[turn], static_cast<std::size_t>(n), cudaMemcpyHostToDevice,
                               lane.stream);
      if (code == cudaSuccess) code = cudaEventRecord(lane.done[turn], lane.stream);
    }
    return code == cudaSuccess ? cudaStreamSynchronize(lane.stream) : code;
  }
  cudaError_t download(Lane& lane, char* host, const char* device, Int bytes, std::atomic<Int>& next) {
    cudaError_t code = cudaStreamWaitEvent(lane.stream, ready_, 0);
    Int before = -1;
    for (int turn = 0; code == cudaSuccess; turn = 1 - turn) {
      const Int at = next.fetch_add(kChunk), n = min(kChunk, bytes - at);
      if (n > 0) {
        code = cudaMemcpyAsync(lane.slot[turn], device + at, static_cast<std::size_t>(n), cudaMemcpyDeviceToHost,
                               lane.stream);
        if (code == cudaSuccess) code = cudaEventRecord(lane.done[turn], lane.stream);
      }
      if (before >= 0 && code == cudaSuccess) {  // the one before, while this one is on its way
        code = cudaEventSynchronize(lane.done[1 - turn]);
        std::memcpy(host + before, lane.slot[1 - turn], static_cast<std::size_t>(min(kChunk, bytes - before)));
      }
      before = at;
      if (n <= 0) break;
    }
    return code;
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
  void recycle(Memory memory) const { memory.reset(); }  // the stream keeps it for later
  void upload(const void* from, const Memory& to, Int bytes) const {
    if (bytes >= kLong)
      shared_.transfers.run(const_cast<char*>(static_cast<const char*>(from)), static_cast<char*>(to.get()), bytes,
                            true, shared_.stream);
    else
      check(cudaMemcpyAsync(to.get(), from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, shared_.stream),
            "copying to the device");
  }
  void download(const Memory& from, void* to, Int bytes) const {
    if (bytes >= kLong) {
      shared_.transfers.run(static_cast<char*>(to), static_cast<char*>(from.get()), bytes, false, shared_.stream);
      return;
    }
    check(cudaMemcpyAsync(to, from.get(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, shared_.stream),
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
  void uploaded() const {}  // CUDA has taken the bytes of pageable memory when an upload returns
  template <class... Formal, class... Actual>
  void launch(void (*kernel)(Formal...), const Grid& grid, const Actual&... actual) const {
    const dim3 groups(unsigned(grid.groups[0]), unsigned(grid.groups[1]), unsigned(grid.groups[2]));
    const dim3 items(unsigned(grid.items[0]), unsigned(grid.items[1]), unsigned(grid.items[2]));
    kernel<<<groups, items, 0, shared_.stream>>>(as<Formal>(actual)...);
    check(cudaGetLastError(), "launching a kernel");
  }

 private:
  static constexpr Int kLong = Int{1} << 23;
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
    static Shared* one = new Shared;  // outlives every static of the program
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

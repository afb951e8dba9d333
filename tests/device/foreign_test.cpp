// Memory and queues of other libraries: used in place, kept as long as needed, freed by their owners.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/foreign.hpp>

namespace ridge {
namespace {

TEST(Foreign, HostMemoryIsUsedInPlace) {
  std::vector<float> theirs{1, 2, 3, 4};
  const Buffer buffer = buffer_over(host(), reinterpret_cast<std::uintptr_t>(theirs.data()), 16);
  EXPECT_EQ(buffer.size(), 16u);
  EXPECT_EQ(buffer.native(), reinterpret_cast<std::uintptr_t>(theirs.data()));
  Queue queue = host().queue();
  const std::vector<float> more{5, 6, 7, 8};
  queue.upload(std::span(more), buffer);
  queue.finish();
  EXPECT_EQ(theirs, more);
  buffer.map().as<float>()[2] = 9;
  EXPECT_EQ(theirs[2], 9);
}

TEST(Foreign, TheOwnerLivesAsLongAsTheBuffer) {
  auto theirs = std::make_shared<std::vector<float>>(4, 1.0f);
  const std::weak_ptr<std::vector<float>> seen = theirs;
  const auto address = reinterpret_cast<std::uintptr_t>(theirs->data());
  Buffer buffer = buffer_over(host(), address, 16, std::move(theirs));
  Buffer copy = buffer;
  buffer = {};
  EXPECT_FALSE(seen.expired());
  copy = {};
  EXPECT_TRUE(seen.expired());
}

TEST(Foreign, ErrorsNameTheReason) {
  EXPECT_THROW(buffer_over(host(), 0, 16), Error);
  EXPECT_THROW(queue_over(host(), 0), Error);
  for (const Device& device : devices().devices) {
    if (device.info().backend != Backend::opencl) continue;
    float there = 0;
    EXPECT_THROW(buffer_over(device, reinterpret_cast<std::uintptr_t>(&there), 4), Error);
    EXPECT_THROW(queue_over(device, 0), Error);
  }
}

// Foreign memory and stream: here those of a buffer and a queue of this library, passed as raw handles.
TEST(Foreign, MemoryAndStreamOfCuda) {
  for (const Device& device : devices().devices) {
    if (device.info().backend != Backend::cuda) continue;
    const Buffer theirs = device.buffer(16);
    Queue stream = device.queue();
    const std::vector<float> values{1, 2, 3, 4};
    {
      const Buffer buffer = buffer_over(device, theirs.native(), 16);
      Queue queue = queue_over(device, stream.native());
      EXPECT_EQ(queue.native(), stream.native());
      queue.upload(std::span(values), buffer);
    }  // neither is freed
    std::vector<float> back(4);
    stream.download(theirs, std::span(back));  // after the upload, in the same stream
    stream.finish();
    EXPECT_EQ(back, values);
    return;
  }
  GTEST_SKIP() << "no CUDA device";
}

// Another library in this process: calls the driver directly, in the primary context, with its own memory and stream.
class Stranger {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 20;
  Stranger() : driver_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (driver_ == nullptr) return;
    int device = 0;
    usable_ = call("cuInit", 0u) && call("cuDeviceGet", &device, 0) &&
              call("cuDevicePrimaryCtxRetain", &context_, device) && call("cuCtxSetCurrent", context_) &&
              call("cuMemAlloc_v2", &memory_, kRoom) && call("cuStreamCreate", &stream_, 1u);
  }
  ~Stranger() {
    if (memory_ != 0) call("cuMemFree_v2", memory_);
    if (stream_ != nullptr) call("cuStreamDestroy_v2", stream_);
    if (context_ != nullptr) call("cuDevicePrimaryCtxRelease_v2", 0);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver_, name));
    return function != nullptr && function(arguments...) == 0;
  }
  bool usable() const { return usable_; }
  unsigned long long memory() const { return memory_; }
  std::uintptr_t stream() const { return reinterpret_cast<std::uintptr_t>(stream_); }
  bool put(const void* from, std::size_t bytes) { return call("cuMemcpyHtoDAsync_v2", memory_, from, bytes, stream_); }
  bool get(void* to, std::size_t bytes, std::size_t offset = 0) {
    return call("cuMemcpyDtoHAsync_v2", to, memory_ + offset, bytes, stream_) && call("cuStreamSynchronize", stream_);
  }

 private:
  void* driver_;
  bool usable_ = false;
  void *context_ = nullptr, *stream_ = nullptr;
  unsigned long long memory_ = 0;
};

TEST(Foreign, TransformsInMemoryAndStreamOfAnotherLibrary) {
  const DeviceList all = devices();
  const auto device = std::find_if(all.devices.begin(), all.devices.end(),
                                   [](const Device& one) { return one.info().backend == Backend::cuda; });
  if (device == all.devices.end()) GTEST_SKIP() << "no CUDA device";
  Stranger theirs;
  ASSERT_TRUE(theirs.usable());
  constexpr std::size_t n = 1024, bytes = n * sizeof(std::complex<float>);
  std::vector<std::complex<float>> wave(n), spectrum(n), back(n);
  for (std::size_t i = 0; i < n; ++i)
    wave[i] = std::polar(1.0f, 2 * 3.14159265f * static_cast<float>(5 * i % n) / static_cast<float>(n));
  const fft::Plan<float> plan(*device, {.shape = {n}, .scale_inverse = 1.0 / n}, {.effort = Effort::quick});
  for (int round = 0; round < 3; ++round) {
    // The other library's copy, our transforms and its copy back, in order in its stream without waiting in between.
    ASSERT_TRUE(theirs.put(wave.data(), bytes));
    {
      Queue queue = queue_over(*device, theirs.stream());
      const Buffer in = buffer_over(*device, theirs.memory(), bytes),
                   out = buffer_over(*device, theirs.memory() + bytes, bytes);
      plan.enqueue_forward(queue, in, out);
      plan.enqueue_inverse(queue, out, buffer_over(*device, theirs.memory() + 2 * bytes, bytes));
    }  // neither the memory nor the stream is freed
    ASSERT_TRUE(theirs.get(spectrum.data(), bytes, bytes));
    ASSERT_TRUE(theirs.get(back.data(), bytes, 2 * bytes));
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_NEAR(std::abs(spectrum[k]), k == 5 ? 1024.0f : 0.0f, 2e-3f) << k;
      ASSERT_NEAR(std::abs(back[k] - wave[k]), 0.0f, 1e-5f) << k;
    }
  }
}

}  // namespace
}  // namespace ridge

// Memory and queues of others: used where they are, kept as long as needed, freed by whom they belong to.
#include <complex>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>
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

TEST(Foreign, RefusedInWords) {
  EXPECT_THROW(buffer_over(host(), 0, 16), Error);
  EXPECT_THROW(queue_over(host(), 0), Error);
  for (const Device& device : devices().devices) {
    if (device.info().backend != Backend::opencl) continue;
    float there = 0;
    EXPECT_THROW(buffer_over(device, reinterpret_cast<std::uintptr_t>(&there), 4), Error);
    EXPECT_THROW(queue_over(device, 0), Error);
  }
}

// Another's memory and stream: here those of a buffer and a queue of ours, known by their handles alone.
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
    stream.download(theirs, std::span(back));  // behind the upload, in the same stream
    stream.finish();
    EXPECT_EQ(back, values);
    return;
  }
  GTEST_SKIP() << "no CUDA device";
}

}  // namespace
}  // namespace ridge

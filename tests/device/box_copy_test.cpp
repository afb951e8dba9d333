// Copies of parts of images and volumes, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace ridge {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes numbered(std::size_t n, int step) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(i * static_cast<std::size_t>(step) + 1);
  return bytes;
}

// Reference copy by plain loops; zero pitches as the interface defines them.
void put(const Bytes& from, Pitches a, Bytes& to, Pitches b, const ByteBox& box) {
  if (a.row == 0) a.row = box.bytes;
  if (a.slice == 0) a.slice = a.row * box.rows;
  if (b.row == 0) b.row = box.bytes;
  if (b.slice == 0) b.slice = b.row * box.rows;
  for (std::size_t s = 0; s < box.slices; ++s) {
    for (std::size_t r = 0; r < box.rows; ++r) {
      for (std::size_t i = 0; i < box.bytes; ++i) {
        to.at(b.offset + s * b.slice + r * b.row + i) = from.at(a.offset + s * a.slice + r * a.row + i);
      }
    }
  }
}

struct Case {
  Pitches from;
  Pitches to;
  ByteBox box;
};
const Case kCases[] = {
    {{.offset = 3, .row = 50}, {.offset = 7, .row = 64}, {.bytes = 20, .rows = 9}},
    {{.offset = 0}, {.offset = 129, .row = 32}, {.bytes = 20, .rows = 9}},
    {{.offset = 100}, {.offset = 1}, {.bytes = 20, .rows = 9}},
    {{.offset = 5, .row = 16, .slice = 160},
     {.offset = 2, .row = 20, .slice = 200},
     {.bytes = 11, .rows = 7, .slices = 4}},
    {{.offset = 5, .row = 16}, {.offset = 2, .row = 20}, {.bytes = 11, .rows = 7, .slices = 4}},
    {{.offset = 4, .row = 11, .slice = 99},
     {.offset = 9, .row = 13, .slice = 150 + 6},
     {.bytes = 3, .rows = 1, .slices = 6}},
    {{.offset = 40}, {.offset = 8}, {.bytes = 11, .rows = 7, .slices = 4}},
    {{.offset = 999, .row = 500}, {.offset = 0, .row = 3}, {.bytes = 1, .rows = 1}},
    {{}, {}, {.bytes = 5, .rows = 0}},
};

TEST(BoxCopies, EveryDirectionOnEveryDevice) {
  const std::size_t n = 1000;
  const Bytes source = numbered(n, 7), ground = numbered(n, 3);
  for (const Device& device : devices().devices) {
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned}) {
      SCOPED_TRACE(device.id());
      Queue queue = device.queue();
      const Buffer a = device.buffer(n, {.kind = kind}), b = device.buffer(n, {.kind = kind});
      for (const Case& c : kCases) {
        SCOPED_TRACE(&c - kCases);
        Bytes expected = ground;
        put(source, c.from, expected, c.to, c.box);

        queue.upload(std::span<const std::uint8_t>(ground), a);
        queue.upload(source.data(), c.from, a, c.to, c.box);
        Bytes there(n);
        queue.download(a, std::span(there));
        queue.finish();
        EXPECT_EQ(there, expected) << "upload";

        queue.upload(std::span<const std::uint8_t>(source), a);
        Bytes back = ground;
        queue.download(a, c.from, back.data(), c.to, c.box);
        queue.finish();
        EXPECT_EQ(back, expected) << "download";

        queue.upload(std::span<const std::uint8_t>(ground), b);
        queue.copy(a, c.from, b, c.to, c.box);
        queue.download(b, std::span(there));
        queue.finish();
        EXPECT_EQ(there, expected) << "copy";
      }
    }
  }
}

TEST(BoxCopies, WhatDoesNotFitIsRefused) {
  const Device device = host();
  Queue queue = device.queue();
  const Buffer picture = device.buffer(1000, {.name = "picture"});
  Bytes bytes(4096);
  const auto refused = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  using testing::HasSubstr;
  const Pitches rows{.row = 100};
  const std::size_t most = static_cast<std::size_t>(-1);
  EXPECT_THAT(refused([&] { queue.upload(bytes.data(), {}, picture, rows, {.bytes = 10, .rows = 11}); }),
              HasSubstr("past the end of buffer \"picture\""));
  EXPECT_THAT(refused([&] { queue.download(picture, rows, bytes.data(), {}, {.bytes = 101, .rows = 2}); }),
              HasSubstr("must not overlap"));
  EXPECT_THAT(refused([&] {
                queue.upload(bytes.data(), {}, picture, {.row = 10, .slice = 25},
                             {.bytes = 10, .rows = 2, .slices = 2});
              }),
              HasSubstr("whole number of rows"));
  EXPECT_THAT(refused([&] { queue.upload(bytes.data(), {}, picture, {}, {.bytes = 16, .rows = most / 8}); }),
              HasSubstr("past the end"));
  EXPECT_THAT(
      refused([&] { queue.upload(bytes.data(), {}, picture, {}, {.bytes = 16, .rows = most / 8, .slices = 3}); }),
      HasSubstr("must not overlap"));
  EXPECT_THAT(refused([&] { queue.copy(picture, rows, picture, {.offset = 50, .row = 100}, {.bytes = 9, .rows = 3}); }),
              HasSubstr("ranges overlap"));
  EXPECT_THAT(refused([&] { queue.upload(nullptr, {}, picture, rows, {.bytes = 10, .rows = 3}); }),
              HasSubstr("null pointer"));
}

}  // namespace
}  // namespace ridge

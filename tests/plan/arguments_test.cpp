// Checks of the arrays, buffers and queues passed to a plan.
#include "plan/arguments.hpp"
#include "support/error_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include <array>
#include <functional>
#include <string>

namespace {

using namespace ridge::planner;  // NOLINT: the whole vocabulary of these tests
using testing::HasSubstr;
using testing::StartsWith;

std::string refused(const std::function<void()>& call) {
  return ridge::test::error_of(call, ridge::ErrorKind::invalid_argument);
}

TEST(Arguments, Lengths) {
  EXPECT_EQ(refused([] { check_length("fft", "input", 8, 8); }), "");
  EXPECT_EQ(refused([] { check_length("fft", "input", 7, 8); }), "fft: the input has 7 bytes, this plan needs 8");
}

TEST(Arguments, MemoryThatOverlaps) {
  std::array<std::byte, 32> memory{};
  const auto apart = [&](std::size_t from, bool in_place) {
    return refused([&] { check_apart("fft", memory.data(), 16, memory.data() + from, 16, in_place); });
  };
  EXPECT_EQ(apart(16, false), "");
  EXPECT_THAT(apart(15, false), HasSubstr("overlap"));
  EXPECT_THAT(apart(0, false), HasSubstr("overlap"));
  EXPECT_EQ(apart(0, true), "");
  EXPECT_THAT(apart(16, true), HasSubstr("works in place"));
}

TEST(Arguments, Buffers) {
  const ridge::Device host = ridge::host();
  const ridge::Buffer one = host.buffer(64, {.name = "one"}), two = host.buffer(64, {.name = "two"});
  EXPECT_EQ(refused([&] { check_buffer("fft", "input", one, host, 64); }), "");
  EXPECT_THAT(refused([&] { check_buffer("fft", "input", one, host, 65); }), HasSubstr("\"one\" has 64 bytes"));
  EXPECT_THAT(refused([&] { check_buffer("fft", "input", {}, host, 0); }), HasSubstr("the input buffer is empty"));
  EXPECT_EQ(refused([&] { check_apart("fft", one, two, false); }), "");
  EXPECT_EQ(refused([&] { check_apart("fft", one, one, true); }), "");
  EXPECT_THAT(refused([&] { check_apart("fft", one, one, false); }), HasSubstr("same buffer"));
  EXPECT_THAT(refused([&] { check_apart("fft", one, two, true); }), HasSubstr("works in place"));
  EXPECT_EQ(refused([&] { check_queue("fft", host.queue(), host); }), "");
  for (const ridge::Device& other : ridge::devices().devices) {
    if (other.is_host()) continue;
    EXPECT_THAT(refused([&] { check_buffer("fft", "input", one, other, 1); }), StartsWith("fft: the input buffer"));
    EXPECT_THAT(refused([&] { check_queue("fft", host.queue(), other); }), HasSubstr("belongs to host"));
  }
}

}  // namespace

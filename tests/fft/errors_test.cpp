// Invalid problems and arrays are rejected with a message before any access; valid runs allocate nothing.
#include <gtest/gtest.h>

#include <limits>

#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "fft/counted_allocations.hpp"
#include "fft/support.hpp"

namespace ridge::fft {
namespace {

using Complex = std::complex<float>;
constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 2;

void expect_refused(const Problem& problem, const std::string& word) {
  try {
    plan<float>(host(), problem, quick());
    ADD_FAILURE() << "accepted: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(FftErrors, ImpossibleProblems) {
  expect_refused({.shape = {}}, "axes");
  expect_refused({.shape = {2, 2, 2, 2}}, "axes");
  expect_refused({.shape = {0}}, "length 0");
  expect_refused({.shape = {4, 0}}, "length 0");
  expect_refused({.shape = {4}, .batch = 0}, "batch of at least 1");
  expect_refused({.shape = {kHuge, 8}}, "too large");
  expect_refused({.shape = {std::size_t{1} << 32}}, "at most 2^30 points, got 4294967296");
  expect_refused({.shape = {4294967291}}, "at most 2^30 if it is a power of two, got 8589934592");  // a prime number
  expect_refused({.shape = {16}, .batch = kHuge}, "too large");
  expect_refused({.shape = {16}, .batch = 4, .output = {{1}, kHuge}}, "too large");
  expect_refused({.shape = {4, 4}, .input = {{1}, 0}}, "strides");
  expect_refused({.shape = {8}, .batch = 2, .output = {{1}, 4}}, "share an element");
  expect_refused({.shape = {3, 3}, .output = {{2, 1}, 0}}, "share an element");
  expect_refused({.shape = {8}, .input = {{2}, 0}, .in_place = true}, "in place");
  expect_refused({.shape = {8}, .batch = 2, .kind = Kind::real, .input = {{1}, 8}, .in_place = true}, "in place");
  expect_refused({.shape = {8}, .load_forward = {.window = {1, 2, 3}}}, "3 values, this problem needs 8");
  expect_refused(
      {.shape = {8}, .kind = Kind::real, .store_forward = {.multiply = std::vector<std::complex<double>>(8)}},
      "8 values, this problem needs 5");
  expect_refused({.shape = {2}, .kind = Kind::real, .load_forward = {.multiply = {1, 2}}}, "window");
  expect_refused({.shape = {8}, .load_inverse = {.samples = Samples::int8}}, "integer samples");
  expect_refused({.shape = {8}, .in_place = true, .load_forward = {.samples = Samples::int8}}, "out-of-place");
}

TEST(FftErrors, UnknownVariantNamesTheKnown) {
  auto options = quick();
  options.variant = "no such thing";
  EXPECT_THROW(plan<float>(host(), {.shape = {16}}, options), Error);
}

template <class Call>
void expect_call_refused(const Call& call, const std::string& word) {
  try {
    call();
    ADD_FAILURE() << "accepted: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(FftErrors, InvalidMemory) {
  const auto fft = plan<float>(host(), {.shape = {8}, .batch = 2}, quick());
  std::vector<Complex> a(32, Complex(1, 1)), b(32, Complex(2, 2));
  const std::span<Complex> in(a), out(b);
  const auto untouched = b;
  expect_call_refused([&] { fft.forward(std::span<const Complex>(), out); }, "null");
  expect_call_refused([&] { fft.forward(in, std::span<Complex>()); }, "null");
  expect_call_refused([&] { fft.forward(in.first(15), out); }, "needs 16");
  expect_call_refused([&] { fft.forward(in, out.first(15)); }, "needs 16");
  expect_call_refused([&] { fft.forward(in); }, "overlap");
  expect_call_refused([&] { fft.inverse(in, in.subspan(15)); }, "overlap");
  expect_call_refused([&] { fft.inverse(in.subspan(1), in); }, "overlap");
  auto* const odd = reinterpret_cast<Complex*>(reinterpret_cast<std::byte*>(b.data()) + 2);
  expect_call_refused([&] { fft.forward(in, std::span<Complex>(odd, 16)); }, "aligned");
  std::vector<float> real(16);
  expect_call_refused([&] { fft.forward(std::span<const float>(real), out); }, "complex");
  std::vector<std::int8_t> bytes(64);
  expect_call_refused([&] { fft.forward(std::span<const std::int8_t>(bytes), out); }, "samples");
  const auto here = plan<float>(host(), {.shape = {8}, .in_place = true}, quick());
  expect_call_refused([&] { here.forward(in, out); }, "in place");
  EXPECT_EQ(b, untouched);
  fft.forward(in, in.subspan(16));  // adjacent ranges of one array do not overlap
  EXPECT_FLOAT_EQ(a[16].real(), 8);
}

TEST(FftErrors, RunsAllocateNothing) {
  const Problem problems[] = {
      {.shape = {1024}},
      {.shape = {360}, .batch = 200},
      {.shape = {64, 60}, .batch = 8, .scale_forward = 0.5},
      {.shape = {101}, .batch = 5, .input = {{5}, 1}},
      {.shape = {std::size_t{1} << 16}, .threads = 2},
  };
  for (const Problem& problem : problems) {
    const auto fft = plan<float>(host(), problem, quick());
    std::vector<Complex> in(fft.input_size()), out(fft.output_size());
    fft.forward(in, out);  // the first caller creates the thread pool
    const std::size_t before = allocations();
    fft.forward(in, out);
    fft.inverse(out, in);
    EXPECT_EQ(allocations(), before) << fft.explain();
  }
  const auto real = plan<float>(host(), {.shape = {48, 30}, .batch = 20, .kind = Kind::real}, quick());
  std::vector<float> in(real.input_size());
  std::vector<Complex> out(real.output_size());
  real.forward(in, out);
  const std::size_t before = allocations();
  real.forward(in, out);
  real.inverse(out, in);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace ridge::fft

// Permutes, crops and pads the axes of arrays on devices, and scales the ends of lines.
#include "fft/device/rearrange.hpp"

#include <complex>

#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"

namespace ridge::fft::device_tests {
namespace {

using on_device::ElementChange;
using on_device::Rearranger;

class RearrangeOnDevices : public OnDevices {};

TEST_F(RearrangeOnDevices, AxesCutPaddedAndConjugate) {
  const std::vector<std::uint64_t> from{3, 4, 5}, to{6, 2, 3};  // axes 2, 1, 0: padded, cropped, unchanged
  std::vector<std::complex<float>> in;
  for (int i = 0; i < 60; ++i) in.emplace_back(static_cast<float>(i), static_cast<float>(100 - i));
  for (const Device& device : accelerators()) {
    Queue queue = device.queue();
    const Buffer source = device.buffer(in.size() * 8), target = device.buffer(36 * 8);
    queue.upload(std::span<const std::complex<float>>(in), source);
    Rearranger(device, {.conjugate = true})
        .rearrange(queue, {.shape = to, .lengths = {5, 4, 3}, .strides = {1, 5, 20}}, source, target);
    std::vector<std::complex<float>> out(36);
    queue.download(target, std::span(out));
    queue.finish();
    for (std::size_t i = 0; i < 36; ++i) {
      const std::size_t a = i / 6, b = i / 3 % 2, c = i % 3;
      const std::complex<float> expected = a < 5 ? std::conj(in[c * 20 + b * 5 + a]) : 0;
      EXPECT_EQ(out[i], expected) << i;
    }
  }
}

TEST_F(RearrangeOnDevices, RealsBecomeComplexAndEndsAreMultiplied) {
  std::vector<float> in;
  for (int i = 0; i < 24; ++i) in.push_back(static_cast<float>(i + 1));
  for (const Device& device : accelerators()) {
    Queue queue = device.queue();
    const Buffer source = device.buffer(24 * 4), target = device.buffer(24 * 8);
    queue.upload(std::span<const float>(in), source);
    const Rearranger tool(device, {.complex_input = false});
    tool.scale_ends(queue, {2, 4, 3}, 1, 2, 0.5, source);
    tool.rearrange(queue, {.shape = {24}, .lengths = {24}, .strides = {1}}, source, target);
    std::vector<std::complex<float>> out(24);
    queue.download(target, std::span(out));
    queue.finish();
    for (std::size_t i = 0; i < 24; ++i) {
      const std::size_t row = i / 3 % 4;
      EXPECT_EQ(out[i], std::complex<float>(in[i] * (row == 0 ? 2.F : row == 3 ? 0.5F : 1.F), 0)) << i;
    }
  }
}

TEST(RearrangeText, CompilesForHopper) {
  if (!ridge::detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const ElementChange& change :
       {ElementChange{}, ElementChange{.float64 = true, .conjugate = true}, ElementChange{.complex_input = false},
        ElementChange{.float64 = true, .complex_input = false, .complex_output = false}}) {
    const KernelSource source = on_device::rearrange_text(change);
    EXPECT_NO_THROW({ EXPECT_FALSE(ridge::detail::compile_for(source, "sm_90").empty()); });
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests

// What the tests of the FFT on devices share.
#pragma once
#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "device/backend.hpp"
#include "nd_support.hpp"

namespace ridge::fft::testing {

inline std::vector<Device> accelerators() {
  std::vector<Device> found;
  for (const Device& device : devices().devices) {
    if (!device.is_host()) found.push_back(device);
  }
  return found;
}

// Each kernel costs a compilation of up to a second on PoCL, so the planner's first choice is what is tried.
class OnDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (accelerators().empty()) GTEST_SKIP() << "no OpenCL and no CUDA device on this machine";
  }
};

inline planner::Options only(const std::string& variant) {
  return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant};
}

template <class T>
std::vector<std::complex<T>> run(const Plan<T>& plan, const std::vector<std::complex<T>>& in, bool inverse,
                                 std::size_t out_size) {
  std::vector<std::complex<T>> out(out_size);
  const std::span<const std::complex<T>> from(in);
  inverse ? plan.inverse(from, std::span<std::complex<T>>(out)) : plan.forward(from, std::span<std::complex<T>>(out));
  return out;
}

// The largest relative error over the lines of a packed batch, in units of the gate for the length.
template <class T>
double gated_error(const Device& device, std::size_t n, std::size_t batch, const std::string& variant, bool inverse) {
  const Plan<T> plan(device, {.shape = {n}, .batch = batch}, only(variant));
  const auto in = reference::random_points<T>(n * batch, static_cast<unsigned>(n));
  const auto out = run(plan, in, inverse, n * batch);
  double worst = 0;
  for (const std::size_t line : {std::size_t{0}, batch - 1}) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(line * n);
    const std::vector<std::complex<T>> points(first, first + static_cast<std::ptrdiff_t>(n));
    const auto expected = reference::dft(points, inverse);
    worst =
        std::max(worst, reference::relative_error(out.data() + line * n, 1, expected) / reference::error_gate<T>(n));
  }
  return worst;
}

// The limits of an H200 and nothing behind them: enough to list routes and to write kernels.
struct Pretended : detail::DeviceState {
  Pretended() {
    info.id = "cuda:0";
    info.backend = Backend::cuda;
    info.isa = "sm_90";
    info.limits.work_group = 1024;
    info.limits.work_group_sides = {1024, 1024, 64};
    info.limits.local_memory = 227 * 1024;
    info.limits.registers = 65536;
    info.limits.compute_units = 132;
    info.limits.sub_group = 32;
  }
  std::unique_ptr<detail::Allocation> allocate(std::size_t, std::size_t, const BufferOptions&) override { return {}; }
  std::shared_ptr<detail::QueueState> queue() override { return {}; }
  std::shared_ptr<detail::ProgramState> compile(const KernelSource&) override { return {}; }
};

}  // namespace ridge::fft::testing

// Recordings: plans enqueued once and replayed, alone and many at the same time.
#include <gtest/gtest.h>

#include <optional>

#include <ridge/recording.hpp>

#include "device_support.hpp"

namespace ridge::fft::device_tests {
namespace {

using Complex = std::complex<float>;

std::vector<Complex> points(std::size_t n, std::size_t seed) {
  std::vector<Complex> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double turn = 0.37 * static_cast<double>((i + 1) * (seed + 3) % 101);
    values[i] = Complex(static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(3 * turn)));
  }
  return values;
}

Plan<float> quick_plan(const Device& device, std::size_t n) { return {device, {.shape = {n}}, only("")}; }

Buffer buffer_of(const Device& device, std::size_t n) { return device.buffer(n * sizeof(Complex)); }

// Relative error of `buffer` as the spectrum of `in`, from a sum in double.
double error_of(Queue& queue, const Buffer& buffer, const std::vector<Complex>& in) {
  std::vector<Complex> out(in.size());
  queue.download(buffer, std::span<Complex>(out));
  queue.finish();
  const double full = 2 * std::acos(-1.0), n = static_cast<double>(in.size());
  std::vector<std::complex<double>> roots(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) roots[i] = std::polar(1.0, -full * static_cast<double>(i) / n);
  double difference = 0, norm = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i) sum += std::complex<double>(in[i]) * roots[i * k % in.size()];
    difference += std::norm(std::complex<double>(out[k]) - sum);
    norm += std::norm(sum);
  }
  return std::sqrt(difference / norm);
}

class Recordings : public OnDevices {};

TEST_F(Recordings, ReplaysReadTheCurrentBuffers) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    Queue queue = device.queue(), other = device.queue();
    constexpr std::size_t n = 16;
    const Buffer in = buffer_of(device, n), out = buffer_of(device, n);
    std::optional<Recording> both;
    {
      const Plan<float> plan = quick_plan(device, n);
      const Buffer between = buffer_of(device, n);  // the recording keeps it, and the plan's kernels
      both.emplace(device, [&](Queue& recorder) {
        recorder.copy(in, between, n * sizeof(Complex));
        plan.enqueue_forward(recorder, between, out);
      });
    }
    EXPECT_GE(both->size(), 2u);
    EXPECT_EQ(both->is_graph(), device.info().backend == Backend::cuda && !checking());
    for (const std::size_t seed : {1u, 2u, 3u}) {
      const auto data = points(n, seed);
      Queue& used = seed == 2 ? other : queue;
      used.upload(std::span<const Complex>(data), in);
      both->enqueue(used);
      EXPECT_LT(error_of(used, out, data), 1e-6);
    }
  }
}

TEST_F(Recordings, IndependentWorksOfManyLengths) {
  for (const Device& device : accelerators()) {
    SCOPED_TRACE(device.info().name);
    Queue queue = device.queue();
    std::vector<Buffer> in, out;
    std::vector<std::vector<Complex>> data;  // uploads read it until they have run
    std::vector<Plan<float>> plans;
    std::vector<Recording::Work> works;
    for (const std::size_t n : {1u, 3u, 16u}) {
      data.push_back(points(n, n));
      in.push_back(buffer_of(device, n));
      out.push_back(buffer_of(device, n));
      plans.push_back(quick_plan(device, n));
      works.emplace_back(
          [&, i = plans.size() - 1](Queue& recorder) { plans[i].enqueue_forward(recorder, in[i], out[i]); });
    }
    const Recording all(device, works);
    for (std::size_t i = 0; i < plans.size(); ++i) queue.upload(std::span<const Complex>(data[i]), in[i]);
    all.enqueue(queue);
    for (std::size_t i = 0; i < plans.size(); ++i) EXPECT_LT(error_of(queue, out[i], data[i]), 1e-6) << data[i].size();
  }
}

// Two passes have a scratch array, which runs on several queues share.
TEST_F(Recordings, PlansWithWorkAreasAreOrdered) {
  const Device device = accelerators().front();
  constexpr std::size_t n = 2048;
  const Plan<float> plan(device, {.shape = {n}}, only("two_pass"));
  Queue queue = device.queue(), other = device.queue();
  const Buffer in = buffer_of(device, n), first = buffer_of(device, n), second = buffer_of(device, n);
  const auto data = points(n, 5);
  queue.upload(std::span<const Complex>(data), in);
  plan.enqueue_forward(queue, in, first);
  const Recording recording = plan.capture(in, first);
  recording.enqueue(queue);
  plan.enqueue_forward(other, in, second);  // after the replay
  queue.finish();
  EXPECT_LT(error_of(other, second, data), 2e-6);
  EXPECT_LT(error_of(queue, first, data), 2e-6);
  const auto forward = [&](Queue& recorder) { plan.enqueue_forward(recorder, in, first); };
  EXPECT_THROW(Recording(device, std::vector<Recording::Work>{forward, forward}), Error);
}

TEST_F(Recordings, CaptureOfTheInverse) {
  const Device device = accelerators().front();
  constexpr std::size_t n = 16;
  const Plan<float> plan = quick_plan(device, n);
  Queue queue = device.queue();
  const Buffer in = buffer_of(device, n), spectrum = buffer_of(device, n), back = buffer_of(device, n);
  const auto data = points(n, 1);
  const Recording forward = plan.capture(in, spectrum), inverse = plan.capture_inverse(spectrum, back);
  const Recording round_trip(device, [&](Queue& recorder) {
    forward.enqueue(recorder);
    inverse.enqueue(recorder);
  });
  queue.upload(std::span<const Complex>(data), in);
  round_trip.enqueue(queue);
  std::vector<Complex> out(n);
  queue.download(back, std::span<Complex>(out));
  queue.finish();
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < n; ++i) worst.add(std::abs(out[i] / static_cast<float>(n) - data[i]));
  EXPECT_LT(worst.value(), 1e-5);
}

TEST_F(Recordings, RefuseToWaitAndTheHost) {
  const Device device = accelerators().front();
  EXPECT_THROW(Recording(device, [](Queue& recorder) { recorder.finish(); }), Error);
  EXPECT_THROW(Recording(host(), [](Queue&) {}), Error);
  const Recording empty(device, [](Queue&) {});
  Queue queue = device.queue();
  empty.enqueue(queue);
  EXPECT_EQ(empty.size(), 0u);
  Queue on_host = host().queue();
  EXPECT_THROW(empty.enqueue(on_host), Error);
}

}  // namespace
}  // namespace ridge::fft::device_tests

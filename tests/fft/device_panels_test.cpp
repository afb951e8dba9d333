// Host arrays that exceed the device memory that may be used: transforms and convolutions in panels equal those of the
// host, for every number of axes and both directions.
#include <gmock/gmock.h>

#include <mutex>
#include <random>

#include <ridge/device_memory.hpp>

#include "device/backend.hpp"
#include "fft/device_support.hpp"

namespace ridge::fft {
namespace {

class PanelsOnDevices : public device_tests::OnDevices {
 protected:
  void TearDown() override { set_device_memory(0); }
};

template <class Value>
std::vector<Value> random_values(std::size_t count) {
  std::mt19937 engine(36);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<Value> values(count);
  for (Value& value : values) {
    if constexpr (std::is_floating_point_v<Value>) {
      value = static_cast<Value>(number(engine));
    } else {
      value = Value(static_cast<typename Value::value_type>(number(engine)),
                    static_cast<typename Value::value_type>(number(engine)));
    }
  }
  return values;
}

// Root mean square of the difference, relative to that of `want`; infinity for NaN.
template <class Value>
double apart(const std::vector<Value>& got, const std::vector<Value>& want) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    difference += std::norm(got[i] - want[i]);
    norm += std::norm(want[i]);
  }
  const double error = std::sqrt(difference / norm);
  return std::isnan(error) ? INFINITY : error;
}

template <class T>
constexpr double kGate = 30 * std::numeric_limits<T>::epsilon();

template <class T, class In, class Out>
void expect_equal(const Device& device, const Problem& problem, std::size_t memory, const char* how) {
  SCOPED_TRACE(device.id());
  set_device_memory(memory);
  const Plan<T> plan(device, problem, {.effort = Effort::quick});
  EXPECT_THAT(plan.explain(), testing::HasSubstr(how));
  const Plan<T> reference(host(), problem, {.effort = Effort::quick});
  if (problem.directions != Directions::inverse) {
    auto in = random_values<In>(plan.input_size());
    std::vector<Out> got(plan.output_size(), Out(NAN)), want(plan.output_size());
    if constexpr (std::is_same_v<In, Out>) {
      if (problem.in_place) got = want = in;
    }
    const std::span<const In> in_got =
        problem.in_place ? std::span<const In>(reinterpret_cast<In*>(got.data()), got.size()) : std::span<const In>(in);
    const std::span<const In> in_want = problem.in_place
                                            ? std::span<const In>(reinterpret_cast<In*>(want.data()), want.size())
                                            : std::span<const In>(in);
    plan.forward(in_got, std::span<Out>(got));
    reference.forward(in_want, std::span<Out>(want));
    EXPECT_LE(apart(got, want), kGate<T>) << plan.explain();
  }
  if (problem.directions != Directions::forward) {
    auto in = random_values<Out>(plan.output_size());
    const auto before = in;
    std::vector<In> got(plan.input_size(), In(NAN)), want(plan.input_size());
    if constexpr (std::is_same_v<In, Out>) {
      if (problem.in_place) got = want = in;
    }
    const std::span<const Out> in_got = problem.in_place
                                            ? std::span<const Out>(reinterpret_cast<Out*>(got.data()), got.size())
                                            : std::span<const Out>(in);
    const std::span<const Out> in_want = problem.in_place
                                             ? std::span<const Out>(reinterpret_cast<Out*>(want.data()), want.size())
                                             : std::span<const Out>(in);
    plan.inverse(in_got, std::span<In>(got));
    reference.inverse(in_want, std::span<In>(want));
    EXPECT_LE(apart(got, want), kGate<T>) << plan.explain();
    EXPECT_EQ(in, before);
  }
}

template <class T>
void expect_complex(const Device& device, const Problem& problem, std::size_t memory, const char* how) {
  expect_equal<T, std::complex<T>, std::complex<T>>(device, problem, memory, how);
}
template <class T>
void expect_real(const Device& device, Problem problem, std::size_t memory, const char* how) {
  problem.kind = Kind::real;
  expect_equal<T, T, std::complex<T>>(device, problem, memory, how);
}

TEST_F(PanelsOnDevices, SeveralAxes) {
  for (const Device& device : test::accelerators()) {
    expect_complex<float>(device, {.shape = {48, 70}, .scale_forward = 0.5, .scale_inverse = 0.25}, 30000,
                          "two passes");
    expect_complex<float>(device, {.shape = {12, 10, 14}, .batch = 2, .in_place = true}, 20000, "two passes");
    expect_real<float>(device, {.shape = {40, 54}, .scale_inverse = 0.125}, 20000, "two passes");
    expect_real<float>(device, {.shape = {9, 6, 15}, .batch = 2}, 8000, "two passes");
  }
}

TEST_F(PanelsOnDevices, OneAxis) {
  for (const Device& device : test::accelerators()) {
    expect_complex<float>(device, {.shape = {4200}, .scale_forward = 3, .scale_inverse = 2}, 30000, "roots of unity");
    expect_complex<float>(device, {.shape = {4096}, .batch = 2, .in_place = true}, 30000, "roots of unity");
    expect_real<float>(device, {.shape = {8192}, .batch = 2, .scale_forward = 3}, 30000, "roots of unity");
    expect_real<float>(device, {.shape = {2 * 35 * 33}, .scale_inverse = 2}, 8000, "roots of unity");
    if (!device.limits().float64) continue;
    expect_complex<double>(device, {.shape = {4200}, .directions = Directions::inverse}, 60000, "roots of unity");
    expect_real<double>(device, {.shape = {4096}}, 30000, "roots of unity");
  }
}

// Bytes of all arrays of plans on a device.
std::size_t held_by_plans(const Device& device) {
  std::size_t bytes = 0;
  const std::lock_guard lock(device.state().memory_mutex);
  for (const ridge::detail::MemoryState* memory : device.state().memory) {
    if (memory->name.starts_with("fft ")) bytes += memory->size;
  }
  return bytes;
}

// Wide panels of columns are transformed in parts, which share the scratch array of one part.
TEST_F(PanelsOnDevices, PartsOfPanelsStayWithinTheMemory) {
  constexpr std::size_t kMemory = 4'340'000, kRows = 1024, kColumns = 1200;
  const Problem problem{.shape = {kRows, kColumns}, .directions = Directions::forward};
  const auto in = random_values<std::complex<float>>(kRows * kColumns);
  std::vector<std::complex<float>> want(in.size());
  Plan<float>(host(), problem, {.effort = Effort::quick}).forward(in, want);
  for (const Device& device : test::accelerators()) {
    set_device_memory(kMemory);
    const std::size_t held_before = held_by_plans(device);  // tables that earlier tests left in caches
    const Plan<float> plan(device, problem, {.effort = Effort::quick, .variant = "two_pass"});
    EXPECT_THAT(plan.explain(),
                testing::AllOf(testing::HasSubstr("panels of 192 columns"), testing::HasSubstr("two_pass")));
    std::vector<std::complex<float>> got(in.size(), std::complex<float>(NAN));
    plan.forward(in, got);
    EXPECT_LE(held_by_plans(device), held_before + kMemory) << plan.explain();  // caches may also shrink
    EXPECT_LE(apart(got, want), kGate<float>) << plan.explain();
  }
}

TEST_F(PanelsOnDevices, Batches) {
  for (const Device& device : test::accelerators()) {
    Problem problem{.shape = {64}, .batch = 1000};
    problem.load_forward.window.assign(64, 0.5);
    expect_complex<float>(device, problem, 60000, "one pass");
    expect_complex<float>(device, {.shape = {8}, .batch = 20001}, 400000, "one pass");  // short first and last panels
    expect_complex<float>(device, {.shape = {64}, .batch = 301, .in_place = true}, 60000, "one pass");
    expect_real<float>(device, {.shape = {60}, .batch = 999}, 60000, "one pass");
  }
}

TEST_F(PanelsOnDevices, DeviceBuffersAndTooLittleMemoryAreRefused) {
  const auto refusal = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  for (const Device& device : test::accelerators()) {
    set_device_memory(30000);
    const Plan<float> plan(device, {.shape = {4200}}, {.effort = Effort::quick});
    const Buffer a = device.buffer(4200 * 8), b = device.buffer(4200 * 8);
    Queue queue = device.queue();
    EXPECT_THAT(refusal([&] { plan.enqueue_forward(queue, a, b); }), testing::HasSubstr("pass host arrays"));
    EXPECT_THAT(refusal([&] { Plan<float>(device, {.shape = {4201}}, {.effort = Effort::quick}); }),
                testing::HasSubstr("does not fit a panel"));  // a prime
    EXPECT_THAT(refusal([&] { Plan<float>(device, {.shape = {4201}, .kind = Kind::real}, {.effort = Effort::quick}); }),
                testing::HasSubstr("is odd"));
  }
}

template <class T, class Element>
void expect_convolution(const Device& device, std::size_t signal_size, std::size_t filter_size, std::size_t block) {
  const auto signal = random_values<Element>(signal_size), filter = random_values<Element>(filter_size);
  const Convolution<Element> ours(device, filter, {.block = block}), theirs(host(), filter, {.block = block});
  std::vector<Element> got(signal_size + filter_size - 1, Element(NAN)), want(got.size());
  ours.run(signal, got);
  theirs.run(signal, want);
  EXPECT_LE(apart(got, want), kGate<T>) << ours.explain();
  std::vector<Element> back(signal_size, Element(NAN)), wanted(signal_size);
  ours.adjoint().run(want, back);
  theirs.adjoint().run(want, wanted);
  EXPECT_LE(apart(back, wanted), kGate<T>) << ours.explain();
}

TEST_F(PanelsOnDevices, Convolutions) {
  for (const Device& device : test::accelerators()) {
    set_device_memory(100000);
    expect_convolution<float, float>(device, 20011, 33, 128);
    expect_convolution<float, std::complex<float>>(device, 5000, 100, 256);
    expect_convolution<float, float>(device, 40, 33, 64);
    expect_convolution<float, float>(device, 3, 64, 64);
    set_device_memory(20000);
    const auto signal = random_values<float>(4096), filter = random_values<float>(17);
    EXPECT_LE(apart(convolve<float>(device, signal, filter, ConvolutionKind::circular),
                    convolve<float>(host(), signal, filter, ConvolutionKind::circular)),
              kGate<float>);
  }
}

}  // namespace
}  // namespace ridge::fft

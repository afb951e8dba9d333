#include "fft/power2/power2.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/power2/kernels.hpp"
#include "fft/power2/simd_engine.hpp"
#if defined(__aarch64__)
#include <sys/auxv.h>

#include "fft/power2/fcma_engine.hpp"
#endif

namespace ridge::fft {

namespace {

using namespace power2;

// One point: the transform is the point itself.
template <class T>
class OnePoint final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  std::size_t length() const override { return 1; }
  std::string describe() const override { return "copy"; }
  double flops() const override { return 0; }
  std::size_t scratch() const override { return 0; }
  std::size_t scratch_columns() const override { return 0; }
  void run(Direction, const Complex* in, Complex* out, Complex*) const override { *out = *in; }
  void run_columns(Direction, const Complex* in, std::size_t, Complex* out, std::size_t, std::size_t columns,
                   Complex*) const override {
    if (in != out) std::copy_n(in, columns, out);
  }
};

template <class T>
std::vector<const Engine<T>*> engines() {
  std::vector<const Engine<T>*> found;
#if defined(__aarch64__)
  constexpr unsigned long kFcma = 1ul << 14;  // HWCAP_FCMA, absent from older headers
  if ((getauxval(AT_HWCAP) & kFcma) != 0) {
    if constexpr (sizeof(T) == sizeof(float)) found.push_back(&fcma::float_engine());
    if constexpr (sizeof(T) == sizeof(double)) found.push_back(&fcma::double_engine());
  }
#endif
  found.push_back(&simd_engine<T>());
  return found;
}

void check_length(std::size_t n) {
  if (!std::has_single_bit(n) || n > kMaxPower2) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} points: a power of two up to 2^30 is needed here", n));
  }
}

template <class T>
void add_lines(const Engine<T>& engine, std::size_t n, std::vector<Power2Choice>& choices) {
  for (std::size_t i = 0; i < engine.line_count; ++i) {
    const Line<T>& line = engine.lines[i];
    if (line.length != n) continue;
    const std::size_t* end = std::find(line.radices, line.radices + kMaxPasses, std::size_t{0});
    Power2Choice choice{"", engine.name, {}, {line.radices, end}};
    choice.name = fmt::format("{} {}", engine.name, radix_text(choice.line));
    choices.push_back(std::move(choice));
  }
}

// Radices whose exponents sum to `bits`, drawn from the levels there are; at most a handful of them, most promising
// first: the fewest passes, and few streams in the first one, which reads the caller's unpadded array.
std::vector<std::vector<std::size_t>> level_plans(int bits) {
  std::vector<std::vector<std::size_t>> plans;
  const auto fill = [&](std::vector<std::size_t> head, int rest) {
    for (; rest >= 4; rest -= 4) head.push_back(16);
    if (rest == 0 || rest == 2 || rest == 3) {
      if (rest != 0) head.push_back(std::size_t{1} << rest);
      if (std::find(plans.begin(), plans.end(), head) == plans.end()) plans.push_back(head);
    }
  };
  for (const int first : {2, 3, 4}) {
    if (bits == first) plans.push_back({std::size_t{1} << first});
    for (const int second : {4, 3, 2}) {
      if (bits >= first + second) fill({std::size_t{1} << first, std::size_t{1} << second}, bits - first - second);
    }
  }
  std::stable_sort(plans.begin(), plans.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return plans;
}

template <class T>
void add_deep(const Engine<T>& engine, std::size_t n, std::vector<Power2Choice>& choices) {
  for (std::size_t i = 0; i < engine.line_count; ++i) {
    const Line<T>& line = engine.lines[i];
    if (line.leaf[0] == nullptr || line.lanes != engine.lanes || line.length < 256 || line.length * engine.tile > n) {
      continue;
    }
    const std::size_t* end = std::find(line.radices, line.radices + kMaxPasses, std::size_t{0});
    const std::vector<std::size_t> radices(line.radices, end);
    for (auto& levels : level_plans(std::countr_zero(n) - std::countr_zero(line.length))) {
      choices.push_back({fmt::format("{} {}*({})", engine.name, radix_text(levels), radix_text(radices)), engine.name,
                         levels, radices});
    }
  }
}

}  // namespace

template <class T>
std::vector<Power2Choice> power2_choices(std::size_t n) {
  check_length(n);
  if (n == 1) return {{"copy", "any", {}, {}}};
  std::vector<Power2Choice> choices;
  for (const Engine<T>* engine : engines<T>()) {
    add_lines(*engine, n, choices);
    add_deep(*engine, n, choices);
  }
  return choices;
}

template <class T>
std::unique_ptr<LineKernel<T>> make_power2(std::size_t n, const Power2Choice& choice) {
  check_length(n);
  if (n == 1) return std::make_unique<OnePoint<T>>();
  for (const Engine<T>* engine : engines<T>()) {
    if (choice.engine == engine->name) return make_kernel(*engine, n, choice);
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("no instruction set \"{}\" on this machine", choice.engine));
}

template <class T>
std::unique_ptr<LineKernel<T>> default_power2(std::size_t n) {
  return make_power2<T>(n, power2_choices<T>(n).front());
}

template std::vector<Power2Choice> power2_choices<float>(std::size_t);
template std::vector<Power2Choice> power2_choices<double>(std::size_t);
template std::unique_ptr<LineKernel<float>> make_power2(std::size_t, const Power2Choice&);
template std::unique_ptr<LineKernel<double>> make_power2(std::size_t, const Power2Choice&);
template std::unique_ptr<LineKernel<float>> default_power2(std::size_t);
template std::unique_ptr<LineKernel<double>> default_power2(std::size_t);

}  // namespace ridge::fft

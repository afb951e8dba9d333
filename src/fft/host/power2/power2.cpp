// Lists the lines, level plans and engines of 2^k points, best first.
#include "fft/host/power2/power2.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/instruction_sets.hpp"
#include "fft/host/power2/engines.hpp"
#include "fft/variant.hpp"
#if defined(__aarch64__)
#endif

namespace ridge::fft {

namespace {

using namespace power2;

// One point: the transform is the identity.
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
  if (base::has_fcma()) {
    if constexpr (sizeof(T) == sizeof(float)) found.push_back(&fcma::float_engine());
    if constexpr (sizeof(T) == sizeof(double)) found.push_back(&fcma::double_engine());
  }
  if constexpr (sizeof(T) == sizeof(float)) found.push_back(&shear_engine());
#endif
  if (const Engine<T>* tangents = tangent_engine<T>(); tangents != nullptr) found.push_back(tangents);
  found.push_back(&simd_engine<T>());
  return found;
}

void check_length(std::size_t n) {
  if (!std::has_single_bit(n) || n > kMaxPower2) {
    throw Error(ErrorKind::invalid_argument, fmt::format("needs a power of two up to 2^30, got {} points", n));
  }
}

template <class T>
std::vector<std::size_t> radices_of(const Line<T>& line) {
  return {line.radices, std::find(line.radices, line.radices + kMaxPasses, std::size_t{0})};
}

template <class T>
void add_lines(const Engine<T>& engine, std::size_t n, std::vector<Power2Choice>& choices) {
  // Lines as wide as the vectors before narrower ones.
  for (const bool full : {true, false}) {
    for (const Line<T>& line : engine.lines) {
      if (line.length != n || line.together > 1 || (line.lanes == engine.lanes) != full) continue;
      const std::vector<std::size_t> radices = radices_of(line);
      std::string text = radix_text(radices);
      if (line.tables == LineTableKind::tangents_square) {
        const std::string parts = radices.size() > 4 ? fmt::format("{}*", radices[4]) : "";
        text = fmt::format("({}*{})*{}({}*{})", radices[0], radices[1], parts, radices[2], radices[3]);
      }
      choices.push_back({fmt::format("{} {}", engine.name, text), engine.name, {}, radices});
    }
  }
}

template <class T>
bool has_line(const Engine<T>& engine, std::size_t n) {
  return std::any_of(engine.lines.begin(), engine.lines.end(), [n](const Line<T>& line) { return line.length == n; });
}

// Tangent lines first, except where register-resident AVX-512 lines measured faster.
template <class T>
std::vector<const Engine<T>*> engines_for(std::size_t n) {
  auto order = engines<T>();
  const bool wide = simd_engine<T>().lanes * sizeof(T) == 64;
  if (wide && n > 16 && n < (sizeof(T) == sizeof(float) ? 256 : 64)) {
    std::stable_partition(order.begin(), order.end(),
                          [](const Engine<T>* engine) { return engine != tangent_engine<T>(); });
  }
  return order;
}

// Lists of radices whose exponents sum to `bits`, from the available levels; at most a handful, most promising first:
// the fewest passes, and few streams in the first one, which reads the caller's unpadded array.
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

// The levels that measured best above a line: 4 first, because the caller's array is not padded and its cache sets hold
// four streams; then as few passes as the engine's widest level allows, with evenly distributed bits.
std::vector<std::size_t> preferred_levels(int bits, int widest) {
  if (bits <= 3) return {std::size_t{1} << bits};
  std::vector<std::size_t> levels = {4};
  const int rest = bits - 2;
  const int passes = (rest + widest - 1) / widest;
  for (int i = 0; i < passes; ++i) levels.push_back(std::size_t{1} << (rest / passes + (i < rest % passes ? 1 : 0)));
  return levels;
}

template <class T>
void add_deep(const Engine<T>& engine, std::size_t n, std::size_t most, std::vector<Power2Choice>& choices) {
  std::vector<const Line<T>*> leaves;
  for (const Line<T>& line : engine.lines) {
    if (line.leaf[0] != nullptr && line.lanes == engine.lanes && line.length >= 256 && line.length * engine.tile <= n) {
      leaves.push_back(&line);
    }
  }
  // The engine's preferred leaf first; if its levels are powers of eight, the nearest leaf that leaves whole eights.
  const int widest = engine.wide_levels ? 4 : 3;
  const auto rank = [&](const Line<T>* line) {
    const int away = std::abs(std::countr_zero(line->length) - std::countr_zero(engine.leaf));
    const int rest = std::countr_zero(n) - std::countr_zero(line->length) - 2;
    return engine.wide_levels ? away : 4 * (rest % 3 == 0 ? 0 : 1) + away;
  };
  std::stable_sort(leaves.begin(), leaves.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  for (const Line<T>* line : leaves) {
    const std::vector<std::size_t> radices = radices_of(*line);
    const int bits = std::countr_zero(n) - std::countr_zero(line->length);
    auto plans = level_plans(bits);
    const auto best = preferred_levels(bits, widest);
    plans.erase(std::remove(plans.begin(), plans.end(), best), plans.end());
    plans.insert(plans.begin(), best);
    if (plans.size() > most) plans.resize(most);
    for (auto& levels : plans) {
      choices.push_back({fmt::format("{} {}*({})", engine.name, radix_text(levels), radix_text(radices)), engine.name,
                         levels, radices});
    }
  }
}

// Two steps: the square, and fewer rows, because sixteen columns of them should stay in L1 through their passes.
template <class T>
void add_squares(const Engine<T>& engine, std::size_t n, bool all, std::vector<Power2Choice>& choices) {
  constexpr int kShortest = 13, kFewestRows = 6, kLongestRow = 13;
  const int bits = std::countr_zero(n);
  if (bits < kShortest) return;
  for (int rows = bits / 2; rows >= kFewestRows && bits - rows <= kLongestRow; --rows) {
    choices.push_back({fmt::format("{} {}x{}", engine.name, std::size_t{1} << rows, n >> rows),
                       engine.name,
                       {},
                       {},
                       std::size_t{1} << rows});
    if (!all || bits / 2 - rows == 2) return;
  }
  if (bits / 2 < kFewestRows || bits - bits / 2 > kLongestRow) {
    const std::size_t rows = std::size_t{1} << (bits / 2);
    choices.push_back({fmt::format("{} {}x{}", engine.name, rows, n / rows), engine.name, {}, {}, rows});
  }
}

// All choices, or only as many as needed to know the first.
template <class T>
std::vector<Power2Choice> list_choices(std::size_t n, bool first_only) {
  check_length(n);
  if (n == 1) return {{"copy", "any", {}, {}}};
  std::vector<Power2Choice> choices;
  // Up to about the size of L1 the passes of a line are cheaper than descent and reordering.
  constexpr std::size_t kLineBytes = 64 * 1024;
#if defined(__x86_64__)
  constexpr bool kSquares = true;
#else
  constexpr bool kSquares = false;
#endif
  constexpr std::size_t kSquareBytes = 512 * 1024;
  constexpr std::size_t kFewDeep = 3, kAnyDeep = 1000;  // a planner tries a handful of both engines' choices
  const bool lines_first = n * sizeof(std::complex<T>) <= kLineBytes;
  auto order = engines_for<T>(n);
#if defined(__aarch64__)
  // Split radix-8 levels have free rotations: in float they overtake the complex instructions beyond L1.
  if (!lines_first && sizeof(T) == sizeof(float)) std::reverse(order.begin(), order.end());
#endif
  for (const Engine<T>* engine : order) {
    // A descent over more than L2 costs more than two steps on the Xeon; with NEON it is the reverse at any size.
    const bool square_first = kSquares && n * sizeof(std::complex<T>) > kSquareBytes;
    // Tangent engines have two-step lines that share more than these; shear engines have lines only.
    const bool lines_only =
        std::string_view(engine->name) == "neon/shear" || (engine == tangent_engine<T>() && has_line(*engine, n));
    if (square_first && !lines_only) add_squares(*engine, n, kSquares, choices);
    if (lines_first || lines_only) add_lines(*engine, n, choices);
    if (first_only && !choices.empty()) break;
    add_deep(*engine, n, engine == tangent_engine<T>() ? kFewDeep : kAnyDeep, choices);
    if (!lines_first && !lines_only) add_lines(*engine, n, choices);
    if (square_first || lines_only) continue;
    const auto others = static_cast<std::ptrdiff_t>(choices.size());
    add_squares(*engine, n, kSquares, choices);
    // Moves them to a position within the number of choices that a planner tries.
    if (kSquares && others >= 2) std::rotate(choices.begin() + 2, choices.begin() + others, choices.end());
  }
  return choices;
}

}  // namespace

template <class T>
std::vector<Power2Choice> power2_choices(std::size_t n) {
  return list_choices<T>(n, false);
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
  check_length(n);
  // Listing all of them can take longer than the rest of planning.
  static std::array<std::once_flag, std::bit_width(kMaxPower2)> listed;
  static std::array<Power2Choice, std::bit_width(kMaxPower2)> first;
  const auto bits = static_cast<std::size_t>(std::countr_zero(n));
  std::call_once(listed[bits], [&] { first[bits] = list_choices<T>(n, true).front(); });
  return make_power2<T>(n, first[bits]);
}

template std::vector<Power2Choice> power2_choices<float>(std::size_t);
template std::vector<Power2Choice> power2_choices<double>(std::size_t);
template std::unique_ptr<LineKernel<float>> make_power2(std::size_t, const Power2Choice&);
template std::unique_ptr<LineKernel<double>> make_power2(std::size_t, const Power2Choice&);
template std::unique_ptr<LineKernel<float>> default_power2(std::size_t);
template std::unique_ptr<LineKernel<double>> default_power2(std::size_t);

namespace {

template <class T>
void list_power2(std::size_t n, std::vector<LineChoice<T>>& out) {
  if (!std::has_single_bit(n)) return;
  if (n > kMaxPower2) {
    return out.push_back({"power2", fmt::format("needs a power of two of at most 2^30 points, got {}", n), 1, 1, {}});
  }
  const double points = static_cast<double>(n);
  // Radix 8 and 16 need about 0.85 of the radix-2 operation count. The list is ordered by measurements, best first.
  const double flops = 0.85 * 5 * points * std::log2(std::max(points, 2.0));
  double efficiency = 0.5;
  for (const Power2Choice& choice : power2_choices<T>(n)) {
    out.push_back({choice.name, "", flops, efficiency, [n, choice] { return make_power2<T>(n, choice); }});
    efficiency = std::max(0.97 * efficiency, 0.02);
  }
}

}  // namespace

extern const LineListers kPower2Lines{list_power2<float>, list_power2<double>};

}  // namespace ridge::fft

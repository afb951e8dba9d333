// Correlations of traces with wavelets, of all steps and of every k-th one.
#include "stencil/shots/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kMostSignals = 6;  // sources and receivers that are used
constexpr double kMostProducts = 1.5e8;  // of all correlations; more lags are skipped
constexpr double kSafety = 3;            // measured errors of models stay below the estimate times this
constexpr double kNegligible = 1e-5;     // of a wavelet's largest second difference

std::vector<double> column(std::span<const double> rows, std::size_t columns, std::size_t index, std::size_t steps) {
  std::vector<double> values(steps);
  for (std::size_t n = 0; n < steps; ++n) values[n] = rows[n * columns + index];
  return values;
}

double energy(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

std::vector<double> second_differences(const std::vector<double>& values) {
  std::vector<double> made(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double before = n > 0 ? values[n - 1] : 0, after = n + 1 < values.size() ? values[n + 1] : values[n];
    made[n] = after - 2 * values[n] + before;
  }
  return made;
}

// Evenly distributed signals with energy.
std::vector<std::vector<double>> signals(std::span<const double> rows, std::size_t columns, std::size_t steps) {
  std::vector<std::vector<double>> found;
  const std::size_t apart = std::max<std::size_t>(1, columns / kMostSignals);
  for (std::size_t k = apart / 2; k < columns && found.size() < kMostSignals; k += apart) {
    std::vector<double> one = column(rows, columns, k, steps);
    if (energy(one) > 0) found.push_back(std::move(one));
  }
  return found;
}

// A trace that is cut off where the wavelet is largest.
std::vector<double> cut_off(const std::vector<double>& wavelet) {
  const auto largest =
      std::max_element(wavelet.begin(), wavelet.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<double> trace(wavelet.size());
  std::copy(wavelet.begin(), largest + 1, trace.end() - (largest + 1 - wavelet.begin()));
  return trace;
}

class Sums {
 public:
  explicit Sums(std::size_t most) : errors_(most) {}

  // Adds the products of the trace with `wave`, at every delay of `wave` at which the two overlap.
  void add(const std::vector<double>& trace, const std::vector<double>& wave, double products) {
    double largest = 0;
    for (const double value : wave) largest = std::max(largest, std::abs(value));
    std::size_t begin = wave.size(), end = 0;
    for (std::size_t n = 0; n < wave.size(); ++n) {
      if (std::abs(wave[n]) <= kNegligible * largest) continue;
      begin = std::min(begin, n);
      end = n + 1;
    }
    if (begin >= end) return;
    const std::size_t steps = trace.size();
    const double all =
        static_cast<double>(steps) * static_cast<double>(end - begin) * static_cast<double>(errors_.size());
    const auto stride = static_cast<std::size_t>(std::max(1.0, std::ceil(all / products)));
    std::vector<double> product(end - begin);
    for (std::size_t lag = 0; lag + begin < steps; lag += stride) {
      const std::size_t count = std::min(end, steps - lag) - begin;
      for (std::size_t i = 0; i < count; ++i) product[i] = trace[lag + begin + i] * wave[begin + i];
      add_lag(product, count);
    }
  }
  void add(const Sums& other) {
    for (std::size_t k = 0; k < errors_.size(); ++k) errors_[k] += other.errors_[k];
    whole_ += other.whole_;
  }
  std::vector<double> relative() const {
    std::vector<double> result;
    for (const double error : errors_) result.push_back(whole_ > 0 ? kSafety * std::sqrt(error / whole_) : 1);
    result[0] = 0;
    return result;
  }

 private:
  void add_lag(const std::vector<double>& product, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += product[i];
    whole_ += sum * sum;
    for (std::size_t every = 2; every <= errors_.size(); ++every) {
      double squares = 0;
      for (std::size_t start = 0; start < every; ++start) {
        double some = 0;
        for (std::size_t i = start; i < count; i += every) some += product[i];
        const double error = static_cast<double>(every) * some - sum;
        squares += error * error;
      }
      errors_[every - 1] += squares / static_cast<double>(every);
    }
  }

  std::vector<double> errors_;
  double whole_ = 0;
};

}  // namespace

std::vector<double> sampling_errors(std::span<const double> wavelets, std::size_t sources,
                                    std::span<const double> traces, std::size_t receivers, std::size_t steps,
                                    std::size_t most) {
  std::vector<std::vector<double>> waves = signals(wavelets, sources, steps), heard = signals(traces, receivers, steps);
  if (heard.empty()) {
    for (const std::vector<double>& wave : waves) heard.push_back(cut_off(wave));
  }
  const std::size_t pairs = waves.size() * heard.size();
  std::vector<Sums> sums(std::max<std::size_t>(1, pairs), Sums(std::max<std::size_t>(1, most)));
  const double products = kMostProducts / static_cast<double>(sums.size());
  for (std::vector<double>& wave : waves) wave = second_differences(wave);
  base::parallel(std::min(sums.size(), base::hardware_threads()), [&](std::size_t thread, std::size_t threads) {
    for (std::size_t k = thread; k < pairs; k += threads)
      sums[k].add(heard[k % heard.size()], waves[k / heard.size()], products);
  });
  for (std::size_t k = 1; k < sums.size(); ++k) sums[0].add(sums[k]);
  return sums.front().relative();
}

}  // namespace ridge::stencil

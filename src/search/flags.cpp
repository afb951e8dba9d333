// Computes kurtosis limits, compares channels with their neighbours, and runs SumThreshold.
#include "search/flags.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "search/detections.hpp"
#include "search/host/rows.hpp"
#include "search/input_block.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kLongestRun = 64;

// Flags runs of one line. `sums` and `counts` are scratch: prefix sums over unflagged values.
class LineFlagger {
 public:
  LineFlagger(std::size_t longest, double first) : sums_(longest + 1), counts_(longest + 1), marks_(longest + 1) {
    double limit = first * kByteSigma;
    for (std::size_t run = 1; run <= kLongestRun; run *= 2, limit /= 1.5) limits_.push_back(static_cast<float>(limit));
  }
  void run(const std::uint8_t* values, std::uint8_t* flags, std::size_t count) {
    std::size_t run = 1;
    for (const float limit : limits_) {
      if (run > count) break;
      prefix(values, flags, count);
      std::fill(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(count + 1), 0);
      bool any = false;
      for (std::size_t t = 0; t + run <= count; ++t) {
        const auto n = static_cast<float>(counts_[t + run] - counts_[t]);
        if (static_cast<float>(sums_[t + run] - sums_[t]) <= limit * n) continue;
        ++marks_[t];
        --marks_[t + run];
        any = true;
      }
      int depth = 0;
      for (std::size_t t = 0; t < count && any; ++t) {
        depth += marks_[t];
        flags[t] = static_cast<std::uint8_t>(flags[t] | (depth > 0 ? 1 : 0));
      }
      run *= 2;
    }
  }

 private:
  void prefix(const std::uint8_t* values, const std::uint8_t* flags, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
      sums_[t + 1] = sums_[t] + (flags[t] != 0 ? 0 : values[t] - kByteMean);
      counts_[t + 1] = counts_[t] + (flags[t] != 0 ? 0 : 1);
    }
  }
  std::vector<float> limits_;
  std::vector<std::int32_t> sums_, counts_, marks_;
};

// True for values that differ from the median of their neighbours by more than `sigmas` robust deviations.
std::vector<bool> outliers(const std::vector<float>& values, double sigmas) {
  constexpr std::size_t kReach = 16;
  constexpr double kSigmaPerMad = 1.4826;
  std::vector<bool> found(values.size());
  std::vector<double> order;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::size_t first = c > kReach ? c - kReach : 0, last = std::min(values.size(), c + kReach + 1);
    order.assign(values.begin() + static_cast<std::ptrdiff_t>(first),
                 values.begin() + static_cast<std::ptrdiff_t>(last));
    const double middle = median_of(order);
    for (double& value : order) value = std::abs(value - middle);
    const double deviation = kSigmaPerMad * median_of(order);
    found[c] = !(std::abs(values[c] - middle) <= sigmas * deviation + 1e-6 * std::abs(middle));
  }
  return found;
}

}  // namespace

void flag_kurtosis(const RawRows& raw, const Flagging& flagging, std::size_t threads, Mask& mask) {
  const std::size_t m = flagging.kurtosis, channels = raw.channels, windows = raw.rows / m;
  const KurtosisLimits limits = kurtosis_limits(m, flagging.shape, flagging.false_alarm);
  const double factor = (static_cast<double>(m) * flagging.shape + 1) / (static_cast<double>(m) - 1);
  // Windows that share no byte of the mask: each thread owns whole windows of rows.
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(windows, thread, of);
    std::vector<float> row(channels);
    std::vector<double> sum(channels), square(channels), count(channels);
    for (std::size_t window = mine.begin; window < mine.end; ++window) {
      std::fill(sum.begin(), sum.end(), 0), std::fill(square.begin(), square.end(), 0);
      std::fill(count.begin(), count.end(), 0);
      for (std::size_t r = window * m; r < (window + 1) * m; ++r) {
        unpack(raw.row(r), raw.bits, raw.is_signed, row.data(), channels);
        for (std::size_t c = 0; c < channels; ++c) {
          const double x = row[c];
          if (mask.at(r, c) || !std::isfinite(x)) continue;
          sum[c] += x, square[c] += x * x, count[c] += 1;
        }
      }
      for (std::size_t c = 0; c < channels; ++c) {
        // The limits hold for complete windows: one with flagged values is not tested.
        if (count[c] < static_cast<double>(m)) continue;
        const double kurtosis = factor * (static_cast<double>(m) * square[c] / (sum[c] * sum[c]) - 1);
        if (kurtosis >= limits.low && kurtosis <= limits.high) continue;  // NaN for a sum of 0 is flagged
        for (std::size_t r = window * m; r < (window + 1) * m; ++r) mask.set(r, c);
      }
    }
  });
}

void flag_channels(double sigmas, ChannelStatistics& statistics) {
  const std::vector<bool> mean = outliers(statistics.mean, sigmas), sigma = outliers(statistics.sigma, sigmas);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    if (mean[c] || sigma[c]) statistics.sigma[c] = 0;
  }
}

void sum_threshold(const FlagPlane& job, double first, bool reversed, std::size_t threads, Mask& mask) {
  constexpr std::size_t kColumns = 64;
  std::vector<std::uint8_t> along_time(job.channels * job.rows, 0), across(job.channels * job.rows, 0);
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(job.channels, thread, of);
    LineFlagger flagger(job.rows, first);
    for (std::size_t c = mine.begin; c < mine.end; ++c)
      flagger.run(job.plane + c * job.stride, along_time.data() + c * job.rows, job.rows);
  });
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(job.rows, thread, of, kColumns);
    LineFlagger flagger(job.channels, first);
    std::vector<std::uint8_t> lines(kColumns * job.channels), flags(kColumns * job.channels);
    for (std::size_t t0 = mine.begin; t0 < mine.end; t0 += kColumns) {
      const std::size_t count = std::min(kColumns, mine.end - t0);
      std::fill(flags.begin(), flags.end(), 0);
      for (std::size_t c = 0; c < job.channels; ++c) {
        for (std::size_t t = 0; t < count; ++t) lines[t * job.channels + c] = job.plane[c * job.stride + t0 + t];
      }
      for (std::size_t t = 0; t < count; ++t)
        flagger.run(lines.data() + t * job.channels, flags.data() + t * job.channels, job.channels);
      for (std::size_t c = 0; c < job.channels; ++c) {
        for (std::size_t t = 0; t < count; ++t) across[c * job.rows + t0 + t] = flags[t * job.channels + c];
      }
    }
  });
  base::parallel(threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(job.rows, thread, of);
    for (std::size_t c = 0; c < job.channels; ++c) {
      for (std::size_t t = mine.begin; t < mine.end; ++t) {
        if ((along_time[c * job.rows + t] | across[c * job.rows + t]) == 0) continue;
        job.plane[c * job.stride + t] = kByteMean;
        mask.set(t, reversed ? job.channels - 1 - c : c);
      }
    }
  });
}

}  // namespace ridge::search

// Finds boxcars above the threshold, groups detections, and refines candidates.
#include "search/detections.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "search/host/rows.hpp"
#include "search/host/sums.hpp"
#include "search/tree_plan.hpp"

namespace ridge::search {
namespace {

constexpr std::size_t kTile = 2048,
                      kCell = 256;  // starts whose prefix sums are computed together; starts per detection
constexpr std::size_t kLinkTrials = 3;

class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Normal robust_normal(std::span<const float> series) {
  constexpr std::size_t kParts = 64, kLeast = 64;
  if (series.size() < kLeast) return {};
  const std::size_t part = std::max(kLeast, series.size() / kParts), parts = series.size() / part;
  const float reference = series[series.size() / 2];
  std::vector<double> means, variances;
  for (std::size_t i = 0; i < parts; ++i) {
    float sum = 0, square = 0;
    row_kernels().moments(series.data() + i * part, reference, part, &sum, &square);
    const double n = static_cast<double>(part), mean = sum / n;
    means.push_back(mean);
    variances.push_back(std::max(0.0, (square - n * mean * mean) / (n - 1)));
  }
  std::vector<double> sorted = means;
  const double middle = median_of(sorted);
  // The median of a chi-square variable with k degrees of freedom is k (1 - 2 / (9 k))^3.
  const double k = static_cast<double>(part - 1), bias = std::pow(1 - 2 / (9 * k), 3);
  const double variance = median_of(variances) / bias;
  const double allowed = 4 * std::sqrt(variance / static_cast<double>(part));
  double total = 0;
  std::size_t used = 0;
  for (const double mean : means) {
    if (!(std::abs(mean - middle) <= allowed)) continue;
    total += mean;
    ++used;
  }
  return {.mean = reference + static_cast<float>(used > 0 ? total / static_cast<double>(used) : middle),
          .sigma = static_cast<float>(std::sqrt(variance))};
}

std::vector<std::size_t> boxcar_widths(std::size_t widest) {
  std::vector<std::size_t> widths;
  for (std::size_t w = 1; w <= widest; w *= 2) {
    widths.push_back(w);
    if (w >= 2 && w + w / 2 <= widest) widths.push_back(w + w / 2);
  }
  return widths;
}

void find_boxcars(const BoxcarJob& job, std::vector<Detection>& found) {
  if (!(job.normal.sigma > 0) || job.series.empty()) return;
  const std::size_t widest = job.widths.back();
  std::vector<float> prefix(kTile + widest + 1);
  const float scale = 1 / job.normal.sigma;
  for (std::size_t t0 = 0; t0 < job.starts && t0 < job.series.size(); t0 += kTile) {
    const std::size_t starts = std::min({kTile, job.starts - t0, job.series.size() - t0});
    const std::size_t length = std::min(starts + widest, job.series.size() - t0);
    float sum = 0;
    prefix[0] = 0;
    for (std::size_t i = 0; i < length; ++i) {
      sum += (job.series[t0 + i] - job.normal.mean) * scale;
      prefix[i + 1] = sum;
    }
    for (std::size_t k = 0; k < job.widths.size(); ++k) {
      const std::size_t w = job.widths[k];
      if (w > length) break;
      const std::size_t count = std::min(starts, length - w + 1);
      const float root = std::sqrt(static_cast<float>(w)), limit = job.limits[k] * root;
      if (row_kernels().largest_sum(prefix.data(), w, count) < limit) continue;
      for (std::size_t c = 0; c < count; c += kCell) {
        const std::size_t end = std::min(c + kCell, count);
        std::size_t best = c;
        for (std::size_t t = c; t < end; ++t) {
          if (prefix[t + w] - prefix[t] > prefix[best + w] - prefix[best]) best = t;
        }
        const float value = prefix[best + w] - prefix[best];
        if (!(value >= limit)) continue;
        const std::uint64_t begin = job.first + (t0 + best) * job.factor;
        found.push_back({.begin = begin,
                         .end = begin + w * job.factor,
                         .trial = job.trial,
                         .segment = job.segment,
                         .snr = value / root});
      }
    }
  }
}

Cluster joined(const Cluster& a, const Cluster& b) {
  return {.best = a.best.snr >= b.best.snr ? a.best : b.best,
          .begin = std::min(a.begin, b.begin),
          .end = std::max(a.end, b.end),
          .trial_first = std::min(a.trial_first, b.trial_first),
          .trial_last = std::max(a.trial_last, b.trial_last),
          .members = a.members + b.members};
}

bool touch(const Cluster& a, const Cluster& b) {
  return a.begin <= b.end && b.begin <= a.end && a.trial_first <= b.trial_last + kLinkTrials &&
         b.trial_first <= a.trial_last + kLinkTrials;
}

std::vector<std::vector<Detection>> friends(std::vector<Detection> detections) {
  std::sort(detections.begin(), detections.end(), [](const Detection& a, const Detection& b) {
    return a.trial != b.trial ? a.trial < b.trial : a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  Sets sets(detections.size());
  std::uint64_t longest = 0;
  for (const Detection& one : detections) longest = std::max(longest, one.end - one.begin);
  // Within a trial, detections are ordered by time: only those that begin less than the longest boxcar before count.
  const auto first_of = [&](std::size_t trial, std::uint64_t begin) {
    return std::lower_bound(detections.begin(), detections.end(), std::pair(trial, begin),
                            [](const Detection& one, const std::pair<std::size_t, std::uint64_t>& key) {
                              return one.trial != key.first ? one.trial < key.first : one.begin < key.second;
                            }) -
           detections.begin();
  };
  for (std::size_t i = 0; i < detections.size(); ++i) {
    const Detection& one = detections[i];
    for (std::size_t trial = one.trial; trial <= one.trial + kLinkTrials; ++trial) {
      auto j = static_cast<std::size_t>(first_of(trial, one.begin > longest ? one.begin - longest : 0));
      for (; j < detections.size() && detections[j].trial == trial && detections[j].begin <= one.end; ++j) {
        if (detections[j].end >= one.begin) sets.unite(i, j);
      }
    }
  }
  std::vector<std::vector<Detection>> groups;
  std::vector<std::size_t> group_of(detections.size(), detections.size());
  for (std::size_t i = 0; i < detections.size(); ++i) {
    std::size_t& group = group_of[sets.root(i)];
    if (group == detections.size()) group = groups.size(), groups.emplace_back();
    groups[group].push_back(detections[i]);
  }
  const auto begin = [](const std::vector<Detection>& group) { return cluster_of(group).best.begin; };
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) { return begin(a) < begin(b); });
  return groups;
}

Cluster cluster_of(std::span<const Detection> members) {
  Cluster whole;
  for (const Detection& one : members) {
    const Cluster single{.best = one,
                         .begin = one.begin,
                         .end = one.end,
                         .trial_first = one.trial,
                         .trial_last = one.trial,
                         .members = 1};
    whole = whole.members == 0 ? single : joined(whole, single);
  }
  return whole;
}

double echo(const Box& strong, const Box& weak, std::span<const double> slope) {
  const double begin = strong.begin - strong.samples, end = strong.begin + 2 * strong.samples;
  const std::size_t step = std::max<std::size_t>(1, slope.size() / 64);  // a sample of the channels is enough
  double covered = 0, channels = 0;
  for (std::size_t c = 0; c < slope.size(); c += step, ++channels) {
    const double shift = (strong.delay - weak.delay) * slope[c];
    covered += std::max(0.0, std::min(end + shift, weak.begin + weak.samples) - std::max(begin + shift, weak.begin));
  }
  return strong.snr * covered / channels / std::sqrt(weak.samples * strong.samples);
}

bool explains(const Box& strong, const Box& weak, std::span<const double> slope) {
  return weak.snr <= echo(strong, weak, slope) + 4.5;
}

namespace {

// Sums of the channels at one dispersion measure, each channel delayed by the nearest sample.
class ExactSums {
 public:
  ExactSums(const RefineJob& job, std::size_t first, std::size_t times)
      : job_(job),
        first_(first),
        times_(times),
        padded_((times + kVector - 1) / kVector * kVector),
        sums16_(padded_),
        sums_(times) {}
  // Samples outside the plane are left out.
  const std::vector<float>& at(double delay) {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    rows_.clear();
    for (std::size_t c = 0; c < job_.slope.size(); ++c) {
      const std::size_t from = first_ + static_cast<std::size_t>(delay * job_.slope[c] + 0.5);
      if (from >= job_.columns) continue;
      const std::uint8_t* in = job_.plane + c * job_.stride + from;
      const bool readable = c * job_.stride + from + padded_ <= job_.slope.size() * job_.stride;
      if (readable && from + times_ <= job_.columns) {
        rows_.push_back(in);
        if (rows_.size() == kMost16) add_rows();
        continue;
      }
      const std::size_t count = std::min(times_, job_.columns - from);
      for (std::size_t t = 0; t < count; ++t) sums_[t] += static_cast<float>(in[t]);
    }
    if (!rows_.empty()) add_rows();
    return sums_;
  }

 private:
  static constexpr std::size_t kVector = 32;  // samples per vector at most

  void add_rows() {
    sum_kernels().u8_u16(rows_.data(), rows_.size(), sums16_.data(), padded_);
    for (std::size_t t = 0; t < times_; ++t) sums_[t] += static_cast<float>(sums16_[t]);
    rows_.clear();
  }

  const RefineJob& job_;
  std::size_t first_, times_, padded_;
  std::vector<const void*> rows_{};
  std::vector<std::uint16_t> sums16_;
  std::vector<float> sums_;
};

// Best boxcar of the widths up to twice the detected one.
void best_boxcar(const RefineJob& job, double delay, std::size_t first, const std::vector<float>& series,
                 Refined& best) {
  std::vector<double> prefix(series.size() + 1, 0);
  for (std::size_t t = 0; t < series.size(); ++t)
    prefix[t + 1] = prefix[t] + (static_cast<double>(series[t]) - job.normal.mean) / job.normal.sigma;
  const std::size_t step = std::max<std::size_t>(1, job.width / 8);
  for (std::size_t w = job.narrowest; w <= std::min(2 * job.width, job.widest); w += step) {
    const double scale = 1 / std::sqrt(static_cast<double>(w));
    for (std::size_t t = 0; t + w <= series.size(); ++t) {
      const double snr = (prefix[t + w] - prefix[t]) * scale;
      if (snr > best.snr) best = {.delay = delay, .begin = first + t, .width = w, .snr = snr};
    }
  }
}

// Measures the samples around a detection at several delays and keeps the best boxcar.
class Search {
 public:
  // margin: samples before and after the detected boxcar.
  Search(const RefineJob& job, std::size_t margin)
      : job_(job),
        first_(job.begin > margin ? job.begin - margin : 0),
        sums_(job, first_, job.begin - first_ + job.width + margin),
        best_{.delay = job.delay, .begin = job.begin, .width = job.width, .snr = 0} {}
  void look(double middle, double step, int steps) {
    for (int i = -steps; i <= steps; ++i) {
      const double delay = middle + step * i;
      if (delay < job_.shortest || delay > job_.longest) continue;
      best_boxcar(job_, delay, first_, sums_.at(delay), best_);
    }
  }
  const Refined& best() const { return best_; }

 private:
  const RefineJob& job_;
  std::size_t first_;
  ExactSums sums_;
  Refined best_;
};

}  // namespace

Refined measure_at_trial(const RefineJob& job) {
  Search search(job, job.width);
  search.look(job.delay, 0, 0);
  return search.best();
}

Refined refine(const RefineJob& job) {
  Search search(job, 2 * job.width + 2);
  // Two trials to each side in steps of a quarter of the pulse's width over the band, then an eighth of such a step.
  const int steps = std::clamp(static_cast<int>(std::ceil(4 * job.spacing / static_cast<double>(job.width))), 2, 16);
  search.look(job.delay, job.spacing / steps, 2 * steps);
  search.look(search.best().delay, job.spacing / steps / 8, 7);
  return search.best();
}

}  // namespace ridge::search

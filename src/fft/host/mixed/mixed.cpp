// Plans mixed-radix lines: codelets, Stockham passes, columns, and two steps beyond the cache.
#include "fft/host/mixed/mixed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/host/mixed/engine.hpp"
#include "fft/host/power2/power2.hpp"
#include "fft/host/two_step.hpp"
#include "fft/roots.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

using mixed::Codelet;

// Real operations of one butterfly without twiddles; a multiply-add counts as two.
double butterfly_flops(std::size_t radix) {
  if (std::has_single_bit(radix)) return power2::butterfly_flops(radix);
  switch (radix) {
    case 6:
      return 2 * butterfly_flops(3) + 3 * butterfly_flops(2);
    case 9:
      return 6 * butterfly_flops(3) + 4 * 6;
    case 10:
      return 2 * butterfly_flops(5) + 5 * butterfly_flops(2);
    case 12:
      return 4 * butterfly_flops(3) + 3 * butterfly_flops(4);
    case 14:
      return 2 * butterfly_flops(7) + 7 * butterfly_flops(2);
    case 15:
      return 5 * butterfly_flops(3) + 3 * butterfly_flops(5);
    default: {
      const double pairs = static_cast<double>(radix / 2);
      return 4 * pairs + 2 * pairs + pairs * (8 * pairs - 2 + 4);
    }
  }
}

double flops_of(std::size_t n, const std::vector<std::size_t>& radices) {
  double sum = 0;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const double radix = static_cast<double>(radices[i]);
    sum += static_cast<double>(n) / radix * (butterfly_flops(radices[i]) + (i == 0 ? 0 : 6 * (radix - 1)));
  }
  return sum;
}

template <class T>
class MixedLine final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  MixedLine(std::size_t n, std::vector<std::size_t> radices) : n_(n), radices_(std::move(radices)) {
    const mixed::Engine<T> engine = mixed::engine<T>();
    lanes_ = engine.lanes;
    for (const int d : {0, 1}) gather_[d] = engine.gather[d], scatter_[d] = engine.scatter[d];
    name_ = fmt::format("{} {}", engine.name, fmt::join(radices_, "*"));
    strip_ = std::max(lanes_, 64 / sizeof(Complex));
    std::size_t product = 1;
    for (const std::size_t radix : radices_) {
      const mixed::Codelet<T>* found = nullptr;
      for (const auto& part : engine.codelets) {
        for (const auto& codelet : part) found = codelet.radix == radix ? &codelet : found;
      }
      if (found == nullptr) {
        throw Error(ErrorKind::invalid_argument, fmt::format("fft: no codelet for radix {}", radix));
      }
      codelets_.push_back(found);
      product *= radix;
    }
    if (product != n_ || radices_.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("fft: radices {} do not make {} points", fmt::join(radices_, "*"), n_));
    }
    make_tables();
  }

  std::size_t length() const override { return n_; }
  std::string describe() const override { return name_; }
  double flops() const override { return flops_of(n_, radices_); }
  std::size_t scratch() const override { return are_columns() ? buffers(lanes_) : buffers(1); }
  std::size_t scratch_columns() const override { return buffers(strip_); }

  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const int d = direction == Direction::forward ? 0 : 1;
    const T* const from = reinterpret_cast<const T*>(in);
    T* const to = reinterpret_cast<T*>(out);
    if (radices_.size() == 1) return codelets_[0]->whole[d](from, 1, 1, to, 1);
    const std::size_t plane = this->plane(1);
    T* x = reinterpret_cast<T*>(scratch);
    T* y = x + 2 * plane;
    std::size_t inner = n_ / radices_[0];
    (inner >= lanes_ ? codelets_[0]->first : codelets_[0]->first_narrow)[d](from, inner, inner, x, plane, inner);
    std::size_t groups = radices_[0];
    for (std::size_t i = 1; i + 1 < radices_.size(); ++i) {
      inner /= radices_[i];
      const auto middle = inner >= lanes_ ? codelets_[i]->middle : codelets_[i]->middle_narrow;
      middle(x, y, plane, groups, inner, tables_[i].data());
      groups *= radices_[i];
      std::swap(x, y);
    }
    const Codelet<T>& last = *codelets_.back();
    if (groups >= lanes_) {
      last.last[d](x, plane, groups, lane_table_.data(), to);
    } else {
      last.out_narrow[d](x, plane, groups, 1, tables_.back().data(), to, 1, groups);
    }
  }

  // Short lines cannot fill the vectors alone: a vector of them runs together, one transform per lane.
  void run_many(Direction direction, const Complex* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
                std::size_t count, Complex* scratch) const override {
    if (are_columns()) {
      const int d = direction == Direction::forward ? 0 : 1;
      for (; count >= lanes_; count -= lanes_, in += lanes_ * in_distance, out += lanes_ * out_distance) {
        const T* const from = reinterpret_cast<const T*>(in);
        T* const to = reinterpret_cast<T*>(out);
        if (radices_.size() == 1) {
          codelets_[0]->batch[d](from, in_distance, to, out_distance);
        } else {
          run_lanes(d, from, in_distance, to, out_distance, reinterpret_cast<T*>(scratch));
        }
      }
    }
    for (std::size_t i = 0; i < count; ++i) run(direction, in + i * in_distance, out + i * out_distance, scratch);
  }

  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    const int d = direction == Direction::forward ? 0 : 1;
    const T* from = reinterpret_cast<const T*>(in);
    T* to = reinterpret_cast<T*>(out);
    if (radices_.size() == 1) return codelets_[0]->whole[d](from, in_stride, columns, to, out_stride);
    for (std::size_t c = 0; c < columns; c += strip_) {
      run_strip(d, from + 2 * c, in_stride, to + 2 * c, out_stride, std::min(strip_, columns - c), scratch);
    }
  }

 private:
  static constexpr std::size_t kShortLine = 64;
  bool are_columns() const { return n_ <= kShortLine && n_ >= lanes_; }

  void run_lanes(int d, const T* in, std::size_t in_distance, T* out, std::size_t out_distance, T* x) const {
    const std::size_t plane = this->plane(lanes_);
    T* y = x + 2 * plane;
    gather_[d](in, in_distance, n_, x, plane);
    std::size_t inner = n_ * lanes_, groups = 1;
    for (std::size_t i = 0; i < radices_.size(); ++i) {
      inner /= radices_[i];
      codelets_[i]->middle(x, y, plane, groups, inner, tables_[i].data());
      groups *= radices_[i];
      std::swap(x, y);
    }
    scatter_[d](x, plane, n_, out, out_distance);
  }

  // Planes are padded, so that they are not a power of two apart, and end with room for a vector.
  std::size_t plane(std::size_t width) const { return (n_ * width + 15) / 16 * 16 + 16 + 128 / sizeof(T); }
  std::size_t buffers(std::size_t width) const { return radices_.size() == 1 ? 0 : 2 * plane(width) + 32; }

  void run_strip(int d, const T* in, std::size_t in_stride, T* out, std::size_t out_stride, std::size_t width,
                 Complex* scratch) const {
    const std::size_t plane = this->plane(strip_);
    T* x = reinterpret_cast<T*>(scratch);
    T* y = x + 2 * plane;
    std::size_t inner = n_ / radices_[0];
    const bool full = width >= lanes_;
    const auto first = (full ? codelets_[0]->first : codelets_[0]->first_narrow)[d];
    for (std::size_t k = 0; k < inner; ++k) {
      first(in + 2 * k * in_stride, inner * in_stride, width, x + k * width, plane, inner * width);
    }
    std::size_t groups = radices_[0];
    for (std::size_t i = 1; i + 1 < radices_.size(); ++i) {
      inner /= radices_[i];
      const auto middle = inner * width >= lanes_ ? codelets_[i]->middle : codelets_[i]->middle_narrow;
      middle(x, y, plane, groups, inner * width, tables_[i].data());
      groups *= radices_[i];
      std::swap(x, y);
    }
    const auto last = (full ? codelets_.back()->out : codelets_.back()->out_narrow)[d];
    last(x, plane, groups, width, tables_.back().data(), out, out_stride, groups * out_stride);
  }

  // Table i: per group the twiddles of streams 1 .. R - 1, and once more per lane for the last pass of a line.
  void make_tables() {
    const AnyRoots<T> roots(n_);
    tables_.resize(radices_.size());
    tables_[0] = base::AlignedArray<T>(2 * (radices_[0] - 1));  // ones, for passes that always multiply
    for (std::size_t i = 0; i < tables_[0].size(); ++i) tables_[0][i] = i % 2 == 0 ? T(1) : T(0);
    std::size_t groups = radices_[0];
    for (std::size_t i = 1; i < radices_.size(); ++i) {
      const std::size_t radix = radices_[i], step = n_ / (groups * radix);
      tables_[i] = base::AlignedArray<T>(2 * groups * (radix - 1));
      T* w = tables_[i].data();
      for (std::size_t g = 0; g < groups; ++g) {
        for (std::size_t s = 1; s < radix; ++s, w += 2) {
          const Complex root = roots.at(g * s * step);
          w[0] = root.real(), w[1] = root.imag();
        }
      }
      if (i + 1 == radices_.size() && groups >= lanes_) make_lane_table(tables_[i], groups, radix);
      groups *= radix;
    }
  }
  void make_lane_table(const base::AlignedArray<T>& table, std::size_t groups, std::size_t radix) {
    const std::size_t blocks = (groups + lanes_ - 1) / lanes_;
    lane_table_ = base::AlignedArray<T>(2 * blocks * lanes_ * (radix - 1));
    T* w = lane_table_.data();
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t g = std::min(b * lanes_, groups - lanes_);
      for (std::size_t s = 1; s < radix; ++s, w += 2 * lanes_) {
        for (std::size_t l = 0; l < lanes_; ++l) {
          const T* from = table.data() + 2 * ((g + l) * (radix - 1) + s - 1);
          w[l] = from[0], w[lanes_ + l] = from[1];
        }
      }
    }
  }

  std::size_t n_, lanes_, strip_;
  std::vector<std::size_t> radices_;
  std::vector<const Codelet<T>*> codelets_;
  void (*gather_[2])(const T*, std::size_t, std::size_t, T*, std::size_t);
  void (*scatter_[2])(const T*, std::size_t, std::size_t, T*, std::size_t);
  std::string name_;
  std::vector<base::AlignedArray<T>> tables_;
  base::AlignedArray<T> lane_table_;
};

// The best static choice for a smooth length.
template <class T>
std::unique_ptr<LineKernel<T>> default_smooth(std::size_t n) {
  if (std::has_single_bit(n)) return default_power2<T>(n);
  return make_mixed<T>(n, mixed_radices<T>(n).front());
}

// Columns and rows in cache, one pass over memory each.
template <class T>
class TwoStepLine final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  TwoStepLine(std::size_t rows, std::size_t columns)
      : steps_(default_smooth<T>(rows), default_smooth<T>(columns)),
        columns_(rows * columns, mixed_radices<T>(rows * columns).front()),
        name_(fmt::format("columns of {} and rows of {}", rows, columns)) {}
  std::size_t length() const override { return steps_.points(); }
  std::string describe() const override { return name_; }
  double flops() const override { return steps_.flops_done(); }
  std::size_t scratch() const override { return steps_.work() + steps_.own_scratch(); }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    Complex* const own = scratch + steps_.work();
    PipelinedLines<T>(steps_, 1).run(direction, in, 0, out, 0, 1, scratch, &own, false);
  }
  std::size_t scratch_columns() const override { return columns_.scratch_columns(); }
  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    columns_.run_columns(direction, in, in_stride, out, out_stride, columns, scratch);
  }

 private:
  TwoStep<T> steps_;
  MixedLine<T> columns_;
  std::string name_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_mixed(std::size_t n, const std::vector<std::size_t>& radices) {
  return std::make_unique<MixedLine<T>>(n, radices);
}

template <class T>
std::unique_ptr<LineKernel<T>> make_mixed_two_step(std::size_t rows, std::size_t columns) {
  if (!is_smooth(rows) || !is_smooth(columns)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("fft: needs factors up to 13 in both, got {} x {}", rows, columns));
  }
  return std::make_unique<TwoStepLine<T>>(rows, columns);
}

template <class T>
void list_mixed(std::size_t n, std::vector<LineChoice<T>>& out) {
  if (n < 2 || std::has_single_bit(n) || !is_smooth(n)) return;
  const auto lists = mixed_radices<T>(n);
  double efficiency = 0.35;
  for (const auto& radices : lists) {
    out.push_back({fmt::format("mixed {}", fmt::join(radices, "*")), "", flops_of(n, lists.front()), efficiency,
                   [n, radices] { return make_mixed<T>(n, radices); }});
    efficiency *= 0.95;
  }
  // Stockham passes stream well within the last-level cache: two steps only win for longer lines.
  const auto factors = TwoStep<T>::factors(n);
  if (factors.rows == 0 || n < 8192) return;
  const bool large = n * sizeof(std::complex<T>) > (std::size_t{16} << 20);
  out.push_back({fmt::format("mixed two-step {}x{}", factors.rows, factors.columns), "",
                 flops_of(n, lists.front()) + 12 * static_cast<double>(n), large ? 0.33 : 0.12,
                 [factors] { return make_mixed_two_step<T>(factors.rows, factors.columns); }});
}

template std::unique_ptr<LineKernel<float>> make_mixed(std::size_t, const std::vector<std::size_t>&);
template std::unique_ptr<LineKernel<double>> make_mixed(std::size_t, const std::vector<std::size_t>&);
template std::unique_ptr<LineKernel<float>> make_mixed_two_step(std::size_t, std::size_t);
template std::unique_ptr<LineKernel<double>> make_mixed_two_step(std::size_t, std::size_t);
extern const LineListers kMixedLines{list_mixed<float>, list_mixed<double>};

}  // namespace ridge::fft

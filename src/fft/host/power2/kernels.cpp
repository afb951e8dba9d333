// LineKernel implementations over an engine: lines in cache, the depth-first descent, and two steps.
#include "fft/host/power2/power2.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "fft/host/power2/columns.hpp"
#include "fft/host/power2/descent.hpp"
#include "fft/host/power2/engines.hpp"
#include "fft/host/power2/tables.hpp"
#include "fft/host/two_step.hpp"

namespace ridge::fft::power2 {

double butterfly_flops(size_t radix) {
  switch (radix) {
    case 2:
      return 4;
    case 4:
      return 16;
    case 8:
      return 56;
    case 16:
      return 168;
    default:
      return 0;
  }
}

namespace {

double pass_flops(size_t n, size_t radix, bool twiddles) {
  const double each = butterfly_flops(radix) + (twiddles ? 6.0 * static_cast<double>(radix - 1) : 0);
  return static_cast<double>(n / radix) * each;
}

template <class T>
class Kernel : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  Kernel(const Engine<T>& engine, size_t n, Power2Choice choice) : engine_(engine), n_(n), choice_(std::move(choice)) {}

  size_t length() const final { return n_; }
  std::string describe() const final { return choice_.name; }
  double flops() const override {
    double sum = 0;
    for (const size_t radix : choice_.levels) sum += pass_flops(n_, radix, true);
    for (size_t i = 0; i < choice_.line.size(); ++i) {
      sum += pass_flops(n_, choice_.line[i], i + 1 < choice_.line.size());
    }
    return sum;
  }
  size_t scratch_columns() const final { return column_kernel().scratch(); }
  void run_columns(Direction direction, const Complex* in, size_t in_stride, Complex* out, size_t out_stride,
                   size_t columns, Complex* scratch) const final {
    column_kernel().run(index(direction), real(in), in_stride, real(out), out_stride, columns, real(scratch));
  }

 protected:
  static int index(Direction direction) { return direction == Direction::forward ? kForward : kInverse; }
  static const T* real(const Complex* p) { return reinterpret_cast<const T*>(p); }
  static T* real(Complex* p) { return reinterpret_cast<T*>(p); }
  // Points of the two buffers of a line.
  static size_t line_scratch(size_t n) { return 2 * n + 2 * 128 / (2 * sizeof(T)); }
  const Line<T>& find_line(size_t n) const {
    for (const Line<T>& line : engine_.lines) {
      const auto end = std::find(line.radices, line.radices + kMaxPasses, size_t{0});
      if (line.length == n && line.together == 1 &&
          std::equal(line.radices, end, choice_.line.begin(), choice_.line.end()))
        return line;
    }
    throw Error(ErrorKind::invalid_argument,
                fmt::format("engine {} has no line {} of {} points", engine_.name, radix_text(choice_.line), n));
  }

  const Engine<T>& engine_;
  const size_t n_;
  const Power2Choice choice_;

 private:
  // Column tables are half of the planning time and most plans need none, so they are made when the scratch size for
  // columns is first requested, which every plan does before it runs.
  const Columns<T>& column_kernel() const {
    std::call_once(columns_once_, [this] { columns_ = std::make_unique<const Columns<T>>(engine_, n_); });
    return *columns_;
  }
  mutable std::once_flag columns_once_;
  mutable std::unique_ptr<const Columns<T>> columns_;
};

template <class T>
class CachedKernel final : public Kernel<T>, public PastCaches<T>, public SharedLine<T> {
  using Base = Kernel<T>;

 public:
  using Complex = std::complex<T>;
  CachedKernel(const Engine<T>& engine, size_t n, Power2Choice choice)
      : Base(engine, n, std::move(choice)), line_(Base::find_line(n)), tables_(engine, line_, Roots<T>(n)) {
    // Kernels for batches of lines serve every engine of their instruction set.
    for (const Line<T>& line : simd_engine<T>().lines) {
      if (line.length == n && line.together > 1) group_ = &line;
    }
    if (group_ != nullptr) {
      group_tables_ = LineTables<T>(simd_engine<T>(), *group_, Roots<T>(n));
      return;
    }
    for (const Batch<T>& batch : engine.batches) {
      if (batch.length == n && batch.run[0] != nullptr && line_.tables == LineTableKind::passes) batch_ = &batch;
    }
    if (batch_ != nullptr) batch_tables_ = LineTables<T>(engine, n, batch_->radices, Roots<T>(n));
  }
  size_t scratch() const override {
    if (is_bare() && batch_ == nullptr) return 0;
    return Base::line_scratch(batch_ == nullptr ? line_.length : line_.length * Base::engine_.strip);
  }
  BareLine<T> bare(Direction direction) const override {
    if (!is_bare()) return {};
    return {.line = line_.run[Base::index(direction)], .tables = tables_.data()};
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    line_.run[Base::index(direction)](Base::real(in), 0, Base::real(out), 0, 1, tables_.data(), Base::real(scratch));
  }
  void run_many(Direction direction, const Complex* in, size_t in_distance, Complex* out, size_t out_distance,
                size_t count, Complex* scratch) const override {
    if (group_ != nullptr && (Base::n_ >= 8 || (in_distance == Base::n_ && out_distance == Base::n_))) {
      group_->run[Base::index(direction)](Base::real(in), in_distance, Base::real(out), out_distance, count,
                                          group_tables_.data(), Base::real(scratch));
      const size_t done = count / group_->together * group_->together;
      count -= done, in += done * in_distance, out += done * out_distance;
    }
    if (batch_ != nullptr) {
      const size_t strip = Base::engine_.strip;
      for (; count >= strip; count -= strip, in += strip * in_distance, out += strip * out_distance) {
        batch_->run[Base::index(direction)](Base::real(in), in_distance, Base::real(out), out_distance,
                                            batch_tables_.data(), Base::real(scratch));
      }
    }
    if (count == 0) return;
    line_.run[Base::index(direction)](Base::real(in), in_distance, Base::real(out), out_distance, count, tables_.data(),
                                      Base::real(scratch));
  }
  bool goes_past() const override { return line_.past[0] != nullptr; }
  void run_many_past(Direction direction, const Complex* in, size_t in_distance, Complex* out, size_t out_distance,
                     size_t count, Complex* scratch) const override {
    const bool whole = whole_lines(out) && out_distance * sizeof(Complex) % 64 == 0;
    const auto* functions = whole && goes_past() ? line_.past : line_.run;
    functions[Base::index(direction)](Base::real(in), in_distance, Base::real(out), out_distance, count, tables_.data(),
                                      Base::real(scratch));
  }

  bool is_shared() const override { return line_.steps != nullptr; }
  size_t points() const override { return Base::n_; }
  double flops_done() const override { return Base::flops(); }
  size_t work() const override { return line_.steps->work / 2; }
  size_t own_scratch() const override { return line_.steps->buffer / 2; }
  size_t first_parts() const override { return line_.steps->first_parts; }
  size_t second_parts() const override { return line_.steps->second_parts; }
  void first(Direction direction, size_t part, const Complex* in, Complex* work, bool,
             Complex* scratch) const override {
    line_.steps->first[Base::index(direction)](part, Base::real(in), Base::real(work), tables_.data(),
                                               Base::real(scratch));
  }
  void second(Direction direction, size_t part, Complex* work, Complex* out, bool past, Complex*) const override {
    const auto* functions = past && whole_lines(out) ? line_.steps->second_past : line_.steps->second;
    functions[Base::index(direction)](part, Base::real(work), Base::real(out), tables_.data());
  }

 private:
  static bool whole_lines(const Complex* p) { return reinterpret_cast<std::uintptr_t>(p) % 64 == 0; }

  const Line<T>& line_;
  LineTables<T> tables_;
  // Used if one transform alone cannot fill the vectors.
  const Line<T>* group_ = nullptr;
  // A single line needs no scratch; several together may.
  bool is_bare() const {
    return line_.radices[1] == 0 || line_.tables == LineTableKind::tangents_whole ||
           line_.tables == LineTableKind::shears_whole;
  }

  const Batch<T>* batch_ = nullptr;
  LineTables<T> group_tables_, batch_tables_;
};

// Every level makes one pass over its block and descends into the sub-blocks, so that all but the first few passes find
// their data in cache. Lines finish the leaves in place, and one reordering pass writes the result in whole cache
// lines.
template <class T>
class DeepKernel final : public Kernel<T> {
  using Base = Kernel<T>;

 public:
  using Complex = std::complex<T>;
  DeepKernel(const Engine<T>& engine, size_t n, Power2Choice choice)
      : Base(engine, n, std::move(choice)),
        line_(Base::find_line(leaf_length(n, Base::choice_))),
        descent_(Base::choice_.levels, line_.length, std::max(128 / (2 * sizeof(T)), engine.lanes)) {
    if (line_.leaf[0] == nullptr || descent_.blocks() % engine.tile != 0 || line_.length % engine.tile != 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{}: the leaf does not support {} points", Base::choice_.name, n));
    }
    const Roots<T> roots(n);
    line_tables_ = LineTables<T>(engine, line_, roots);
    for (size_t i = 0; i < descent_.levels(); ++i) {
      levels_.push_back(&find_level(descent_.radix(i)));
      level_tables_.push_back(lane_twiddles(roots, descent_.length(i), descent_.radix(i), engine.lanes, engine.split));
    }
  }
  size_t scratch() const override { return descent_.span() + Base::line_scratch(line_.length); }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const int d = Base::index(direction);
    T* const work = Base::real(scratch);
    const size_t stream = Base::n_ / descent_.radix(0);
    const size_t leaf = line_.length;
    const T* twiddles = level_tables_[0].data();
    for (size_t i = 0; i < descent_.runs(0).size(); ++i, twiddles += 2 * leaf * (descent_.radix(0) - 1)) {
      levels_[0]->outer[d](Base::real(in + leaf * i), stream, work + 2 * descent_.runs(0)[i], descent_.stride(0), leaf,
                           twiddles);
    }
    descend(d, 0, work, work + 2 * descent_.span());
    Base::engine_.reorder(work, descent_.offsets(), descent_.blocks(), line_.length, Base::real(out));
  }

 private:
  static size_t leaf_length(size_t n, const Power2Choice& choice) {
    for (const size_t radix : choice.levels) n /= radix;
    return n;
  }
  const Level<T>& find_level(size_t radix) const {
    for (const Level<T>& level : Base::engine_.levels) {
      if (level.radix == radix) return level;
    }
    throw Error(ErrorKind::invalid_argument,
                fmt::format("engine {} has no level of radix {}", Base::engine_.name, radix));
  }
  void descend(int d, size_t level, T* block, T* buffers) const {
    const size_t radix = descent_.radix(level), stride = descent_.stride(level);
    if (level > 0) {
      const T* twiddles = level_tables_[level].data();
      for (const size_t run : descent_.runs(level)) {
        levels_[level]->inner[d](block + 2 * run, stride, block + 2 * run, stride, line_.length, twiddles);
        twiddles += 2 * line_.length * (radix - 1);
      }
    }
    if (level + 1 == descent_.levels()) {
      line_.leaf[d](block, stride, block, stride, radix, line_tables_.data(), buffers);
      return;
    }
    for (size_t digit = 0; digit < radix; ++digit) descend(d, level + 1, block + 2 * stride * digit, buffers);
  }

  const Line<T>& line_;
  Descent descent_;
  LineTables<T> line_tables_;
  std::vector<const Level<T>*> levels_;
  std::vector<Table<T>> level_tables_;
};

// Columns in strips of a cache line or two, a twiddle, rows: each step works in L2, and main memory is read twice and
// written twice, for any length.
template <class T>
class SquareKernel final : public Kernel<T> {
  using Base = Kernel<T>;

 public:
  using Complex = std::complex<T>;
  SquareKernel(const Engine<T>& engine, size_t n, Power2Choice choice)
      : Base(engine, n, std::move(choice)),
        steps_(part(engine, Base::choice_.rows), part(engine, n / Base::choice_.rows)) {}
  double flops() const override { return steps_.flops_done(); }
  size_t scratch() const override { return steps_.work() + steps_.own_scratch(); }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    Complex* const own = scratch + steps_.work();
    PipelinedLines<T>(steps_, 1).run(direction, in, 0, out, 0, 1, scratch, &own, false);
  }

 private:
  static std::unique_ptr<LineKernel<T>> part(const Engine<T>& engine, size_t n) {
    for (const Power2Choice& choice : power2_choices<T>(n)) {
      if (choice.engine == engine.name) return make_kernel(engine, n, choice);
    }
    throw Error(ErrorKind::internal, fmt::format("engine {} has no line of {} points", engine.name, n));
  }
  TwoStep<T> steps_;
};

}  // namespace

std::string radix_text(const std::vector<std::size_t>& radices) { return fmt::format("{}", fmt::join(radices, "*")); }

template <class T>
std::unique_ptr<LineKernel<T>> make_kernel(const Engine<T>& engine, size_t n, const Power2Choice& choice) {
  if (choice.rows != 0) return std::make_unique<SquareKernel<T>>(engine, n, choice);
  if (choice.levels.empty()) return std::make_unique<CachedKernel<T>>(engine, n, choice);
  return std::make_unique<DeepKernel<T>>(engine, n, choice);
}

template std::unique_ptr<LineKernel<float>> make_kernel(const Engine<float>&, size_t, const Power2Choice&);
template std::unique_ptr<LineKernel<double>> make_kernel(const Engine<double>&, size_t, const Power2Choice&);

}  // namespace ridge::fft::power2

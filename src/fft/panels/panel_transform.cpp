// Plans the passes of a transform over panels of host arrays, and runs them.
#include "fft/panels/panel_transform.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <ridge/device_memory.hpp>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/divisors.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "fft/device/route.hpp"
#include "fft/device/transform.hpp"
#include "fft/operators.hpp"

namespace ridge::fft {
namespace {

// Large enough to hide the start and the end of a copy, small enough for a short first and last panel.
constexpr std::size_t kPanelBytes = std::size_t{256} << 20;
constexpr std::size_t kSegmentBytes = std::size_t{64} << 10;  // least bytes per row of a panel of columns
constexpr std::size_t kPageBytes = 4096;  // of host memory: rows that begin inside a page are copied more slowly
constexpr std::size_t kLanes = 32;        // rows in short panels are a multiple of this

constexpr double kScratch = 3;  // panels: the most that the scratch arrays of a transform hold

// Largest panel in bytes: the stream holds several panels, and transforms have scratch arrays.
std::size_t most_panel(std::size_t memory, bool in_place, std::size_t panels = PanelStream::kAtOnce,
                       double scratch = kScratch) {
  const double held = static_cast<double>((in_place ? 1 : 2) * panels) + scratch;
  return static_cast<std::size_t>(static_cast<double>(memory) / held);
}

// Panels of columns are as large as possible, because copies of short rows are slow: there are two, not three, and
// parts of a panel are transformed one after another, so that scratch arrays are smaller than a panel.
constexpr std::size_t kPanelsOfColumns = 2;
constexpr std::size_t kManyPanels = 6;  // per pass: with fewer, the start and the end take too large a share
constexpr std::size_t kParts = 8;       // of a panel of columns
constexpr double kSmallScratch = .75;   // panels of scratch arrays of both passes
constexpr std::size_t kLeastPart = 64;  // columns: offsets of parts keep accesses of 16 bytes aligned

bool packed(const Side& side, std::size_t batch) { return side.points() * batch == side.extent; }

bool plain(const Problem& problem, const Layout& layout) {
  const auto none = [](const auto& factors) { return factors.window.empty() && factors.multiply.empty(); };
  return !layout.boxed && problem.storage == Storage::same && problem.load_forward.samples == Samples::same &&
         none(problem.load_forward) && none(problem.load_inverse) && none(problem.store_forward) &&
         none(problem.store_inverse);
}

// The first unit of each panel, then the number of units. The first and last panels are short multiples of `grain`:
// nothing else is transferred or computed while the first is uploaded and the last downloaded.
std::vector<std::size_t> panel_starts(std::size_t units, std::size_t at_once, std::size_t grain) {
  constexpr std::size_t kShort = 8;
  std::vector<std::size_t> starts{0}, ends;
  std::size_t left = units;
  if (at_once >= 2 * grain && units >= kManyPanels * at_once) {
    for (std::size_t size = std::max(grain, at_once / kShort / grain * grain); size < at_once; size *= 2) {
      starts.push_back(starts.back() + size);
      ends.push_back(size);
      left -= 2 * size;
    }
  }
  for (; left > at_once; left -= at_once) starts.push_back(starts.back() + at_once);
  starts.push_back(starts.back() + left);
  for (auto size = ends.rbegin(); size != ends.rend(); ++size) starts.push_back(starts.back() + *size);
  return starts;
}

struct TransformBytes {  // of one transform
  std::size_t samples, spectrum;
  std::size_t larger() const { return std::max(samples, spectrum); }
};
TransformBytes transform_bytes(const Problem& problem, const Layout& layout, bool float64, bool forward) {
  const std::size_t number = number_bytes(problem, float64);
  const Samples samples = forward ? problem.load_forward.samples : Samples::same;
  return {layout.samples.points() * sample_bytes(samples, problem.kind, number), layout.spectrum.points() * 2 * number};
}

std::size_t product(const std::vector<std::size_t>& lengths, std::size_t first) {
  std::size_t all = 1;
  for (std::size_t i = first; i < lengths.size(); ++i) all *= lengths[i];
  return all;
}

template <class Use>
void over_threads(std::size_t count, const Use& use) {
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(count, thread, threads, 1024);
    for (std::size_t i = share.begin; i < share.end; ++i) use(i);
  });
}

// A real line of 2h points is transformed as h complex numbers z; its spectrum x has h + 1 values.
// Computes the spectrum of the real line in place; the first h values of x are the spectrum of z.
template <class T>
void join_halves(std::complex<T>* x, std::size_t h, const RootTables& root) {
  over_threads(h / 2 + 1, [&](std::size_t k) {
    if (k == 0) {
      const std::complex<T> z = x[0];
      x[0] = z.real() + z.imag();
      x[h] = z.real() - z.imag();
      return;
    }
    const std::complex<double> a(x[k]), b = std::conj(std::complex<double>(x[h - k]));
    const std::complex<double> even = 0.5 * (a + b), odd = std::complex<double>(0, -0.5) * (a - b) * root(k);
    x[k] = std::complex<T>(even + odd);
    x[h - k] = std::complex<T>(std::conj(even - odd));
  });
}
// Computes twice the spectrum of z from that of the real line: an unscaled inverse of h points gives half as much.
template <class T>
void split_halves(const std::complex<T>* x, std::complex<T>* z, std::size_t h, const RootTables& root) {
  over_threads(h / 2 + 1, [&](std::size_t k) {
    if (k == 0) {  // imaginary parts that must be zero are read as zero
      z[0] = {x[0].real() + x[h].real(), x[0].real() - x[h].real()};
      return;
    }
    const std::complex<double> a(x[k]), b = std::conj(std::complex<double>(x[h - k]));
    const std::complex<double> even = a + b, odd = std::complex<double>(0, 1) * (a - b) * std::conj(root(k));
    z[k] = std::complex<T>(even + odd);
    z[h - k] = std::complex<T>(std::conj(even - odd));
  });
}

}  // namespace

bool needs_panels(const Device& device, const Problem& problem, const Layout& layout, bool float64) {
  if (device.is_host() || device.info().recorded) return false;
  const auto bytes = [&](const Side& side, std::size_t element) {
    return static_cast<double>(side.extent) * static_cast<double>(element);
  };
  const std::size_t number = number_bytes(problem, float64);
  const double samples = bytes(layout.samples, sample_bytes(problem.load_forward.samples, problem.kind, number));
  const double spectrum = bytes(layout.spectrum, 2 * number);
  const bool between = problem.kind == Kind::real && layout.axes > 1 && problem.directions != Directions::forward;
  const double all = (problem.in_place ? std::max(samples, spectrum) : samples + spectrum) + (between ? spectrum : 0);
  const std::size_t memory = device_memory(device);
  if (all <= static_cast<double>(memory)) return false;
  if (!packed(layout.samples, problem.batch) || !packed(layout.spectrum, problem.batch)) return false;
  if (problem.kind == Kind::real && problem.in_place) return false;
  const bool whole = transform_bytes(problem, layout, float64, false).larger() <= most_panel(memory, problem.in_place);
  return whole ? problem.batch > 1 : plain(problem, layout);
}

PanelTransform::PanelTransform(const Device& device, const Problem& problem, const Layout& layout,
                               const planner::Options& options, bool float64)
    : device_(device), problem_(problem), float64_(float64), memory_(device_memory(device)), stream_(device, "fft") {
  const TransformBytes bytes = transform_bytes(problem, layout, float64, false);
  const bool whole = bytes.larger() <= most_panel(memory_, problem.in_place);
  if (!whole && one_axis()) {
    std::size_t n = problem.shape[0];
    halved_ = problem.kind == Kind::real;
    if (halved_ && n % 2 != 0) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("fft: a real line of {} points exceeds the device memory, and its length is odd: use a "
                              "complex plan or the host",
                              n));
    }
    if (halved_) n /= 2;
    rows_ = base::balanced_divisor(n);
    columns_ = n / rows_;
  }
  const auto make = [&](Direction direction) {
    return whole        ? plan_batch(direction, options)
           : one_axis() ? plan_one_axis(direction, options)
                        : plan_axes(direction, options);
  };
  if (problem.directions != Directions::inverse) forward_ = make(Direction::forward);
  if (problem.directions == Directions::forward) return;
  inverse_ = make(Direction::inverse);
  if (!whole && !one_axis() && problem.kind == Kind::real) work_bytes_[1] = bytes.spectrum * problem.batch;
}

// Units per panel. `most`: bytes. `segment`: bytes of a unit in each row of a panel of columns; 0: units are
// contiguous.
std::size_t PanelTransform::at_once(std::size_t units, std::size_t unit_bytes, std::size_t segment,
                                    std::size_t most) const {
  if (unit_bytes > most) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("fft: one {} of {} does not fit a panel of {}: of the memory of {}, {} may be used",
                            segment == 0 ? "row" : "column", base::human_bytes(static_cast<double>(unit_bytes)),
                            base::human_bytes(static_cast<double>(most)), device_.id(),
                            base::human_bytes(static_cast<double>(memory_))));
  }
  std::size_t count = std::max<std::size_t>(1, kPanelBytes / unit_bytes);
  if (segment != 0) count = std::max(count, kSegmentBytes / segment);
  count = std::min(count, most / unit_bytes);
  if (segment != 0 && count * segment > kPageBytes) count -= count % (kPageBytes / segment);
  return std::min(count, units);
}

Problem PanelTransform::part(const std::vector<std::size_t>& shape, std::size_t batch, Direction direction,
                             bool last) const {
  const bool forward = direction == Direction::forward;
  return {.shape = shape,
          .batch = batch,
          .scale_forward = last ? problem_.scale_forward : 1,
          .scale_inverse = last ? problem_.scale_inverse : 1,
          .directions = forward ? Directions::forward : Directions::inverse};
}

// Adds a pass over rows.
void PanelTransform::add(std::vector<Pass>& passes, Pass pass, const Problem& problem,
                         const planner::Options& options) const {
  pass.in_place = problem.in_place;
  pass.transform = std::make_shared<const DeviceTransform>(device_, problem, options, float64_);
  pass.starts = panel_starts(pass.units, pass.at_once, kLanes);
  passes.push_back(std::move(pass));
}

// Adds a pass over columns: sets the size of its panels and its transform, whose length is that of a column.
void PanelTransform::add_columns(std::vector<Pass>& passes, Pass pass, Direction direction, bool last,
                                 const planner::Options& options) const {
  const std::size_t element = complex_bytes(), column = pass.read.unit * element;
  pass.in_place = !pass.roots;
  const std::size_t many = std::max<std::size_t>(1, pass.units / kManyPanels) * column;
  for (const bool small : {true, false}) {
    pass.panels = small ? kPanelsOfColumns : PanelStream::kAtOnce;
    const double scratch = small ? kSmallScratch : kScratch;
    const std::size_t most = most_panel(memory_, pass.in_place, pass.panels, scratch);
    pass.at_once = at_once(pass.units, column, element, most < column ? most : std::min(most, many));
    pass.part = pass.at_once;
    if (small && pass.at_once >= 2 * kLeastPart) {
      pass.part = std::max(kLeastPart, pass.at_once / kParts / kLeastPart * kLeastPart);
      pass.at_once -= pass.at_once % pass.part;
    }
    Problem problem = part({pass.read.unit}, pass.part, direction, last);
    problem.in_place = true;
    problem.input = problem.output = {.axes = {pass.at_once}, .batch = 1};
    pass.transform.reset();  // frees its arrays
    pass.transform = std::make_shared<const DeviceTransform>(device_, problem, options, float64_);
    const double held = static_cast<double>(pass.transform->scratch_bytes());
    if (held <= kSmallScratch / 2 * static_cast<double>(pass.at_once * column)) break;
  }
  pass.starts = panel_starts(pass.units, pass.at_once, kPageBytes / element);
  passes.push_back(std::move(pass));
}

// Several whole transforms per panel.
std::vector<PanelTransform::Pass> PanelTransform::plan_batch(Direction direction,
                                                             const planner::Options& options) const {
  const bool forward = direction == Direction::forward;
  const TransformBytes bytes = transform_bytes(problem_, resolve(problem_), float64_, forward);
  Pass pass{.units = problem_.batch,
            .at_once = at_once(problem_.batch, bytes.larger(), 0, most_panel(memory_, problem_.in_place))};
  pass.read = {.array = Array::input, .unit = forward ? bytes.samples : bytes.spectrum};
  pass.written = {.array = Array::output, .unit = forward ? bytes.spectrum : bytes.samples};
  Problem problem = problem_;
  problem.batch = pass.at_once;
  problem.directions = forward ? Directions::forward : Directions::inverse;
  std::vector<Pass> passes;
  add(passes, std::move(pass), problem, options);
  return passes;
}

// A pass over columns (first axis) and one over rows or planes (other axes); the latter reads or writes real samples.
std::vector<PanelTransform::Pass> PanelTransform::plan_axes(Direction direction,
                                                            const planner::Options& options) const {
  const bool forward = direction == Direction::forward, real = problem_.kind == Kind::real;
  const std::vector<std::size_t>& shape = problem_.shape;
  const std::vector<std::size_t> rest(shape.begin() + 1, shape.end());
  const std::size_t samples = product(shape, 1);
  const std::size_t values = real ? samples / shape.back() * (shape.back() / 2 + 1) : samples;
  const std::size_t row_samples = samples * complex_bytes() / (real ? 2 : 1), row_values = values * complex_bytes();
  const bool rows_first = real && forward;
  const Array first_to = real && !forward ? Array::work : Array::output;
  std::vector<Pass> passes;
  const auto columns = [&](Array from, Array to, bool last) {
    const Side side{.array = from, .columns = true, .unit = shape[0], .element = complex_bytes()};
    Pass pass{.read = side, .written = side, .transforms = problem_.batch, .units = values};
    pass.written.array = to;
    add_columns(passes, std::move(pass), direction, last, options);
  };
  const auto rows = [&](Array from, Array to, bool last) {
    const std::size_t count = at_once(shape[0], std::max(row_samples, row_values), 0, most_panel(memory_, !real));
    Problem problem = part(rest, count, direction, last);
    problem.kind = problem_.kind;
    problem.in_place = !real;
    add(passes,
        {.read = {.array = from, .unit = forward ? row_samples : row_values},
         .written = {.array = to, .unit = forward ? row_values : row_samples},
         .transforms = problem_.batch,
         .units = shape[0],
         .at_once = count},
        problem, options);
  };
  if (rows_first) {
    rows(Array::input, Array::output, false);
    columns(Array::output, Array::output, true);
  } else {
    columns(Array::input, first_to, false);
    rows(first_to, Array::output, true);
  }
  return passes;
}

// A line of rows x columns points: sample (r, c) is number r * columns + c, and value (k, q) is number q * rows + k.
// The first pass transforms columns, multiplies them by roots of unity and stores them as rows; the second one
// transforms columns of that matrix in place.
std::vector<PanelTransform::Pass> PanelTransform::plan_one_axis(Direction direction, const planner::Options& options) {
  const bool forward = direction == Direction::forward;
  const std::size_t element = complex_bytes(), index = forward ? 0 : 1;
  const bool through_work = problem_.in_place && !halved_;
  const std::size_t transforms = halved_ ? 1 : problem_.batch;
  if (through_work || (halved_ && !forward)) work_bytes_[index] = transforms * rows_ * columns_ * element;
  const RootTables tables(rows_ * columns_, forward ? -1 : 1);
  roots_[index] = std::make_shared<const PanelRoots>(device_, tables, float64_);
  std::vector<Pass> passes;
  const Array from = halved_ && !forward ? Array::work : Array::input;
  const Array between = through_work ? Array::work : Array::output;
  add_columns(passes,
              {.read = {.array = from, .columns = true, .unit = rows_, .element = element},
               .written = {.array = between, .unit = rows_ * element},
               .transforms = transforms,
               .units = columns_,
               .roots = true},
              direction, false, options);
  const Side side{.array = between, .columns = true, .unit = columns_, .element = element};
  Pass second{.read = side, .written = side, .transforms = transforms, .units = rows_};
  second.written.array = Array::output;
  add_columns(passes, std::move(second), direction, true, options);
  return passes;
}

std::vector<PanelRows> PanelTransform::rows_of(const Pass& pass, const Side& side, const Pointers& arrays,
                                               std::size_t panel) const {
  const std::size_t first = pass.first(panel), count = pass.count(panel);
  std::byte* data = side.array == Array::input    ? arrays.input
                    : side.array == Array::output ? arrays.output
                                                  : arrays.work;
  data += panel / pass.each() * side.bytes(pass.units);
  if (!side.columns) return {{.data = data + side.bytes(first), .bytes = side.bytes(count)}};
  return {{.data = data + first * side.element,
           .bytes = count * side.element,
           .rows = side.unit,
           .pitch = pass.units * side.element,
           .at = 0,
           .at_pitch = pass.at_once * side.element}};
}

void PanelTransform::run_pass(Direction direction, const Pass& pass, const Pointers& arrays) const {
  PanelWork work{.panels = pass.transforms * pass.each()};
  work.read = [&](std::size_t panel) { return rows_of(pass, pass.read, arrays, panel); };
  work.written = [&](std::size_t panel) { return rows_of(pass, pass.written, arrays, panel); };
  work.enqueue = [&](Queue& queue, std::size_t panel, const Buffer& in, const Buffer& out) {
    // The rest of a short panel holds old columns: whole parts of it are not transformed.
    const std::size_t parts = pass.part == 0 ? 1 : (pass.count(panel) + pass.part - 1) / pass.part;
    for (std::size_t part = 0; part < parts; ++part)
      pass.transform->enqueue(queue, direction, in, pass.roots ? in : out, part * pass.part);
    if (!pass.roots) return;
    roots_[direction == Direction::forward ? 0 : 1]->enqueue(queue, in, out, pass.first(panel), rows_,
                                                             pass.count(panel), pass.at_once);
  };
  stream_.run(work, pass.read.bytes(pass.at_once), pass.in_place ? 0 : pass.written.bytes(pass.at_once), pass.panels);
}

void PanelTransform::run(Direction direction, const void* in, void* out) const {
  if (halved_) return float64_ ? run_halved<double>(direction, in, out) : run_halved<float>(direction, in, out);
  const bool forward = direction == Direction::forward;
  base::AlignedArray<std::byte> work(work_bytes_[forward ? 0 : 1]);
  const Pointers arrays{static_cast<std::byte*>(const_cast<void*>(in)), static_cast<std::byte*>(out), work.data()};
  for (const Pass& pass : forward ? forward_ : inverse_) run_pass(direction, pass, arrays);
}

template <class T>
void PanelTransform::run_halved(Direction direction, const void* in, void* out) const {
  using Complex = std::complex<T>;
  const std::size_t h = rows_ * columns_;
  const RootTables root(2 * h, -1);
  const bool forward = direction == Direction::forward;
  base::AlignedArray<Complex> work(work_bytes_[forward ? 0 : 1] / sizeof(Complex));
  for (std::size_t i = 0; i < problem_.batch; ++i) {
    const std::size_t samples = i * 2 * h, values = i * (h + 1);
    auto* const spectrum = static_cast<Complex*>(forward ? out : const_cast<void*>(in)) + values;
    auto* const numbers = static_cast<T*>(forward ? const_cast<void*>(in) : out) + samples;
    if (!forward) split_halves(spectrum, work.data(), h, root);
    const Pointers arrays{reinterpret_cast<std::byte*>(numbers),
                          forward ? reinterpret_cast<std::byte*>(spectrum) : reinterpret_cast<std::byte*>(numbers),
                          reinterpret_cast<std::byte*>(work.data())};
    for (const Pass& pass : forward ? forward_ : inverse_) run_pass(direction, pass, arrays);
    if (forward) join_halves(spectrum, h, root);
  }
}

std::string PanelTransform::explain() const {
  const std::vector<Pass>& passes = forward_.empty() ? inverse_ : forward_;
  std::string text =
      fmt::format("  larger than {} of device memory: {} over host memory\n",
                  base::human_bytes(static_cast<double>(memory_)), passes.size() == 1 ? "one pass" : "two passes");
  for (const Pass& pass : passes) {
    text += fmt::format("  {} panels of {} {} ({}){}\n", pass.transforms * pass.each(), pass.at_once,
                        pass.read.columns ? "columns" : "rows",
                        base::human_bytes(static_cast<double>(pass.read.bytes(pass.at_once))),
                        pass.roots ? ", multiplied by roots of unity and transposed" : "");
    text += pass.transform->explain();
  }
  return text;
}

std::vector<planner::Decision> PanelTransform::decisions() const {
  std::vector<planner::Decision> all;
  for (const Pass& pass : forward_.empty() ? inverse_ : forward_) {
    all.insert(all.end(), pass.transform->decisions().begin(), pass.transform->decisions().end());
  }
  return all;
}

std::vector<KernelSource> PanelTransform::kernels() const {
  std::vector<KernelSource> all;
  for (const Pass& pass : forward_.empty() ? inverse_ : forward_) {
    on_device::add_to(all, pass.transform->kernels());
    if (pass.roots) on_device::add_to(all, {roots_[forward_.empty() ? 1 : 0]->source()});
  }
  return all;
}

}  // namespace ridge::fft

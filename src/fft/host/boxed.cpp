// Transforms the box of an array axis by axis, in tiles for lines with missing points.
#include "fft/host/boxed.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "fft/host/run_units.hpp"
#include "fft/host/two_step_kernels.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kBoxRows = 16;                         // rows per block
constexpr std::size_t kBoxTileBytes = std::size_t{1} << 16;  // of columns side by side
constexpr std::size_t kBoxWideTileBytes = std::size_t{1} << 20, kBoxPage = 4096, kBoxManyPages = 256;
constexpr std::size_t kBoxFewestColumns = 32, kBoxMostColumns = 128;
constexpr std::size_t kBoxFarBytes = std::size_t{128} << 10, kBoxSharedSets = 1024;  // as in stage.cpp
constexpr double kBoxPlaneBytes = 1 << 21;                     // a plane that a core's caches hold
constexpr std::size_t kBoxStreamBytes = std::size_t{3} << 20;  // as in stage.cpp
constexpr double kBoxPointsWorthThreads = 1 << 14;

std::size_t in_cache_lines(std::size_t elements) { return (elements + 15) / 16 * 16; }

// Parts of a range that do not pass the end of the axis.
struct Part {
  std::size_t at, from, count;  // first point on the axis, first point of the range
};
std::array<Part, 2> parts_of(const AxisRange& range, std::size_t n) {
  const std::size_t head = std::min(range.count, n - range.first);
  return {Part{range.first, 0, head}, Part{0, head, range.count - head}};
}

// Sets the points outside the range to zero, of `lines` lines `pitch` apart, or of rows of `lines` neighbours.
template <class Value>
void clear_outside(const AxisRange& range, std::size_t n, Value* tile, std::size_t lines, std::size_t pitch,
                   bool columns) {
  const std::size_t end = range.first + range.count;
  const Part gaps[] = {{end > n ? end - n : 0, 0, end > n ? n - range.count : range.first},
                       {end > n ? n : end, 0, end > n ? 0 : n - end}};
  for (const Part& gap : gaps) {
    if (gap.count == 0) continue;
    if (columns) {
      std::fill_n(tile + gap.at * lines, gap.count * lines, Value{});
    } else {
      for (std::size_t l = 0; l < lines; ++l) std::fill_n(tile + l * pitch + gap.at, gap.count, Value{});
    }
  }
}

template <class T>
const Factors<T>& plain_factors() {
  static const Factors<T> plain;
  return plain;
}

}  // namespace

template <class T>
std::size_t BoxPass<T>::tile() const {
  const std::size_t n = axis.length;
  return real == nullptr ? in_cache_lines((columns ? pitch() : width) * n) : 2 * in_cache_lines(width * (n / 2 + 1));
}

template <class T>
std::size_t BoxPass<T>::scratch() const {
  if (real != nullptr) return in_cache_lines(real->scratch());
  return in_cache_lines(columns ? line->scratch_columns() : line->scratch());
}

template <class T>
bool BoxPass<T>::direct_in() const {
  return load == nullptr && axis.read.first == 0 && axis.read.count == read_points() && (columns || points.in == 1);
}

template <class T>
bool BoxPass<T>::direct_out() const {
  // The stages of a transform rewrite their output, so far columns whose cache lines share sets use a tile.
  const std::size_t step = points.out * sizeof(std::complex<T>);
  const bool far = columns && axis.length * step > kBoxFarBytes && step % kBoxSharedSets == 0;
  return store == nullptr && axis.written.first == 0 && axis.written.count == written_points() && !streams && !far &&
         (columns || points.out == 1);
}

// Tiles of rows hold one line after another, tiles of columns `width` lines side by side.
template <class T>
void BoxPass<T>::load_tile(const void* in, const Loop& at, std::size_t count, std::complex<T>* tile) const {
  using Complex = std::complex<T>;
  const Factors<T>& before = load == nullptr ? plain_factors<T>() : *load;
  const bool real_in = real != nullptr && forward;
  const Steps to = columns ? Steps{pitch(), 1} : Steps{1, read_points()};
  for (const Part& part : parts_of(axis.read, read_points())) {
    if (part.count == 0) continue;
    const Block values{
        part.count, count, at.in_factor + part.from * points.in_factor, {points.in_factor, lines.in_factor}};
    const void* const from = static_cast<const std::byte*>(in) + (at.in + part.from * points.in) * element_bytes;
    if (load == nullptr && !real_in && (columns || points.in == 1)) {
      const Complex* source = static_cast<const Complex*>(from);
      const std::size_t rows = columns ? part.count : count, length = columns ? count : part.count;
      Complex* target = tile + part.at * to.point;
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(source + r * (columns ? points.in : lines.in), length, target + r * (columns ? to.point : to.line));
      }
    } else if (real_in) {
      load_real(before, from, {points.in, lines.in}, reinterpret_cast<T*>(tile) + part.at, to, values);
    } else {
      load_complex(before, from, {points.in, lines.in}, tile + part.at * to.point, to, values);
    }
  }
}

template <class T>
void BoxPass<T>::store_tile(const std::complex<T>* result, const Loop& at, std::size_t count, void* out) const {
  using Complex = std::complex<T>;
  const Factors<T>& after = store == nullptr ? plain_factors<T>() : *store;
  const Steps from = columns ? Steps{pitch(), 1} : Steps{1, written_points()};
  for (const Part& part : parts_of(axis.written, written_points())) {
    if (part.count == 0) continue;
    const Block values{
        part.count, count, at.out_factor + part.from * points.out_factor, {points.out_factor, lines.out_factor}};
    const std::size_t to = at.out + part.from * points.out;
    if (real != nullptr && !forward) {
      store_real(after, reinterpret_cast<const T*>(result) + part.at, from, static_cast<T*>(out) + to,
                 {points.out, lines.out}, values);
    } else if (store == nullptr && (columns || points.out == 1)) {
      const std::size_t rows = columns ? part.count : count, length = columns ? count : part.count;
      const Complex* source = result + part.at * from.point;
      for (std::size_t r = 0; r < rows; ++r) {
        const Complex* row = source + r * (columns ? from.point : from.line);
        Complex* target = static_cast<Complex*>(out) + to + r * (columns ? points.out : lines.out);
        if (streams) {
          two_step_kernels<T>().stream(reinterpret_cast<const T*>(row), length, reinterpret_cast<T*>(target));
        } else {
          std::copy_n(row, length, target);
        }
      }
    } else {
      store_complex(after, result + part.at * from.point, from, static_cast<Complex*>(out) + to,
                    {points.out, lines.out}, values);
    }
  }
}

template <class T>
void BoxPass<T>::run(const void* in, void* out, std::size_t block, std::complex<T>* tile, bool& fresh) const {
  using Complex = std::complex<T>;
  const std::size_t n = axis.length, plane = block / blocks(), first = block % blocks() * width;
  const std::size_t count = std::min(width, lines.count - first);
  Loop at{.count = 0,
          .in = first * lines.in,
          .out = first * lines.out,
          .in_factor = first * lines.in_factor,
          .out_factor = first * lines.out_factor};
  const std::size_t index[2] = {plane / outer[1].count, plane % outer[1].count};
  for (std::size_t i = 0; i < 2; ++i) {
    at.in += index[i] * outer[i].in;
    at.out += index[i] * outer[i].out;
    at.in_factor += index[i] * outer[i].in_factor;
    at.out_factor += index[i] * outer[i].out_factor;
  }
  const Direction direction = forward ? Direction::forward : Direction::inverse;
  const bool real_in = real != nullptr && forward, real_out = real != nullptr && !forward;
  const bool reads = direct_in(), writes = direct_out();
  Complex* const result = real == nullptr ? tile : tile + in_cache_lines(width * (n / 2 + 1));
  Complex* const scratch = tile + this->tile();
  if (!reads) {
    if (fresh && real_in) {
      clear_outside(axis.read, n, reinterpret_cast<T*>(tile), width, n, false);
    } else if (fresh) {
      clear_outside(axis.read, read_points(), tile, columns ? pitch() : width, read_points(), columns);
    }
    fresh = !writes && real == nullptr;  // otherwise the transform leaves the tile as it is
    load_tile(in, at, count, tile);
  }
  // Addresses that lines are read from and written to, and the elements between points of columns, or between rows.
  const std::size_t from_step = reads ? (columns ? points.in : lines.in) : columns ? pitch() : read_points();
  const std::size_t to_step = writes ? (columns ? points.out : lines.out) : columns ? pitch() : written_points();
  const auto* from =
      reads ? static_cast<const std::byte*>(in) + at.in * element_bytes : reinterpret_cast<std::byte*>(tile);
  auto* to = writes ? static_cast<std::byte*>(out) + at.out * (real_out ? sizeof(T) : sizeof(Complex))
                    : reinterpret_cast<std::byte*>(result);
  if (real_in) {
    real->forward_many(reinterpret_cast<const T*>(from), from_step, reinterpret_cast<Complex*>(to), to_step, count,
                       scratch);
  } else if (real_out) {
    real->inverse_many(reinterpret_cast<const Complex*>(from), from_step, reinterpret_cast<T*>(to), to_step, count,
                       scratch);
  } else if (columns) {
    line->run_columns(direction, reinterpret_cast<const Complex*>(from), from_step, reinterpret_cast<Complex*>(to),
                      to_step, count, scratch);
  } else {
    line->run_many(direction, reinterpret_cast<const Complex*>(from), from_step, reinterpret_cast<Complex*>(to),
                   to_step, count, scratch);
  }
  if (!writes) store_tile(result, at, count, out);
}

template <class T>
BoxPass<T> BoxedTransform<T>::pass_of(const BoxAxis& axis, Direction direction, const Side& in, const Side& out,
                                      std::size_t inner, const Kernels& kernels) const {
  BoxPass<T> pass{.axis = axis, .forward = direction == Direction::forward};
  if (axis.kind == Kind::real) {
    pass.real = &kernels.real(axis.length);
    if (pass.forward) pass.element_bytes = sizeof(T);
  } else {
    pass.line = &kernels.line(axis.length);
  }
  const Side from = packed_side(in.shape), to = packed_side(out.shape);
  const auto loop = [&](std::size_t other) {
    return Loop{in.shape[other], in.strides[other], out.strides[other], from.strides[other], to.strides[other]};
  };
  pass.points = loop(axis.axis);
  pass.lines = inner == kMostAxes ? Loop{problem_.batch, in.batch, out.batch, 0, 0} : loop(inner);
  pass.outer[0] = inner == kMostAxes ? Loop{} : Loop{problem_.batch, in.batch, out.batch, 0, 0};
  std::size_t used = inner == kMostAxes ? 0 : 1;
  for (std::size_t other = 0; other < kMostAxes; ++other) {
    if (other != axis.axis && other != inner && in.shape[other] > 1) pass.outer[used++] = loop(other);
  }
  pass.columns = pass.line != nullptr && pass.lines.in == 1 && pass.lines.out == 1 && pass.lines.count > 1;
  // Far points are on pages of their own: wide blocks visit them less often.
  const bool far_in = pass.points.in * sizeof(Complex) >= kBoxPage,
             far_out = pass.points.out * sizeof(Complex) >= kBoxPage;
  const std::size_t bytes = (far_in || far_out) && axis.length >= kBoxManyPages ? kBoxWideTileBytes : kBoxTileBytes;
  const std::size_t fitting = bytes / (axis.length * sizeof(Complex)) / 16 * 16;
  pass.width =
      std::min(pass.lines.count, pass.columns ? std::clamp(fitting, kBoxFewestColumns, kBoxMostColumns) : kBoxRows);
  return pass;
}

// Passes in order. Two passes over the last two axes run plane by plane, through a plane in the thread's scratch, if
// several planes remain.
template <class T>
void BoxedTransform<T>::build(Directed& directed, Direction direction, const Layout& layout, const Kernels& kernels) {
  const bool forward = direction == Direction::forward;
  const Side &first = forward ? layout.samples : layout.spectrum, &end = forward ? layout.spectrum : layout.samples;
  // A padded transform writes more than it reads: its last pass writes whole rows, plane by plane.
  const std::vector<BoxAxis> axes = ordered_axes(problem_, layout, direction, end.points() > first.points());
  directed.axes = axes;
  const auto inner_of = [&](const BoxAxis& axis, const Side& in, const Side& out) {
    // Adjacent lines if there are any; kMostAxes stands for the batch.
    std::size_t inner = kMostAxes;
    for (std::size_t other = 0; other < layout.axes; ++other) {
      if (other == axis.axis || axis.from[other] == 1) continue;
      if (inner == kMostAxes || (in.strides[other] == 1 && out.strides[other] == 1)) inner = other;
    }
    const bool batch_adjacent = in.batch == 1 && out.batch == 1 && problem_.batch > 1;
    return batch_adjacent && axis.from[0] * axis.from[1] * axis.from[2] == axis.from[axis.axis] ? kMostAxes : inner;
  };
  Side in = first;
  for (std::size_t i = 0; i < axes.size();) {
    const auto place = [&](std::size_t after) { return after == axes.size() ? end : packed_side(axes[after - 1].to); };
    std::vector<BoxPass<T>> group;
    if (i + 1 < axes.size() && layout.axes >= 2 && axes[i].axis + 2 >= layout.axes &&
        axes[i + 1].axis + 2 >= layout.axes) {
      const std::size_t a = axes[i].axis, b = axes[i + 1].axis;
      auto shape = axes[i].to;
      for (std::size_t other = 0; other + 2 < layout.axes; ++other) shape[other] = 1;
      Side plane = packed_side(shape);
      const double planes =
          static_cast<double>(problem_.batch) * static_cast<double>(layout.axes == 3 ? axes[i].from[0] : 1);
      const std::size_t points = plane.extent;
      plane.strides[0] = layout.axes == 3 ? 0 : plane.strides[0];
      plane.batch = 0;
      if (planes >= static_cast<double>(threads_) && planes > 1 &&
          static_cast<double>(points * sizeof(Complex)) <= kBoxPlaneBytes) {
        plane.shape = axes[i].to;
        plane_ = std::max(plane_, in_cache_lines(points));
        group = {pass_of(axes[i], direction, in, plane, b, kernels),
                 pass_of(axes[i + 1], direction, plane, place(i + 2), a, kernels)};
        i += 2;
      }
    }
    if (group.empty()) {
      const Side out = place(i + 1);
      group = {pass_of(axes[i], direction, in, out, inner_of(axes[i], in, out), kernels)};
      i += 1;
    }
    in = place(i);
    if (i < axes.size()) directed.between.push_back(in_cache_lines(in.extent * problem_.batch));
    directed.groups.push_back(std::move(group));
  }
  BoxPass<T>&opening = directed.groups.front().front(), &closing = directed.groups.back().back();
  opening.load = only_if_any(&directed.load);
  if (opening.load != nullptr)
    opening.element_bytes =
        sample_bytes(directed.load.samples, opening.real != nullptr && forward ? Kind::real : Kind::complex, sizeof(T));
  closing.store = only_if_any(&directed.store);
#if defined(__x86_64__)
  closing.streams = closing.columns && closing.store == nullptr &&
                    end.points() * problem_.batch * sizeof(Complex) / threads_ >= kBoxStreamBytes;
#endif
  for (const auto& group : directed.groups) {
    std::size_t tiles = 0;
    for (const BoxPass<T>& pass : group) tiles += pass.tile() + pass.scratch();
    tile_ = std::max(tile_, tiles);
  }
}

template <class T>
BoxedTransform<T>::BoxedTransform(const Problem& problem, const Layout& layout, std::size_t threads,
                                  const Kernels& kernels)
    : problem_(problem), threads_(threads) {
  forward_.load = Factors<T>(problem.load_forward);
  forward_.store = Factors<T>(problem.store_forward, problem.scale_forward);
  inverse_.load = Factors<T>(problem.load_inverse);
  inverse_.store = Factors<T>(problem.store_inverse, problem.scale_inverse);
  if (problem.directions != Directions::inverse) build(forward_, Direction::forward, layout, kernels);
  if (problem.directions != Directions::forward) build(inverse_, Direction::inverse, layout, kernels);
  std::size_t shared = 0;
  for (const Directed* directed : {&forward_, &inverse_}) {
    std::size_t sum = 0;
    for (const std::size_t elements : directed->between) sum += elements;
    shared = std::max(shared, sum);
  }
  pool_ = std::make_unique<ScratchPool<T>>(threads_, tile_ + plane_, shared, kPreparedCallers);
}

template <class T>
void BoxedTransform<T>::run(Direction direction, const void* in, void* out) const {
  const auto scratch = pool_->lend();
  const Directed& directed = direction == Direction::forward ? forward_ : inverse_;
  Complex* next = scratch->shared.data();
  for (std::size_t g = 0; g < directed.groups.size(); ++g) {
    const std::vector<BoxPass<T>>& group = directed.groups[g];
    const bool last = g + 1 == directed.groups.size();
    void* const to = last ? out : next;
    const BoxPass<T>& first = group.front();
    const std::size_t units = group.size() == 1 ? first.planes() * first.blocks() : first.planes();
    const double points =
        static_cast<double>(first.axis.lines(problem_.batch)) * static_cast<double>(first.axis.length);
    const std::size_t threads = points < kBoxPointsWorthThreads ? 1 : std::min(threads_, units);
    run_all(threads, units, points * 2 * sizeof(Complex), [&](std::size_t thread, std::size_t begin, std::size_t end) {
      Complex* const tile = scratch->of_thread[thread];
      Complex* const plane = tile + tile_;
      bool fresh[2] = {true, true};
      for (std::size_t unit = begin; unit < end; ++unit) {
        if (group.size() == 1) {
          first.run(in, to, unit, tile, fresh[0]);
          continue;
        }
        const BoxPass<T>& second = group.back();
        Complex* const other = tile + first.tile() + first.scratch();
        for (std::size_t b = 0; b < first.blocks(); ++b) {
          first.run(in, plane, unit * first.blocks() + b, tile, fresh[0]);
        }
        for (std::size_t b = 0; b < second.blocks(); ++b) {
          second.run(plane, to, unit * second.blocks() + b, other, fresh[1]);
        }
      }
      if (group.back().streams) two_step_kernels<T>().finish();
    });
    in = to;
    if (!last) next += directed.between[g];
  }
}

template <class T>
double BoxedTransform<T>::done_flops() const {
  double sum = 0;
  const Directed& directed = forward_.axes.empty() ? inverse_ : forward_;
  for (const auto& group : directed.groups) {
    for (const BoxPass<T>& pass : group) {
      sum += static_cast<double>(pass.axis.lines(problem_.batch)) *
             (pass.real != nullptr ? pass.real->flops() : pass.line->flops());
    }
  }
  return sum;
}

template <class T>
std::string BoxedTransform<T>::explain() const {
  const Directed& directed = forward_.axes.empty() ? inverse_ : forward_;
  std::string text =
      fmt::format("  boxes: {:.3f} of the points of the whole transform\n", share_of_points(directed.axes, problem_));
  for (const auto& group : directed.groups) {
    for (const BoxPass<T>& pass : group) {
      text += fmt::format("  pass over {} lines of {}{}, {} points read, {} written{}\n",
                          pass.axis.lines(problem_.batch), pass.axis.length, pass.real != nullptr ? " reals" : "",
                          pass.axis.read.count, pass.axis.written.count, group.size() == 2 ? ", plane by plane" : "");
    }
  }
  return text;
}

template struct BoxPass<float>;
template struct BoxPass<double>;
template class BoxedTransform<float>;
template class BoxedTransform<double>;

}  // namespace ridge::fft

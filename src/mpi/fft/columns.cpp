// Columns of a spectrum over processes. Each process transforms its planes along x and y; one exchange gives it whole
// lines of its columns, which it transforms along z.
#include <ridge/mpi/columns.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/mpi/redistribute.hpp>

#include "base/aligned.hpp"
#include "base/text.hpp"
#include "fft/columns/steps.hpp"
#include "plan/arguments.hpp"

namespace ridge::mpi::fft {
namespace {

using ridge::fft::Column;
using ridge::fft::ColumnGeometry;
using ridge::fft::ColumnsProblem;

// The columns of all processes, one process after another.
struct GatheredColumns {
  std::vector<Column> list;
  std::size_t first = 0;  // of this process
};

GatheredColumns gather_columns(const Communicator& all, const std::vector<Column>& mine) {
  std::vector<std::size_t> counts(all.count());
  const std::size_t own = mine.size();
  all.gather(&own, sizeof own, counts.data());
  const std::size_t most = *std::ranges::max_element(counts);
  std::vector<Column> padded = mine, everyone(most * all.count());
  padded.resize(most);
  if (most > 0) all.gather(padded.data(), most * sizeof(Column), everyone.data());
  GatheredColumns found;
  for (std::size_t rank = 0; rank < all.count(); ++rank) {
    if (rank == all.rank()) found.first = found.list.size();
    found.list.insert(found.list.end(), everyone.begin() + static_cast<std::ptrdiff_t>(rank * most),
                      everyone.begin() + static_cast<std::ptrdiff_t>(rank * most + counts[rank]));
  }
  return found;
}

}  // namespace

std::vector<Column> own_columns(const Communicator& communicator, const std::vector<Column>& list) {
  std::vector<std::size_t> order(list.size()), modes(communicator.count(), 0), owner(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return list[a].count > list[b].count; });
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(modes);
    *least += list[i].count;
    owner[i] = static_cast<std::size_t>(least - modes.begin());
  }
  std::vector<Column> mine;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (owner[i] == communicator.rank()) mine.push_back(list[i]);
  }
  return mine;
}

template <class T>
struct DistributedColumns {
  using Complex = std::complex<T>;
  Communicator all;
  ColumnsProblem problem;
  Device device;
  bool transposed;
  std::vector<Column> list{};  // of all processes
  Box planes_box{};
  std::optional<ridge::fft::ColumnPlanes<T>> planes{};  // none if this process has no planes
  std::optional<ridge::fft::ColumnLines<T>> lines{};
  std::optional<Redistribute<Complex>> to_lines{}, to_planes{};
  mutable base::AlignedArray<Complex> in_planes{}, in_lines{};  // parts of the lines, and the own lines

  DistributedColumns(const Communicator& communicator, const ColumnsProblem& given, const planner::Options& options,
                     const Device& where, bool adjoint)
      : all(communicator), problem(given), device(where), transposed(adjoint) {
    all.must_be_equal(fmt::format("columns of {} {}, {}, scales {} and {}", sizeof(T) == 8 ? "double" : "float",
                                  problem.kind == ridge::fft::Kind::real ? "real" : "complex", problem.shape,
                                  problem.scale_forward, problem.scale_inverse));
    const GatheredColumns gathered = gather_columns(all, problem.columns);
    list = gathered.list;
    ColumnsProblem whole = problem;
    whole.columns = list;
    ColumnGeometry geometry;
    all.agree([&] { geometry = ridge::fft::column_geometry(whole); });
    build(geometry, gathered.first, options);
  }

  void build(const ColumnGeometry& geometry, std::size_t first, const planner::Options& options) {
    planes_box = slabs({geometry.x, geometry.y, geometry.z}, all.count(), 2)[all.rank()];
    const Shape sent{list.size(), geometry.z};
    Box on_planes, on_lines;
    on_planes.end = {list.size(), planes_box.end[2], 1};
    on_planes.begin = {0, planes_box.begin[2], 0};
    on_lines.begin = {first, 0, 0};
    on_lines.end = {first + problem.columns.size(), geometry.z, 1};
    to_lines.emplace(all, sent, on_planes, on_lines);
    to_planes.emplace(all, sent, on_lines, on_planes);
    all.agree([&] {
      ColumnsProblem own = problem;
      if (own.threads == 0) own.threads = all.threads();
      ColumnGeometry part = geometry;
      part.z = planes_box.extent(2);
      in_planes = base::AlignedArray<Complex>(on_planes.size());
      in_lines = base::AlignedArray<Complex>(on_lines.size());
      if (part.z > 0) planes.emplace(device, part, own.threads, options);
      lines.emplace(device, geometry, problem.columns, own, options, transposed);
    });
  }

  void check(bool real, std::size_t samples, std::size_t modes) const {
    const bool wanted = problem.kind == ridge::fft::Kind::real;
    if (real != wanted) {
      const char* kind = wanted ? "real" : "complex";
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("fft: columns: the plan's samples are {}: pass an array of {} numbers", kind, kind));
    }
    planner::check_length("fft", "samples", samples, planes_box.size() * (real ? 1 : 2) * sizeof(T));
    planner::check_length("fft", "modes", modes, lines->modes() * sizeof(Complex));
  }

  // With memory of the device, through host memory.
  void run(bool forwards, Queue& queue, const Buffer& in, const Buffer& out) const {
    const bool real = problem.kind == ridge::fft::Kind::real;
    const std::size_t samples = planes_box.size() * (real ? 1 : 2), modes = 2 * lines->modes();
    const std::size_t in_numbers = forwards ? samples : modes, out_numbers = forwards ? modes : samples;
    all.agree([&] {
      planner::check_queue("fft", queue, device);
      if (in_numbers > 0) planner::check_buffer("fft", "input", in, device, in_numbers * sizeof(T));
      if (out_numbers > 0) planner::check_buffer("fft", "output", out, device, out_numbers * sizeof(T));
    });
    base::AlignedArray<T> from(in_numbers), to(out_numbers);
    if (in_numbers > 0) queue.download(in, from.data(), in_numbers * sizeof(T));
    queue.finish();
    const std::span<const Complex> complex_in(reinterpret_cast<const Complex*>(from.data()), in_numbers / 2);
    const std::span<Complex> complex_out(reinterpret_cast<Complex*>(to.data()), out_numbers / 2);
    if (forwards) {
      real ? forward(std::span<const T>(from.span()), complex_out) : forward(complex_in, complex_out);
    } else {
      real ? inverse(complex_in, to.span()) : inverse(complex_in, complex_out);
    }
    if (out_numbers > 0) queue.upload(to.data(), out, out_numbers * sizeof(T));
    queue.finish();
  }

  template <class Sample>
  void forward(std::span<const Sample> samples, std::span<Complex> modes) const {
    check(sizeof(Sample) == sizeof(T), samples.size_bytes(), modes.size_bytes());
    if (planes) planes->forward(samples.first(planes_box.size()), list, in_planes.span());
    to_lines->run(in_planes.span(), in_lines.span());
    lines->forward(in_lines.span(), modes);
  }
  template <class Sample>
  void inverse(std::span<const Complex> modes, std::span<Sample> samples) const {
    check(sizeof(Sample) == sizeof(T), samples.size_bytes(), modes.size_bytes());
    lines->inverse(modes, in_lines.span());
    to_planes->run(in_lines.span(), in_planes.span());
    if (planes) planes->inverse(std::span<const Complex>(in_planes.span()), list, samples.first(planes_box.size()));
  }
};

template <class T>
ColumnTransform<T>::ColumnTransform(const Communicator& communicator, const ColumnsProblem& problem,
                                    const planner::Options& options, const Device& device)
    : state_(std::make_shared<const DistributedColumns<T>>(communicator, problem, options, device, false)) {}

template <class T>
void ColumnTransform<T>::forward(std::span<const Complex> samples, std::span<Complex> modes) const {
  state_->forward(samples, modes);
}
template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<Complex> samples) const {
  state_->inverse(modes, samples);
}
template <class T>
void ColumnTransform<T>::forward(std::span<const T> samples, std::span<Complex> modes) const {
  state_->forward(samples, modes);
}
template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<T> samples) const {
  state_->inverse(modes, samples);
}

template <class T>
void ColumnTransform<T>::forward(Queue& queue, const Buffer& samples, const Buffer& modes) const {
  state_->run(true, queue, samples, modes);
}
template <class T>
void ColumnTransform<T>::inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const {
  state_->run(false, queue, modes, samples);
}

template <class T>
ColumnTransform<T> ColumnTransform<T>::adjoint(const planner::Options& options) const {
  ColumnsProblem exchanged = state_->problem;
  std::swap(exchanged.scale_forward, exchanged.scale_inverse);
  return ColumnTransform(std::make_shared<const DistributedColumns<T>>(state_->all, exchanged, options, state_->device,
                                                                       !state_->transposed));
}

template <class T>
Box ColumnTransform<T>::samples() const {
  return state_->planes_box;
}
template <class T>
std::size_t ColumnTransform<T>::size() const {
  return state_->lines->modes();
}
template <class T>
std::size_t ColumnTransform<T>::bytes_sent() const {
  return state_->to_lines->bytes_sent();
}
template <class T>
const ColumnsProblem& ColumnTransform<T>::problem() const {
  return state_->problem;
}
template <class T>
const Communicator& ColumnTransform<T>::communicator() const {
  return state_->all;
}

template <class T>
std::string ColumnTransform<T>::explain() const {
  const DistributedColumns<T>& state = *state_;
  return fmt::format(
             "columns over {} processes on {}: rank {} has {} of {} columns, {} modes, planes {} to {}, sends {}\n",
             state.all.count(), state.device.id(), state.all.rank(), state.problem.columns.size(), state.list.size(),
             size(), state.planes_box.begin[2], state.planes_box.end[2],
             base::human_bytes(static_cast<double>(bytes_sent()))) +
         (state.planes ? state.planes->explain() : std::string()) + state.lines->explain();
}

template class ColumnTransform<float>;
template class ColumnTransform<double>;

}  // namespace ridge::mpi::fft

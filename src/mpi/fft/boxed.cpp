// Transforms boxes in slabs, with one exchange of the points that are not zero.
#include "mpi/fft/boxed.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::mpi::fft {
namespace {

// Appends one axis of a box to another box; without numbers it is the whole axis.
void add_axis(ridge::fft::Box& box, const ridge::fft::Box& from, std::size_t axis, std::size_t extent) {
  box.first.push_back(from.first.empty() ? 0 : from.first[axis]);
  box.count.push_back(from.count.empty() ? extent : from.count[axis]);
}

std::size_t spectrum_extent(const Problem& problem, std::size_t axis) {
  const bool half = problem.kind == ridge::fft::Kind::real && axis + 1 == problem.shape.size();
  return half ? problem.shape[axis] / 2 + 1 : problem.shape[axis];
}

// Transforms along all axes but the first.
ridge::fft::Problem planes_problem(const Problem& problem, std::size_t count, std::size_t threads) {
  ridge::fft::Problem planes{.batch = count, .kind = problem.kind, .threads = threads};
  for (std::size_t axis = 1; axis < problem.shape.size(); ++axis) {
    planes.shape.push_back(problem.shape[axis]);
    add_axis(planes.given, problem.given, axis, problem.shape[axis]);
    add_axis(planes.wanted, problem.wanted, axis, spectrum_extent(problem, axis));
  }
  return planes;
}

// Transforms along the first axis, of `count` neighbouring columns.
ridge::fft::Problem columns_problem(const Problem& problem, std::size_t count, std::size_t threads) {
  ridge::fft::Problem columns{.shape = {problem.shape[0]},
                              .batch = count,
                              .input = {.axes = {count}, .batch = 1},
                              .output = {.axes = {count}, .batch = 1},
                              .scale_forward = problem.scale_forward,
                              .scale_inverse = problem.scale_inverse,
                              .threads = threads};
  add_axis(columns.given, problem.given, 0, problem.shape[0]);
  add_axis(columns.wanted, problem.wanted, 0, problem.shape[0]);
  return columns;
}

// Refuses boxes that do not fit the shape.
void check_boxes(const Problem& problem) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "fft: " + why); };
  const std::size_t axes = problem.shape.size();
  if (axes < 2) refuse(fmt::format("boxes of a distributed transform need two or three axes, got {}", axes));
  if (problem.input || problem.output) {
    refuse("the boxes given and wanted need the plan's own layout: leave input and output unset");
  }
  for (const bool given : {true, false}) {
    const ridge::fft::Box& box = given ? problem.given : problem.wanted;
    if ((!box.first.empty() && box.first.size() != axes) || (!box.count.empty() && box.count.size() != axes)) {
      refuse(fmt::format("the box {} needs {} firsts and counts, one per axis, got {} and {}",
                         given ? "given" : "wanted", axes, box.first.size(), box.count.size()));
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t extent = given ? problem.shape[axis] : spectrum_extent(problem, axis);
      const std::size_t first = box.first.empty() ? 0 : box.first[axis];
      const std::size_t count = box.count.empty() ? extent : box.count[axis];
      if (first < extent && count >= 1 && count <= extent) continue;
      refuse(fmt::format("the box {} needs 1 to {} points from 0 to {} on axis {}, got {} from {}",
                         given ? "given" : "wanted", extent, extent - 1, axis, count, first));
    }
  }
}

}  // namespace

template <class T>
Boxed<T>::Boxed(const Communicator& all, const Problem& problem, std::size_t threads, const Device& device,
                const planner::Options& options)
    : real_(problem.kind == ridge::fft::Kind::real) {
  all.agree([&] { check_boxes(problem); });
  ridge::fft::Box given, wanted;
  for (std::size_t axis = 0; axis < problem.shape.size(); ++axis) {
    add_axis(given, problem.given, axis, problem.shape[axis]);
    add_axis(wanted, problem.wanted, axis, spectrum_extent(problem, axis));
  }
  Shape middle = wanted.count;  // after the planes, before the columns
  middle[0] = given.count[0];
  const Box in_planes = slabs(middle, all.count(), 0)[all.rank()],
            in_columns = slabs(middle, all.count(), 1)[all.rank()];
  samples_ = slabs(given.count, all.count(), 0)[all.rank()];
  spectrum_ = slabs(wanted.count, all.count(), 1)[all.rank()];
  to_columns_.emplace(all, middle, in_planes, in_columns);
  to_planes_.emplace(all, middle, in_columns, in_planes);
  all.agree([&] {
    in_planes_ = base::AlignedArray<Complex>(in_planes.size());
    in_columns_ = base::AlignedArray<Complex>(in_columns.size());
    const std::size_t planes = in_planes.extent(0), columns = in_columns.extent(1) * in_columns.extent(2);
    if (planes > 0) planes_.emplace(device, planes_problem(problem, planes, threads), options);
    if (columns > 0) columns_.emplace(device, columns_problem(problem, columns, threads), options);
  });
}

template <class T>
void Boxed<T>::run(bool inverse, const void* in, void* out) const {
  const std::span<Complex> planes(in_planes_.data(), in_planes_.size());
  const std::span<Complex> columns(in_columns_.data(), in_columns_.size());
  const std::span<const Complex> planes_in = planes, columns_in = columns;
  const std::size_t samples = samples_.size(), spectrum = spectrum_.size();
  if (!inverse) {
    if (planes_ && real_) planes_->forward(std::span(static_cast<const T*>(in), samples), planes);
    if (planes_ && !real_) planes_->forward(std::span(static_cast<const Complex*>(in), samples), planes);
    to_columns_->run(planes_in, columns);
    if (columns_) columns_->forward(columns_in, std::span(static_cast<Complex*>(out), spectrum));
    return;
  }
  if (columns_) columns_->inverse(std::span(static_cast<const Complex*>(in), spectrum), columns);
  to_planes_->run(columns_in, planes);
  if (planes_ && real_) planes_->inverse(planes_in, std::span(static_cast<T*>(out), samples));
  if (planes_ && !real_) planes_->inverse(planes_in, std::span(static_cast<Complex*>(out), samples));
}

template <class T>
std::string Boxed<T>::explain() const {
  return (planes_ ? planes_->explain() : std::string()) + (columns_ ? columns_->explain() : std::string());
}

template class Boxed<float>;
template class Boxed<double>;

}  // namespace ridge::mpi::fft

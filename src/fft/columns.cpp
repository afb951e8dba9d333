// Transforms between a grid and a set of columns of its spectrum.
#include <ridge/fft/columns.hpp>

#include <optional>

#include <fmt/format.h>

#include "fft/columns/steps.hpp"
#include "fft/device/boxes/columns.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {

template <class T>
struct HostColumns {
  ColumnGeometry at;
  std::vector<Column> columns;
  ColumnPlanes<T> planes;
  ColumnLines<T> lines;

  HostColumns(const ColumnsProblem& given, const planner::Options& options, bool transposed)
      : at(column_geometry(given)),
        columns(given.columns),
        planes(host(), at, given.threads, options),
        lines(host(), at, columns, given, options, transposed) {}

  template <class Sample>
  void forward(std::span<const Sample> in, std::span<std::complex<T>> out) const {
    std::vector<std::complex<T>> between(lines.points());
    planes.forward(in.first(at.samples()), columns, std::span(between));
    lines.forward(between, out);
  }
  template <class Sample>
  void inverse(std::span<const std::complex<T>> in, std::span<Sample> out) const {
    std::vector<std::complex<T>> between(lines.points());
    lines.inverse(in, between);
    planes.inverse(std::span<const std::complex<T>>(between), columns, out.first(at.samples()));
  }
  std::string explain() const { return planes.explain() + lines.explain(); }
};

template <class T>
struct ColumnState {
  Device device;
  ColumnsProblem problem;
  std::optional<HostColumns<T>> on_host{};
  std::optional<on_device::DeviceColumns> on_device{};  // one of the two
  ColumnGeometry geometry{};

  bool transposed = false;  // the adjoint of a transform of a real grid

  ColumnState(const Device& where, const ColumnsProblem& given, const planner::Options& options, bool adjoint)
      : device(where), problem(given), transposed(adjoint) {
    if (device.is_host()) {
      on_host.emplace(given, options, transposed);
      geometry = on_host->at;
    } else {
      on_device.emplace(device, given, options, sizeof(T) == sizeof(double), transposed);
      geometry = on_device->geometry();
    }
  }

  std::size_t sample_bytes() const { return geometry.samples() * (geometry.real() ? 1 : 2) * sizeof(T); }
  std::size_t mode_bytes() const { return geometry.modes * 2 * sizeof(T); }
  void check(bool real, std::size_t samples, std::size_t modes) const {
    if (real != geometry.real()) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("fft: columns: the plan's samples are {}: pass an array of {} numbers",
                              geometry.real() ? "real" : "complex", geometry.real() ? "real" : "complex"));
    }
    planner::check_length("fft", "samples", samples, sample_bytes());
    planner::check_length("fft", "modes", modes, mode_bytes());
  }
  std::array<std::size_t, 3> lines_done() const {
    return {geometry.plane(), geometry.x_range.count * geometry.z, geometry.columns};
  }
  void enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out) const {
    if (!on_device) {
      throw Error(ErrorKind::invalid_argument,
                  "fft: enqueue needs a transform of columns on a device, and this one is on the host: use forward() "
                  "and inverse()");
    }
    const bool forward = direction == Direction::forward;
    const std::size_t samples = sample_bytes(), modes = mode_bytes();
    planner::check_queue("fft", queue, device);
    planner::check_buffer("fft", "input", in, device, forward ? samples : modes);
    planner::check_buffer("fft", "output", out, device, forward ? modes : samples);
    planner::check_apart("fft", in, out, false);
    on_device->enqueue(queue, direction, in, out);
  }
};

template <class T>
ColumnTransform<T>::ColumnTransform(const Device& device, const ColumnsProblem& problem,
                                    const planner::Options& options)
    : state_(std::make_shared<const ColumnState<T>>(device, problem, options, false)) {}

template <class T>
void ColumnTransform<T>::forward(std::span<const Complex> samples, std::span<Complex> modes) const {
  state_->check(false, samples.size_bytes(), modes.size_bytes());
  if (state_->on_host) return state_->on_host->forward(samples, modes);
  state_->on_device->run(Direction::forward, samples.data(), modes.data());
}
template <class T>
void ColumnTransform<T>::forward(std::span<const T> samples, std::span<Complex> modes) const {
  state_->check(true, samples.size_bytes(), modes.size_bytes());
  if (state_->on_host) return state_->on_host->forward(samples, modes);
  state_->on_device->run(Direction::forward, samples.data(), modes.data());
}

template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<Complex> samples) const {
  state_->check(false, samples.size_bytes(), modes.size_bytes());
  if (state_->on_host) return state_->on_host->inverse(modes, samples);
  state_->on_device->run(Direction::inverse, modes.data(), samples.data());
}
template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<T> samples) const {
  state_->check(true, samples.size_bytes(), modes.size_bytes());
  if (state_->on_host) return state_->on_host->inverse(modes, samples);
  state_->on_device->run(Direction::inverse, modes.data(), samples.data());
}

template <class T>
void ColumnTransform<T>::enqueue_forward(Queue& queue, const Buffer& samples, const Buffer& modes) const {
  state_->enqueue(queue, Direction::forward, samples, modes);
}
template <class T>
void ColumnTransform<T>::enqueue_inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const {
  state_->enqueue(queue, Direction::inverse, modes, samples);
}

template <class T>
ColumnTransform<T> ColumnTransform<T>::adjoint(const planner::Options& options) const {
  ColumnsProblem exchanged = state_->problem;
  std::swap(exchanged.scale_forward, exchanged.scale_inverse);
  return ColumnTransform(
      std::make_shared<const ColumnState<T>>(state_->device, exchanged, options, !state_->transposed));
}

template <class T>
std::size_t ColumnTransform<T>::size() const {
  return state_->geometry.modes;
}
template <class T>
const Device& ColumnTransform<T>::device() const {
  return state_->device;
}
template <class T>
const ColumnsProblem& ColumnTransform<T>::problem() const {
  return state_->problem;
}

// Fraction of the points of three whole passes that the transformed lines have. Two real lines count as a complex one.
template <class T>
double ColumnTransform<T>::share() const {
  const auto done = state_->lines_done();
  const double real_lines = state_->geometry.real() ? 0.5 : 1;
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sum += (axis == 0 ? real_lines : 1) * static_cast<double>(done[axis] * state_->problem.shape[axis]);
  }
  return sum / (3 * real_lines * static_cast<double>(state_->geometry.samples()));
}

template <class T>
std::string ColumnTransform<T>::explain() const {
  const auto done = state_->lines_done();
  return fmt::format(
             "columns: {} modes on {}; lines along x, y, z: {}, {}, {}; {:.3f} of the points of the whole transform\n",
             size(), state_->device.id(), done[0], done[1], done[2], share()) +
         (state_->on_host ? state_->on_host->explain() : state_->on_device->explain());
}

template <class T>
std::vector<KernelSource> ColumnTransform<T>::kernels() const {
  return state_->on_device ? state_->on_device->kernels() : std::vector<KernelSource>{};
}

template class ColumnTransform<float>;
template class ColumnTransform<double>;

}  // namespace ridge::fft

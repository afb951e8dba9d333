// Transforms planes and lines, and copies the lines of columns between the two.
#include "fft/columns/steps.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ridge::fft {
namespace {

// Lines along an axis with `neighbours` lines side by side; only the modes of the range are read or written.
Problem axis_lines(Kind kind, std::size_t length, std::size_t neighbours, const AxisRange& range, std::size_t threads) {
  Problem lines{.shape = {length},
                .batch = neighbours,
                .kind = kind,
                .input = {.axes = {neighbours}, .batch = 1},
                .output = {.axes = {neighbours}, .batch = 1},
                .threads = threads};
  const std::size_t values = kind == Kind::real ? length / 2 + 1 : length;
  if (range.count < values) lines.wanted = {.first = {range.first}, .count = {range.count}};
  return lines;
}

template <class T>
std::complex<T> with_factor(std::complex<T> value, T factor) {
  return {value.real() * std::abs(factor), value.imag() * factor};
}

}  // namespace

template <class T>
ColumnPlanes<T>::ColumnPlanes(const Device& device, const ColumnGeometry& geometry, std::size_t threads,
                              const planner::Options& options)
    : at_(geometry),
      along_x_(device, axis_lines(at_.kind, at_.x, at_.plane(), at_.x_range, threads), options),
      along_y_(device, axis_lines(Kind::complex, at_.y, at_.z, at_.y_range, threads), options) {}

template <class T>
template <class Sample>
void ColumnPlanes<T>::forward(std::span<const Sample> samples, const std::vector<Column>& columns,
                              std::span<Complex> lines) const {
  const std::size_t plane = at_.plane(), box = at_.box_plane();
  std::vector<Complex> planes(at_.planes()), found(at_.lines());
  along_x_.forward(samples, std::span(planes));
  for (std::size_t x = 0; x < at_.x_range.count; ++x) {
    along_y_.forward(std::span<const Complex>(planes).subspan(x * plane, plane),
                     std::span(found).subspan(x * box, box));
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    std::copy_n(found.data() + at_.line_of(columns[c]), at_.z, lines.data() + c * at_.z);
}

template <class T>
template <class Sample>
void ColumnPlanes<T>::inverse(std::span<const Complex> lines, const std::vector<Column>& columns,
                              std::span<Sample> samples) const {
  const std::size_t plane = at_.plane(), box = at_.box_plane();
  std::vector<Complex> planes(at_.planes()), placed(at_.lines());
  for (std::size_t c = 0; c < columns.size(); ++c)
    std::copy_n(lines.data() + c * at_.z, at_.z, placed.data() + at_.line_of(columns[c]));
  for (std::size_t x = 0; x < at_.x_range.count; ++x) {
    along_y_.inverse(std::span<const Complex>(placed).subspan(x * box, box),
                     std::span(planes).subspan(x * plane, plane));
  }
  for (const std::size_t x : at_.symmetric_planes()) {
    for (Complex& value : std::span(planes).subspan(x * plane, plane)) value.imag(0);
  }
  along_x_.inverse(std::span<const Complex>(planes), samples);
}

template <class T>
ColumnLines<T>::ColumnLines(const Device& device, const ColumnGeometry& geometry, const std::vector<Column>& columns,
                            const ColumnsProblem& problem, const planner::Options& options, bool transposed)
    : at_(geometry), columns_(columns) {
  const auto factors = [&](Direction direction) {
    const std::vector<double> all = at_.factors(columns_, direction, transposed);
    return std::vector<T>(all.begin(), all.end());
  };
  forward_factors_ = factors(Direction::forward);
  inverse_factors_ = factors(Direction::inverse);
  for (const Column& column : columns_) modes_ += column.count;
  if (columns_.empty()) return;
  along_z_.emplace(device,
                   Problem{.shape = {at_.z},
                           .batch = columns_.size(),
                           .scale_forward = problem.scale_forward,
                           .scale_inverse = problem.scale_inverse,
                           .threads = problem.threads},
                   options);
}

// Calls use(number of the first mode, its position on the lines, count) for the one or two parts of a column.
template <class T>
template <class Use>
void ColumnLines<T>::for_parts(const Use& use) const {
  std::size_t mode = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    const std::size_t head = std::min(column.count, at_.z - column.first);
    use(mode, c * at_.z + column.first, head);
    use(mode + head, c * at_.z, column.count - head);
    mode += column.count;
  }
}

template <class T>
void ColumnLines<T>::forward(std::span<const Complex> lines, std::span<Complex> modes) const {
  if (!along_z_) return;
  std::vector<Complex> spectra(points());
  along_z_->forward(lines.first(points()), std::span(spectra));
  if (!at_.real()) {
    for_parts([&](std::size_t mode, std::size_t from, std::size_t count) {
      std::copy_n(spectra.data() + from, count, modes.data() + mode);
    });
    return;
  }
  std::size_t mode = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (std::size_t i = 0; i < columns_[c].count; ++i, ++mode)
      modes[mode] = with_factor(spectra[c * at_.z + at_.line_z(columns_[c], i)], forward_factors_[mode]);
  }
}

template <class T>
void ColumnLines<T>::inverse(std::span<const Complex> modes, std::span<Complex> lines) const {
  if (!along_z_) return;
  std::vector<Complex> spectra(points());
  if (at_.real()) {
    std::size_t mode = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      for (std::size_t i = 0; i < columns_[c].count; ++i, ++mode)
        spectra[c * at_.z + at_.line_z(columns_[c], i)] = with_factor(modes[mode], inverse_factors_[mode]);
    }
  } else {
    for_parts([&](std::size_t mode, std::size_t to, std::size_t count) {
      std::copy_n(modes.data() + mode, count, spectra.data() + to);
    });
  }
  along_z_->inverse(std::span<const Complex>(spectra), lines.first(points()));
}

template class ColumnPlanes<float>;
template class ColumnPlanes<double>;
template class ColumnLines<float>;
template class ColumnLines<double>;
#define RIDGE_COLUMN_SAMPLES(T, Sample)                                                                \
  template void ColumnPlanes<T>::forward(std::span<const Sample>, const std::vector<Column>&,          \
                                         std::span<std::complex<T>>) const;                            \
  template void ColumnPlanes<T>::inverse(std::span<const std::complex<T>>, const std::vector<Column>&, \
                                         std::span<Sample>) const;
RIDGE_COLUMN_SAMPLES(float, float)
RIDGE_COLUMN_SAMPLES(float, std::complex<float>)
RIDGE_COLUMN_SAMPLES(double, double)
RIDGE_COLUMN_SAMPLES(double, std::complex<double>)
#undef RIDGE_COLUMN_SAMPLES

}  // namespace ridge::fft

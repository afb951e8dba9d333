// Transform of the fine grid along one axis after another, on the lines that carry modes.
#include "nufft/host/pruned_transform.hpp"

#include <algorithm>

#include "nufft/host/tiling.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kLinesPerUnit = 32;

template <class T>
std::shared_ptr<const fft::Plan<T>> line_plan(std::size_t length, std::size_t count, const fft::Strides& strides,
                                              const planner::Options& options) {
  if (count == 0 || length == 1) return nullptr;
  return std::make_shared<const fft::Plan<T>>(
      host(),
      fft::Problem{
          .shape = {length}, .batch = count, .input = strides, .output = strides, .in_place = true, .threads = 1},
      options);
}

}  // namespace

template <class T>
Lines<T>::Lines(std::size_t length, std::size_t count, std::size_t stride, std::size_t distance,
                const planner::Options& options)
    : count_(length == 1 ? 0 : count), each_(std::clamp<std::size_t>(count, 1, kLinesPerUnit)), distance_(distance) {
  const fft::Strides strides{.axes = {stride}, .batch = distance};
  whole_ = line_plan<T>(length, count >= each_ ? each_ : 0, strides, options);
  rest_ = line_plan<T>(length, count % each_, strides, options);
}

template <class T>
void Lines<T>::run(std::size_t unit, int sign, std::complex<T>* first_line) const {
  std::complex<T>* data = first_line + unit * each_ * distance_;
  const fft::Plan<T>& plan = (unit + 1) * each_ <= count_ ? *whole_ : *rest_;
  if (sign > 0) {
    plan.inverse_unchecked(data, data);
  } else {
    plan.forward_unchecked(data, data);
  }
}

template <class T>
std::vector<planner::Decision> Lines<T>::decisions() const {
  return whole_ ? whole_->decisions() : std::vector<planner::Decision>{};
}

template <class T>
void PrunedTransform<T>::Columns::run(std::size_t unit, int sign, std::complex<T>* at) const {
  if (unit < low.units()) {
    low.run(unit, sign, at);
  } else {
    high.run(unit - low.units(), sign, at + high_offset);
  }
}

template <class T>
PrunedTransform<T>::PrunedTransform(const std::array<std::size_t, 3>& cells, const std::array<std::size_t, 3>& modes,
                                    std::size_t threads, const planner::Options& options)
    : cells_(cells),
      modes_(modes),
      threads_(threads),
      rows_(cells[2], cells[1], 1, cells[2], options),
      second_{Lines<T>(cells[1], modes[2] - modes[2] / 2, cells[2], 1, options),
              Lines<T>(cells[1], modes[2] / 2, cells[2], 1, options), cells[2] - modes[2] / 2},
      first_{Lines<T>(cells[0], modes[2] - modes[2] / 2, cells[1] * cells[2], 1, options),
             Lines<T>(cells[0], modes[2] / 2, cells[1] * cells[2], 1, options), cells[2] - modes[2] / 2} {}

template <class T>
void PrunedTransform<T>::first_axis(int sign, std::complex<T>* grid) const {
  const std::size_t units = first_.units(), low = modes_[1] - modes_[1] / 2;
  for_units(threads_, units * modes_[1], [&](std::size_t unit, std::size_t) {
    const std::size_t mode = unit / units, row = mode < low ? mode : cells_[1] - modes_[1] + mode;
    first_.run(unit % units, sign, grid + row * cells_[2]);
  });
}

template <class T>
void PrunedTransform<T>::to_modes(int sign, std::complex<T>* grid) const {
  const std::size_t plane = cells_[1] * cells_[2];
  if (cells_[0] == 1) {
    for_units(threads_, rows_.units(), [&](std::size_t unit, std::size_t) { rows_.run(unit, sign, grid); });
    for_units(threads_, second_.units(), [&](std::size_t unit, std::size_t) { second_.run(unit, sign, grid); });
    return;
  }
  // The columns of a plane are transformed right after its rows, while the plane is in a cache.
  for_units(threads_, cells_[0], [&](std::size_t p, std::size_t) {
    for (std::size_t unit = 0; unit < rows_.units(); ++unit) rows_.run(unit, sign, grid + p * plane);
    for (std::size_t unit = 0; unit < second_.units(); ++unit) second_.run(unit, sign, grid + p * plane);
  });
  first_axis(sign, grid);
}

template <class T>
void PrunedTransform<T>::from_modes(int sign, std::complex<T>* grid) const {
  const std::size_t plane = cells_[1] * cells_[2];
  if (cells_[0] == 1) {
    for_units(threads_, second_.units(), [&](std::size_t unit, std::size_t) { second_.run(unit, sign, grid); });
    for_units(threads_, rows_.units(), [&](std::size_t unit, std::size_t) { rows_.run(unit, sign, grid); });
    return;
  }
  first_axis(sign, grid);
  for_units(threads_, cells_[0], [&](std::size_t p, std::size_t) {
    for (std::size_t unit = 0; unit < second_.units(); ++unit) second_.run(unit, sign, grid + p * plane);
    for (std::size_t unit = 0; unit < rows_.units(); ++unit) rows_.run(unit, sign, grid + p * plane);
  });
}

template <class T>
std::vector<planner::Decision> PrunedTransform<T>::decisions() const {
  std::vector<planner::Decision> all;
  for (const Lines<T>* lines : {&first_.low, &second_.low, &rows_}) {
    for (planner::Decision& decision : lines->decisions()) all.push_back(std::move(decision));
  }
  return all;
}

template class Lines<float>;
template class Lines<double>;
template class PrunedTransform<float>;
template class PrunedTransform<double>;

}  // namespace ridge::nufft

// Sides of the small grid, and the transfers between it and the large one.
#include "stencil/repeated_grid.hpp"

#include "stencil/device/pass.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kSmaller = 4;  // the small grid has at most a quarter of the values

// Odd numbers that no tile or work-group has as its side, so that a misplaced cell differs. By dimensions and axis.
constexpr std::size_t kPeriods[3][3] = {{1, 1, 4093}, {1, 61, 127}, {13, 31, 127}};

}  // namespace

template <class T>
RepeatedGrid<T>::RepeatedGrid(const Device& device, const Layout& layout, std::size_t steps)
    : device_(device), dimensions_(layout.dimensions), fields_(layout.fields) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes_[axis] = repeated_axis(layout.shape[axis], steps * static_cast<std::size_t>(layout.radius[axis]),
                                kPeriods[dimensions_ - 1][axis]);
  }
}

template <class T>
bool RepeatedGrid<T>::pays(std::size_t least) const {
  const Repetition all = of(fields_);
  return !device_.is_host() && all.whole() >= least && all.small() <= all.whole() / kSmaller;
}

template <class T>
std::vector<std::size_t> RepeatedGrid<T>::small_shape() const {
  std::vector<std::size_t> shape;
  for (std::size_t axis = 3 - dimensions_; axis < 3; ++axis) shape.push_back(axes_[axis].small);
  return shape;
}

template <class T>
Buffer RepeatedGrid<T>::uploaded(const Grid<T>& small) const {
  Queue queue = device_.queue();
  const Buffer cells = device_.buffer(small.all().size_bytes(), {.name = "stencil, cells that repeat"});
  queue.upload(small.all().data(), cells, small.all().size_bytes());
  queue.finish();
  return cells;
}

template <class T>
PackedCells RepeatedGrid<T>::expand(const Grid<T>& small) const {
  return [cells = uploaded(small), arrays = RepeatedArrays(device_, of(small.fields()), type_name<T>())](
             Queue& queue, const Buffer& packed) { arrays.expand(queue, cells, packed); };
}

template <class T>
RepeatedArrays::Difference RepeatedGrid<T>::compare(Queue& queue, const Buffer& packed, const Grid<T>& small) const {
  return RepeatedArrays(device_, of(small.fields()), type_name<T>()).compare(queue, packed, uploaded(small));
}

template class RepeatedGrid<float>;
template class RepeatedGrid<double>;
template class RepeatedGrid<std::int32_t>;
template class RepeatedGrid<std::uint8_t>;

}  // namespace ridge::stencil

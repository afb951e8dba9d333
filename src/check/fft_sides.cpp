#include "check/fft_sides.hpp"

#include "check/fft_case.hpp"

namespace ridge::check {
namespace {

// `row` is the length of a packed row in elements, which may exceed the last axis.
FftSide side_of(const fft::Strides& given, const std::vector<std::size_t>& shape, std::size_t row, std::size_t batch) {
  FftSide side{.shape = shape, .strides = std::vector<std::size_t>(shape.size())};
  std::size_t packed = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t stride = given.axes.empty() ? 0 : given.axes[axis];
    side.strides[axis] = stride == 0 ? packed : stride;
    packed *= axis + 1 == shape.size() ? row : shape[axis];
  }
  side.batch = given.batch == 0 ? packed : given.batch;
  side.extent = 1 + (batch - 1) * side.batch;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) side.extent += (shape[axis] - 1) * side.strides[axis];
  if (given.axes.empty() && given.batch == 0) return side;
  std::vector<bool> used(side.extent);
  const std::size_t points = points_of(shape);
  for (std::size_t i = 0; i < batch * points && !side.aliases; ++i) {
    const std::size_t at = side.at(i / points, i % points);
    side.aliases = used[at];
    used[at] = true;
  }
  return side;
}

}  // namespace

std::size_t FftSide::at(std::size_t line, std::size_t index) const {
  std::size_t element = line * batch;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    element += index % shape[axis] * strides[axis];
    index /= shape[axis];
  }
  return element;
}

FftSides sides_of(const fft::Problem& problem) {
  const std::vector<std::size_t> samples = given_shape(problem), spectrum = wanted_shape(problem);
  const bool padded = problem.kind == fft::Kind::real && problem.in_place;
  return {.samples = side_of(problem.input, samples, padded ? 2 * spectrum.back() : samples.back(), problem.batch),
          .spectrum = side_of(problem.output, spectrum, spectrum.back(), problem.batch)};
}

}  // namespace ridge::check

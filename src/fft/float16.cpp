// Widens arrays of 16-bit floats, transforms them in float, and rounds the result.
#include "fft/float16.hpp"

#include "base/aligned.hpp"
#include "fft/host/transform.hpp"

namespace ridge::fft {
namespace {

std::size_t numbers_of(const Problem& problem, const Layout& layout, bool samples) {
  const Side& side = samples ? layout.samples : layout.spectrum;
  return side.extent * (samples && problem.kind == Kind::real ? 1 : 2);
}

void widen(Storage storage, const std::uint16_t* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from_stored(storage, from[i]);
}

}  // namespace

void run_float16(const Transform<float>& transform, Direction direction, const std::uint16_t* in, std::uint16_t* out) {
  const Problem& problem = transform.problem();
  const bool forward = direction == Direction::forward;
  const std::size_t from = numbers_of(problem, transform.layout(), forward),
                    to = numbers_of(problem, transform.layout(), !forward);
  base::AlignedArray<float> wide(problem.in_place ? std::max(from, to) : from);
  widen(problem.storage, in, wide.data(), from);
  if (problem.in_place) {
    // Values in the gaps between points keep their bits through the conversion to float and back.
    if (to > from) widen(problem.storage, in + from, wide.data() + from, to - from);
    transform.run(direction, wide.data(), wide.data());
    for (std::size_t i = 0; i < to; ++i) out[i] = to_stored(problem.storage, wide[i]);
    return;
  }
  base::AlignedArray<float> result(to);
  const Side& side = forward ? transform.layout().spectrum : transform.layout().samples;
  if (side.points() * problem.batch != side.extent) widen(problem.storage, out, result.data(), to);
  transform.run(direction, wide.data(), result.data());
  for (std::size_t i = 0; i < to; ++i) out[i] = to_stored(problem.storage, result[i]);
}

}  // namespace ridge::fft

// How the threads share a stage's units, and two stages the planes of an array.
#pragma once
#include <cstddef>

#include "base/threads.hpp"

namespace ridge::fft {

// One pointer is all a task may hold: a larger one would be allocated.
template <class Units>
void run_all(std::size_t threads, std::size_t count, const Units& units) {
  struct Call {
    std::size_t count;
    const Units& units;
  } const call{count, units};
  base::parallel(threads, [&call](std::size_t thread, std::size_t number) {
    const base::Share share = base::share(call.count, thread, number);
    call.units(thread, share.begin, share.end);
  });
}

// Both of each plane: `first` has so many units in one, `second` so many.
template <class First, class Second>
void run_by_planes(std::size_t threads, std::size_t planes, std::size_t in_first, const First& first,
                   std::size_t in_second, const Second& second) {
  run_all(threads, planes, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      first(thread, plane * in_first, (plane + 1) * in_first);
      second(thread, plane * in_second, (plane + 1) * in_second);
    }
  });
}

template <class AnyStage>
std::size_t units_a_plane(const AnyStage& stage) {
  return stage.units() / stage.planes();
}

}  // namespace ridge::fft

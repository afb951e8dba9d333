// Large arrays whose elements repeat along every axis. A local operation on such an array repeats too, except near the
// array's ends. A small array with the same pattern and the same ends therefore contains every value of the result: a
// reference of the small array checks all elements of the large one, on the device.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <ridge/device.hpp>

namespace ridge {

struct RepeatedAxis {
  std::size_t whole = 1, small = 1;  // sides of the large and of the small array
  std::size_t head = 1, period = 1;  // elements at each end that do not repeat; elements after which the others do
  bool repeats() const { return small < whole; }
  // Index in the small array of an element of the large one.
  std::size_t source(std::size_t i) const;
};

// An axis on which results farther than `reach` from the ends repeat. Short ones are equal in both arrays.
RepeatedAxis repeated_axis(std::size_t whole, std::size_t reach, std::size_t period);

// `fields` packed arrays, one after another; the last axis is contiguous.
struct Repetition {
  std::array<RepeatedAxis, 3> axes{};
  std::size_t fields = 1;
  std::size_t rows() const;   // of all fields of the large array; below 2^32
  std::size_t whole() const;  // elements of all fields
  std::size_t small() const;
  // Copies the first period along each axis to the others, in a small array.
  template <class T>
  void repeat(std::span<T> array) const;
};

class RepeatedArrays {
 public:
  // `element`: the type in the dialect, as in "float", "uchar". `pitch`: elements from one row of the large array to
  // the next, 0 if they are packed.
  RepeatedArrays(const Device& device, const Repetition& repetition, const std::string& element, std::size_t pitch = 0);
  void expand(Queue& queue, const Buffer& small, const Buffer& whole) const;  // enqueued
  struct Difference {
    double worst = 0;         // absolute; NaN if only one of two values is finite
    std::uint64_t place = 0;  // element of the large array, counted without gaps
  };
  Difference compare(Queue& queue, const Buffer& whole, const Buffer& small) const;  // waits

 private:
  Launch launch() const;

  Device device_;
  Repetition repetition_;
  bool wide_;  // differences in double
  Kernel expand_, compare_;
};

template <class T>
void Repetition::repeat(std::span<T> array) const {
  const auto first = [](const RepeatedAxis& axis, std::size_t i) { return axis.repeats() ? i % axis.period : i; };
  std::size_t at = 0;
  for (std::size_t field = 0; field < fields; ++field) {
    for (std::size_t z = 0; z < axes[0].small; ++z) {
      for (std::size_t y = 0; y < axes[1].small; ++y) {
        const std::size_t row = (field * axes[0].small + first(axes[0], z)) * axes[1].small + first(axes[1], y);
        for (std::size_t x = 0; x < axes[2].small; ++x, ++at)
          array[at] = array[row * axes[2].small + first(axes[2], x)];
      }
    }
  }
}

}  // namespace ridge

// Functions of one instruction set for the mixed-radix kernels: plain functions over plain pointers, because the files
// that fill these tables are compiled for instruction sets the machine may not have. The caller's data is re, im, re,
// im ...; between passes real and imaginary parts are in two planes, `plane` apart. Counts and strides are in points.
#pragma once
#include <array>
#include <cstddef>
#include <span>

namespace ridge::fft::mixed {

using std::size_t;

// Passes of one radix R. `inner` adjacent butterflies share their twiddles and are processed as vectors; `stream` is
// the distance between the R inputs or outputs of a butterfly.
template <class T>
struct Codelet {
  // From the caller's memory to the planes, without twiddles.
  using First = void (*)(const T* in, size_t in_stream, size_t inner, T* y, size_t plane, size_t out_stream);
  // `groups` of inner butterflies, with R - 1 twiddles per group.
  using Middle = void (*)(const T* x, T* y, size_t plane, size_t groups, size_t inner, const T* twiddles);
  // Inputs of a butterfly are adjacent: transposed in registers. One twiddle per lane.
  using Last = void (*)(const T* x, size_t plane, size_t groups, const T* twiddles, T* out);
  // As Middle, to the caller's memory: results of group g at out + g * group_step.
  using Out = void (*)(const T* x, size_t plane, size_t groups, size_t inner, const T* twiddles, T* out,
                       size_t group_step, size_t out_stream);
  // Whole transforms of R points, `inner` of them adjacent; in place or not.
  using Whole = void (*)(const T* in, size_t in_stream, size_t inner, T* out, size_t out_stream);

  // One vector of transforms of R points, one transform per lane.
  using Batch = void (*)(const T* in, size_t in_distance, T* out, size_t out_distance);

  size_t radix;
  First first[2], first_narrow[2];  // narrow: inner is less than a vector
  Middle middle, middle_narrow;
  Last last[2];  // needs at least a vector of groups
  Out out[2], out_narrow[2];
  Whole whole[2];
  Batch batch[2];  // null if R is less than a vector
};

template <class T>
struct Engine {
  const char* name;
  size_t lanes;
  std::array<std::span<const Codelet<T>>, 3> codelets;
  // A vector of transforms of n points (at least a vector) to and from the planes, point by point, one transform per
  // lane.
  void (*gather[2])(const T* in, size_t distance, size_t n, T* y, size_t plane);
  void (*scatter[2])(const T* x, size_t plane, size_t n, T* out, size_t distance);
};

// The widest instruction set of this machine.
template <class T>
Engine<T> engine();
template <>
Engine<float> engine<float>();
template <>
Engine<double> engine<double>();

// Codelets in three separate units, which would take minutes to compile as one.
template <class T, int kPart>
std::span<const Codelet<T>> codelets();
template <>
std::span<const Codelet<float>> codelets<float, 0>();
template <>
std::span<const Codelet<float>> codelets<float, 1>();
template <>
std::span<const Codelet<float>> codelets<float, 2>();
template <>
std::span<const Codelet<double>> codelets<double, 0>();
template <>
std::span<const Codelet<double>> codelets<double, 1>();
template <>
std::span<const Codelet<double>> codelets<double, 2>();

}  // namespace ridge::fft::mixed

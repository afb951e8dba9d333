// What is done to points on their way between the caller's memory and the cache: conversion, factors, any stride.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

// One side's operators in the arithmetic of the transform.
template <class T>
struct Factors {
  Samples samples = Samples::same;
  std::vector<T> window = {};
  std::vector<std::complex<T>> multiply = {};
  T scale = 1;

  Factors() = default;
  explicit Factors(const Load& load);
  Factors(const Store& store, double scale_by);
  bool any() const { return samples != Samples::same || !window.empty() || !multiply.empty() || scale != T(1); }
};

// Null where there is nothing to do.
template <class T>
const Factors<T>* only_if_any(const Factors<T>* factors) {
  return factors != nullptr && factors->any() ? factors : nullptr;
}

// Distances along the points of a line and from a line to the next.
struct Steps {
  std::size_t point, line;
};

// A block of lines: `points` of each of `lines`.
struct Block {
  std::size_t points, lines;
  std::size_t factor = 0;  // of the block's first point, in the packed order of the factors
  Steps factors = {0, 0};
};

// From the caller's memory (of the type samples say; T or complex<T> for `same`) into a tile.
template <class T>
void load_complex(const Factors<T>& factors, const void* in, Steps from, std::complex<T>* tile, Steps to,
                  const Block& block);
template <class T>
void load_real(const Factors<T>& factors, const void* in, Steps from, T* tile, Steps to, const Block& block);

// From a tile to the caller's memory; the two may be the same with the same steps.
template <class T>
void store_complex(const Factors<T>& factors, const std::complex<T>* tile, Steps from, std::complex<T>* out, Steps to,
                   const Block& block);
template <class T>
void store_real(const Factors<T>& factors, const T* tile, Steps from, T* out, Steps to, const Block& block);

// Bytes of one sample in the caller's memory, where a number of the plan's type has `number`.
inline std::size_t sample_bytes(Samples samples, Kind kind, std::size_t number) {
  const std::size_t each = samples == Samples::int8 ? 1 : samples == Samples::int16 ? 2 : number;
  return kind == Kind::complex ? 2 * each : each;
}

}  // namespace ridge::fft

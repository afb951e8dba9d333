// Operators applied to points between the caller's memory and the cache: conversion, factors, any stride.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::fft {

// The operators of one side, in the precision of the transform.
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

// Returns null if no operator applies.
template <class T>
const Factors<T>* only_if_any(const Factors<T>* factors) {
  return factors != nullptr && factors->any() ? factors : nullptr;
}

// Strides along the points of a line and between lines.
struct Steps {
  std::size_t point, line;
};

// A block of lines with `points` of each of `lines`.
struct Block {
  std::size_t points, lines;
  std::size_t factor = 0;  // index of the block's first point in the packed order of the factors
  Steps factors = {0, 0};
};

// Copies from the caller's memory (of the type of samples; T or complex<T> for `same`) into a tile.
template <class T>
void load_complex(const Factors<T>& factors, const void* in, Steps from, std::complex<T>* tile, Steps to,
                  const Block& block);
template <class T>
void load_real(const Factors<T>& factors, const void* in, Steps from, T* tile, Steps to, const Block& block);

// Copies from a tile to the caller's memory. The two may be the same memory with the same steps.
template <class T>
void store_complex(const Factors<T>& factors, const std::complex<T>* tile, Steps from, std::complex<T>* out, Steps to,
                   const Block& block);
template <class T>
void store_real(const Factors<T>& factors, const T* tile, Steps from, T* out, Steps to, const Block& block);

// Bytes per sample in the caller's memory, if a number of the plan's type has `number` bytes.
inline std::size_t sample_bytes(Samples samples, Kind kind, std::size_t number) {
  const std::size_t each = samples == Samples::int8 ? 1 : samples == Samples::int16 ? 2 : number;
  return kind == Kind::complex ? 2 * each : each;
}

}  // namespace ridge::fft

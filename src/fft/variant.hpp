// Interface of one complex transform of one length on one core, the building block of all host transforms, and the
// registry of its variants.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/lister.hpp"

namespace ridge::fft {

enum class Direction { forward, inverse };  // exp(-2 pi i ...) and exp(+2 pi i ...), both unscaled

// A line transform as a plain function and its table, for transforms as short as a virtual call. Exactly one of two
// forms.
template <class T>
struct BareLine {
  using One = void (*)(const T* in, T* out, const T* table);
  using Line = void (*)(const T* in, std::size_t in_distance, T* out, std::size_t out_distance, std::size_t count,
                        const T* const* tables, T* scratch);
  One one = nullptr;
  const T* table = nullptr;
  Line line = nullptr;
  const T* const* tables = nullptr;

  explicit operator bool() const { return one != nullptr || line != nullptr; }
  void run(const T* in, T* out) const {
    one != nullptr ? one(in, out, table) : line(in, 0, out, 0, 1, tables, nullptr);
  }
};

// Immutable; any number of threads may run it, each with its own scratch.
template <class T>
class LineKernel {
 public:
  using Complex = std::complex<T>;
  virtual ~LineKernel() = default;
  virtual std::size_t length() const = 0;
  virtual std::string describe() const = 0;  // for explain(): "16*16*4, complex arithmetic"
  virtual double flops() const = 0;          // operations actually performed per transform
  // Complex elements of scratch (64-byte aligned) per call.
  virtual std::size_t scratch() const = 0;

  // Set if run() only calls such a function and needs no scratch; else null.
  virtual BareLine<T> bare(Direction) const { return {}; }

  // Contiguous points. in == out is in place; other overlaps are not allowed.
  virtual void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const = 0;

  // `count` transforms, each contiguous, `in_distance` and `out_distance` elements apart.
  virtual void run_many(Direction direction, const Complex* in, std::size_t in_distance, Complex* out,
                        std::size_t out_distance, std::size_t count, Complex* scratch) const {
    for (std::size_t i = 0; i < count; ++i) run(direction, in + i * in_distance, out + i * out_distance, scratch);
  }

  // `columns` interleaved transforms: point p of column c is in[p * in_stride + c] and out[p * out_stride + c]. In
  // place if in == out and the strides are equal. Needs scratch_columns() elements of scratch.
  virtual std::size_t scratch_columns() const = 0;
  virtual void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out,
                           std::size_t out_stride, std::size_t columns, Complex* scratch) const = 0;
};

// One variant for lines of n points, as offered to the planner. `efficiency` is the expected fraction of the core's
// peak; the planner orders by flops and efficiency.
template <class T>
struct LineChoice {
  std::string name;
  std::string refusal;
  double flops;
  double efficiency;
  std::function<std::unique_ptr<LineKernel<T>>()> make;
};

// Interface of line kernels that can write their results with non-temporal stores, for batches that are not read soon.

// Second interface of a LineKernel. The caller must issue a fence before other threads read the results
// (TwoStepKernels::finish).
template <class T>
class PastCaches {
 public:
  using Complex = std::complex<T>;
  virtual ~PastCaches() = default;
  virtual bool goes_past() const = 0;
  virtual void run_many_past(Direction direction, const Complex* in, std::size_t in_distance, Complex* out,
                             std::size_t out_distance, std::size_t count, Complex* scratch) const = 0;
};

// Null if the kernel has no such method.
template <class T>
const PastCaches<T>* past_caches_of(const LineKernel<T>& line) {
  const auto* face = dynamic_cast<const PastCaches<T>*>(&line);
  return face != nullptr && face->goes_past() ? face : nullptr;
}

// Appends the variants of a folder for lines of n points. Its line in registry.cpp declares one lister per type.
template <class T>
using LineLister = void(std::size_t n, std::vector<LineChoice<T>>& choices);
using LineListers = planner::Listers<LineLister, float, double>;

// Lists the variants of each folder with its best static choice first; the planner orders across folders.
template <class T>
std::vector<LineChoice<T>> line_choices(std::size_t n);

// Returns the best choice by predicted cost alone: for parts of larger algorithms.
template <class T>
LineChoice<T> default_choice(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> default_line(std::size_t n);

}  // namespace ridge::fft

// One complex transform of one length on one core: what every host path of the FFT is built from.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace ridge::fft {

enum class Direction { forward, inverse };  // exp(-2 pi i ...) and exp(+2 pi i ...), both unscaled

// A line as a plain function and its table, for calls that last as long as a virtual one. It has one of two forms.
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

// Immutable once made, so that any number of threads may run it, each with its own scratch.
template <class T>
class LineKernel {
 public:
  using Complex = std::complex<T>;
  virtual ~LineKernel() = default;
  virtual std::size_t length() const = 0;
  virtual std::string describe() const = 0;  // "16*16*4, complex arithmetic": for explain()
  virtual double flops() const = 0;          // really done, one transform
  // Complex elements of scratch (64-byte aligned) that every call needs.
  virtual std::size_t scratch() const = 0;

  // Where run() is no more than such a function and needs no scratch; a null one elsewhere.
  virtual BareLine<T> bare(Direction) const { return {}; }

  // Contiguous points. in == out works in place; other overlaps do not.
  virtual void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const = 0;

  // `count` transforms, each contiguous, `in_distance` and `out_distance` elements apart.
  virtual void run_many(Direction direction, const Complex* in, std::size_t in_distance, Complex* out,
                        std::size_t out_distance, std::size_t count, Complex* scratch) const {
    for (std::size_t i = 0; i < count; ++i) run(direction, in + i * in_distance, out + i * out_distance, scratch);
  }

  // `columns` transforms side by side: point p of column c is in[p * in_stride + c] and out[p * out_stride + c].
  // In place where in == out and the strides are equal. Scratch for this call: scratch_columns() elements.
  virtual std::size_t scratch_columns() const = 0;
  virtual void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out,
                           std::size_t out_stride, std::size_t columns, Complex* scratch) const = 0;
};

// One way to do a line of n points, as each algorithm's folder offers it to the planner.
// `efficiency` is of the core's peak, what the author expects; the planner orders by flops and efficiency.
template <class T>
struct LineChoice {
  std::string name;
  std::string refusal;
  double flops;
  double efficiency;
  std::function<std::unique_ptr<LineKernel<T>>()> make;
};

}  // namespace ridge::fft

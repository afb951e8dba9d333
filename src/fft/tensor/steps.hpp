// The kinds of steps of a tensor transform.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fft/host/transform.hpp"
#include "fft/tensor/line_pass.hpp"
#include "fft/tensor/tensor.hpp"

namespace ridge::fft {

constexpr double kTensorPointsWorthThreads = 1 << 14;
constexpr std::size_t kDirectScratch = 16384;  // bytes on the stack

template <class T>
const void* read_from(Slot slot, const TensorArrays& arrays, Scratch<T>& scratch) {
  return slot == Slot::input ? arrays.input : slot == Slot::output ? arrays.output : scratch.shared.data();
}

template <class T>
void* write_to(Slot slot, const TensorArrays& arrays, Scratch<T>& scratch) {
  return slot == Slot::work ? scratch.shared.data() : arrays.output;
}

// One of the library's plans, which have one batch dimension, repeated over the remaining loops.
template <class T>
class PlanStep final : public TensorStep<T> {
 public:
  using Complex = std::complex<T>;
  PlanStep(Slot from, Slot to, Direction direction, std::shared_ptr<const Transform<T>> transform,
           std::vector<Dimension> loops)
      : from_(from),
        to_(to),
        direction_(direction),
        transform_(std::move(transform)),
        loops_(std::move(loops)),
        bare_(transform_->bare_line(direction)) {}

  DirectCall direct() const override {
    if (!loops_.empty() || from_ != Slot::input || to_ != Slot::output) return {};
    if (bare_.one != nullptr) {
      return {[](const void* object, const void* in, void* out) {
                const auto& line = *static_cast<const BareLine<T>*>(object);
                line.one(static_cast<const T*>(in), static_cast<T*>(out), line.table);
              },
              &bare_};
    }
    if (direction_ == Direction::forward) return {unchecked<Direction::forward>, transform_.get()};
    return {unchecked<Direction::inverse>, transform_.get()};
  }

  std::string describe() const override { return fmt::format("{} plans: {}", count(loops_), transform_->explain()); }
  double flops() const override { return transform_->done_flops() * static_cast<double>(count(loops_)); }
  std::size_t scratch() const override { return 0; }

  void run(const TensorArrays& arrays, Scratch<T>& scratch, std::size_t) const override {
    const bool real = transform_->problem().kind == Kind::real, forward = direction_ == Direction::forward;
    const auto* const in = static_cast<const std::byte*>(read_from(from_, arrays, scratch));
    auto* const out = static_cast<std::byte*>(write_to(to_, arrays, scratch));
    const std::size_t in_bytes = real && forward ? sizeof(T) : sizeof(Complex);
    const std::size_t out_bytes = real && !forward ? sizeof(T) : sizeof(Complex);
    for_each_item(loops_, 0, count(loops_), [&](std::ptrdiff_t i, std::ptrdiff_t o) {
      one(in + i * static_cast<std::ptrdiff_t>(in_bytes), out + o * static_cast<std::ptrdiff_t>(out_bytes), real,
          forward);
    });
  }

 private:
  template <Direction kDirection>
  static void unchecked(const void* object, const void* in, void* out) {
    static_cast<const Transform<T>*>(object)->run_unchecked(kDirection, in, out);
  }

  void one(const std::byte* in, std::byte* out, bool real, bool forward) const {
    const Layout& layout = transform_->layout();
    const std::size_t samples = layout.samples.extent, spectrum = layout.spectrum.extent;
    bool done;
    if (!real) {
      done = transform_->run_short(direction_, {reinterpret_cast<const Complex*>(in), forward ? samples : spectrum},
                                   {reinterpret_cast<Complex*>(out), forward ? spectrum : samples});
    } else if (forward) {
      done = transform_->run_short(std::span(reinterpret_cast<const T*>(in), samples),
                                   std::span(reinterpret_cast<Complex*>(out), spectrum));
    } else {
      done = transform_->run_short(std::span(reinterpret_cast<const Complex*>(in), spectrum),
                                   std::span(reinterpret_cast<T*>(out), samples));
    }
    if (!done) transform_->run(direction_, in, out);
  }

  Slot from_, to_;
  Direction direction_;
  std::shared_ptr<const Transform<T>> transform_;
  std::vector<Dimension> loops_;
  BareLine<T> bare_;
};

// Transforms the lines of one axis with any strides.
template <class T, class In, class Out>
class PassStep final : public TensorStep<T> {
 public:
  PassStep(Slot from, Slot to, std::string name, double line_flops, LinePass<T, In, Out> pass)
      : from_(from), to_(to), name_(std::move(name)), line_flops_(line_flops), pass_(std::move(pass)) {}

  std::string describe() const override { return name_; }
  double flops() const override { return line_flops_; }
  std::size_t scratch() const override { return pass_.scratch(); }

  DirectCall direct() const override {
    const LineOperation<T, In, Out>* const one = pass_.alone();
    if (one == nullptr || from_ != Slot::input || to_ != Slot::output) return {};
    if (one->scratch() * sizeof(std::complex<T>) > kDirectScratch) return {};
    return {[](const void* object, const void* in, void* out) {
              alignas(base::kAlignment) std::array<std::byte, kDirectScratch> memory;  // NOLINT: not to be cleared
              static_cast<const LineOperation<T, In, Out>*>(object)->run(
                  static_cast<const In*>(in), static_cast<Out*>(out),
                  reinterpret_cast<std::complex<T>*>(memory.data()));
            },
            one};
  }

  void run(const TensorArrays& arrays, Scratch<T>& scratch, std::size_t threads) const override {
    const auto* const in = static_cast<const In*>(read_from(from_, arrays, scratch));
    auto* const out = static_cast<Out*>(write_to(to_, arrays, scratch));
    struct Call {
      const LinePass<T, In, Out>& pass;
      const In* in;
      Out* out;
      Scratch<T>& scratch;
    };
    const Call call{pass_, in, out, scratch};
    const std::size_t useful = pass_.points() < kTensorPointsWorthThreads ? 1 : std::min(threads, pass_.units());
    // The closure holds one pointer: a larger one would need an allocation.
    base::parallel(std::max<std::size_t>(useful, 1), [&call](std::size_t thread, std::size_t all) {
      const base::Share share = base::share(call.pass.units(), thread, all);
      if (share.begin < share.end) {
        call.pass.run(call.in, call.out, call.scratch.of_thread[thread], share.begin, share.end);
      }
    });
  }

 private:
  Slot from_, to_;
  std::string name_;
  double line_flops_;
  LinePass<T, In, Out> pass_;
};

// Copies elements between two layouts. A split side has its imaginary parts in the second array.
template <class T, class Element>
class CopyStep final : public TensorStep<T> {
 public:
  CopyStep(Slot from, Slot to, bool split_input, bool split_output, std::vector<Dimension> loops)
      : from_(from),
        to_(to),
        split_input_(split_input),
        split_output_(split_output),
        loops_(shortest(std::move(loops))) {}

  std::string describe() const override { return fmt::format("copy of {} elements", count(loops_)); }
  double flops() const override { return 0; }
  std::size_t scratch() const override { return 0; }

  void run(const TensorArrays& arrays, Scratch<T>& scratch, std::size_t) const override {
    const void* const in = read_from(from_, arrays, scratch);
    void* const out = write_to(to_, arrays, scratch);
    if constexpr (sizeof(Element) == sizeof(std::complex<T>)) {
      if (split_input_ || split_output_) {
        split(in, arrays.input_imaginary, out, arrays.output_imaginary);
        return;
      }
    }
    const auto* const from = static_cast<const Element*>(in);
    auto* const to = static_cast<Element*>(out);
    for_each_item(loops_, 0, count(loops_), [&](std::ptrdiff_t i, std::ptrdiff_t o) { to[o] = from[i]; });
  }

 private:
  void split(const void* in, const void* in_imaginary, void* out, void* out_imaginary) const {
    for_each_item(loops_, 0, count(loops_), [&](std::ptrdiff_t i, std::ptrdiff_t o) {
      const std::complex<T> value =
          split_input_ ? std::complex<T>(static_cast<const T*>(in)[i], static_cast<const T*>(in_imaginary)[i])
                       : static_cast<const std::complex<T>*>(in)[i];
      if (split_output_) {
        static_cast<T*>(out)[o] = value.real();
        static_cast<T*>(out_imaginary)[o] = value.imag();
      } else {
        static_cast<std::complex<T>*>(out)[o] = value;
      }
    });
  }

  Slot from_, to_;
  bool split_input_, split_output_;
  std::vector<Dimension> loops_;
};

// Scales the output, if no plan could apply the factor.
template <class T, class Element>
class ScaleStep final : public TensorStep<T> {
 public:
  ScaleStep(T scale, bool split, std::vector<Dimension> places)
      : scale_(scale), split_(split), places_(shortest(std::move(places))) {}
  std::string describe() const override { return fmt::format("times {}", scale_); }
  double flops() const override { return static_cast<double>(count(places_)) * sizeof(Element) / sizeof(T); }
  std::size_t scratch() const override { return 0; }
  void run(const TensorArrays& arrays, Scratch<T>&, std::size_t) const override {
    scale(static_cast<Element*>(arrays.output));
    if (split_) scale(static_cast<Element*>(arrays.output_imaginary));
  }

 private:
  void scale(Element* out) const {
    for_each_item(places_, 0, count(places_), [&](std::ptrdiff_t, std::ptrdiff_t o) { out[o] *= scale_; });
  }

  T scale_;
  bool split_;
  std::vector<Dimension> places_;
};

}  // namespace ridge::fft

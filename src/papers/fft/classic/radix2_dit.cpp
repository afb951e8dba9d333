// Radix 2, decimation in time: bit reversal first, then butterflies of increasing span.
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/radix2_passes.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Radix2Dit final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  explicit Radix2Dit(classic::Radix2Passes<T> passes)
      : classic::ClassicLine<T>(passes.length(), "radix 2, bit reversal then decimation in time", passes.flops(), 0),
        passes_(std::move(passes)) {}
  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    passes_.bit_reverse(in, out);
    passes_.decimate_in_time(direction, out);
  }

 private:
  classic::Radix2Passes<T> passes_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_radix2_dit(std::size_t n) {
  return std::make_unique<Radix2Dit<T>>(classic::Radix2Passes<T>(n));
}

template std::unique_ptr<LineKernel<float>> make_radix2_dit<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_radix2_dit<double>(std::size_t);

}  // namespace ridge::fft

// Radix 2, decimation in frequency: butterflies of decreasing span, then bit reversal.
#include <algorithm>

#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/radix2_passes.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Radix2Dif final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  explicit Radix2Dif(classic::Radix2Passes<T> passes)
      : classic::ClassicLine<T>(passes.length(), "radix 2, decimation in frequency then bit reversal", passes.flops(),
                                0),
        passes_(std::move(passes)) {}
  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    if (in != out) std::copy_n(in, passes_.length(), out);
    passes_.decimate_in_frequency(direction, out);
    passes_.bit_reverse(out, out);
  }

 private:
  classic::Radix2Passes<T> passes_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_radix2_dif(std::size_t n) {
  return std::make_unique<Radix2Dif<T>>(classic::Radix2Passes<T>(n));
}

template std::unique_ptr<LineKernel<float>> make_radix2_dif<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_radix2_dif<double>(std::size_t);

}  // namespace ridge::fft

// Stockham's self-sorting transform by a list of radices (section 2.1.4 of the paper): every pass reads one buffer and
// writes the other, and the output order is natural without a permutation.
#include <algorithm>

#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/stockham_passes.hpp"

namespace ridge::fft {
namespace {

using classic::StockhamPass;

template <class T>
class Stockham final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  Stockham(std::size_t n, const std::string& description, double flops, std::vector<StockhamPass<T>> passes)
      : classic::ClassicLine<T>(n, description, flops, 2 * n), passes_(std::move(passes)) {}

  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const std::size_t n = this->length();
    if (passes_.empty()) {
      std::copy_n(in, n, out);
      return;
    }
    // Only the last pass writes `out` and it never reads it, so in place needs no special case.
    Complex* const buffers[2] = {scratch, scratch + n};
    const Complex* from = in;
    if (passes_.size() == 1 && in == out) from = std::copy_n(in, n, scratch) - n;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      Complex* to = i + 1 == passes_.size() ? out : buffers[i % 2];
      passes_[i].run(direction, from, to);
      from = to;
    }
  }

 private:
  std::vector<StockhamPass<T>> passes_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_stockham(std::size_t n, const std::vector<std::size_t>& radices) {
  classic::checked_length(n);
  std::size_t done = 1;
  double flops = 0;
  std::vector<StockhamPass<T>> passes;
  for (const std::size_t radix : radices) {
    passes.emplace_back(n, done, radix);
    flops += passes.back().flops();
    done *= radix;
  }
  if (done != n) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("radices {} make {} points, not {}", fmt::join(radices, "-"), done, n));
  }
  return std::make_unique<Stockham<T>>(n, fmt::format("Stockham {}", fmt::join(radices, "-")), flops,
                                       std::move(passes));
}

template std::unique_ptr<LineKernel<float>> make_stockham<float>(std::size_t, const std::vector<std::size_t>&);
template std::unique_ptr<LineKernel<double>> make_stockham<double>(std::size_t, const std::vector<std::size_t>&);

}  // namespace ridge::fft

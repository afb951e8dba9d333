// Transforms rows of samples to half spectra and back, directly or through tiles.
#include "fft/host/real_stage.hpp"

#include <algorithm>

namespace ridge::fft {
namespace {

constexpr std::size_t kRealTilePoints = 2048;  // shorter rows share a tile

template <class T>
const Factors<T>& or_plain(const Factors<T>* factors) {
  static const Factors<T> plain;
  return factors == nullptr ? plain : *factors;
}

}  // namespace

template <class T>
RealStage<T>::RealStage(const RealKernel<T>& kernel, std::size_t axis, const Side& samples, const Side& spectrum,
                        std::size_t batch, const Factors<T>* load, const Factors<T>* store)
    : kernel_(kernel),
      n_(kernel.length()),
      half_(n_ / 2 + 1),
      sample_stride_(n_ == 1 ? 1 : samples.strides[axis]),
      spectrum_stride_(half_ == 1 ? 1 : spectrum.strides[axis]),
      load_(only_if_any(load)),
      store_(only_if_any(store)),
      sample_bytes_(sample_bytes(load_ == nullptr ? Samples::same : load_->samples, Kind::real, sizeof(T))) {
  loops_[0] = {batch, samples.batch, spectrum.batch, 0, 0};
  std::size_t used = 1, sample_step = n_, spectrum_step = half_;
  std::array<Loop, kMostAxes> found;
  // Factors are packed with the last axis fastest: strides grow from the inner axes outwards.
  std::size_t count = 0;
  for (std::size_t other = axis; other-- > 0;) {
    found[count++] = {samples.shape[other], samples.strides[other], spectrum.strides[other], sample_step,
                      spectrum_step};
    sample_step *= samples.shape[other];
    spectrum_step *= spectrum.shape[other];
  }
  while (count > 0) loops_[used++] = found[--count];
  std::stable_partition(loops_.begin(), loops_.end(), [](const Loop& loop) { return loop.count == 1; });
  block_ = std::clamp<std::size_t>(kRealTilePoints / n_, 1, loops_.back().count);
  sample_tile_ = (block_ * n_ / 2 + 16) / 16 * 16;
}

template <class T>
std::size_t RealStage<T>::tile() const {
  const bool needed = load_ != nullptr || sample_stride_ != 1 || spectrum_stride_ != 1;
  return needed ? sample_tile_ + block_ * half_ : 0;
}

template <class T>
typename RealStage<T>::Rows RealStage<T>::next(std::size_t begin, std::size_t end) const {
  const Loop &a = loops_[0], &b = loops_[1], &c = loops_[2];
  const std::size_t k = begin % c.count, j = begin / c.count % b.count, i = begin / c.count / b.count;
  return {std::min(end - begin, c.count - k), i * a.in + j * b.in + k * c.in, i * a.out + j * b.out + k * c.out,
          i * a.in_factor + j * b.in_factor + k * c.in_factor, i * a.out_factor + j * b.out_factor + k * c.out_factor};
}

template <class T>
Block RealStage<T>::sample_block(const Rows& rows) const {
  return {n_, rows.count, rows.sample_factor, {1, loops_[2].in_factor}};
}

template <class T>
Block RealStage<T>::spectrum_block(const Rows& rows) const {
  return {half_, rows.count, rows.spectrum_factor, {1, loops_[2].out_factor}};
}

template <class T>
void RealStage<T>::forward_rows(const void* samples, Complex* spectrum, const Rows& rows,
                                StageScratch<T> scratch) const {
  const Loop& inner = loops_[2];
  const auto* const from = static_cast<const std::byte*>(samples) + rows.samples * sample_bytes_;
  const T* source = reinterpret_cast<const T*>(from);
  std::size_t source_distance = inner.in;
  if (load_ != nullptr || sample_stride_ != 1) {
    load_real(or_plain(load_), from, {sample_stride_, inner.in}, sample_tile(scratch), {1, n_}, sample_block(rows));
    source = sample_tile(scratch);
    source_distance = n_;
  }
  Complex* const target = spectrum + rows.spectrum;
  const bool direct = spectrum_stride_ == 1;
  Complex* const result = direct ? target : spectrum_tile(scratch);
  const std::size_t result_distance = direct ? inner.out : half_;
  kernel_.forward_many(source, source_distance, result, result_distance, rows.count, scratch.kernel);
  if (direct && store_ == nullptr) return;
  store_complex(or_plain(store_), result, {1, result_distance}, target, {spectrum_stride_, inner.out},
                spectrum_block(rows));
}

template <class T>
void RealStage<T>::inverse_rows(const Complex* spectrum, T* samples, const Rows& rows, StageScratch<T> scratch) const {
  const Loop& inner = loops_[2];
  const Complex* source = spectrum + rows.spectrum;
  std::size_t source_distance = inner.out;
  if (load_ != nullptr || spectrum_stride_ != 1) {
    load_complex(or_plain(load_), source, {spectrum_stride_, inner.out}, spectrum_tile(scratch), {1, half_},
                 spectrum_block(rows));
    source = spectrum_tile(scratch);
    source_distance = half_;
  }
  T* const target = samples + rows.samples;
  const bool direct = sample_stride_ == 1;
  T* const result = direct ? target : sample_tile(scratch);
  const std::size_t result_distance = direct ? inner.in : n_;
  kernel_.inverse_many(source, source_distance, result, result_distance, rows.count, scratch.kernel);
  if (direct && store_ == nullptr) return;
  store_real(or_plain(store_), result, {1, result_distance}, target, {sample_stride_, inner.in}, sample_block(rows));
}

template <class T>
void RealStage<T>::forward(const void* samples, Complex* spectrum, std::size_t begin, std::size_t end,
                           StageScratch<T> scratch) const {
  const bool blocks = tile() != 0 || store_ != nullptr;
  while (begin < end) {
    const Rows rows = next(begin, blocks ? std::min(end, begin + block_) : end);
    forward_rows(samples, spectrum, rows, scratch);
    begin += rows.count;
  }
}

template <class T>
void RealStage<T>::inverse(const Complex* spectrum, T* samples, std::size_t begin, std::size_t end,
                           StageScratch<T> scratch) const {
  const bool blocks = tile() != 0 || store_ != nullptr;
  while (begin < end) {
    const Rows rows = next(begin, blocks ? std::min(end, begin + block_) : end);
    inverse_rows(spectrum, samples, rows, scratch);
    begin += rows.count;
  }
}

template class RealStage<float>;
template class RealStage<double>;

}  // namespace ridge::fft

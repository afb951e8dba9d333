// Runs the lines of one axis as rows, columns or tiles, whichever suits their strides.
#include "fft/host/stage.hpp"

#include <algorithm>

#include "fft/host/two_step_kernels.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kTilePoints = 2048;  // shorter lines share a tile: half of a common L1 in double
constexpr std::size_t kColumns = 32;       // columns per unit: whole cache lines, wide enough for the prefetcher

// Columns that extend over more than this, with a stride that maps their cache lines to few sets, are first gathered in
// a tile, if L1 holds one that is wide enough. Otherwise gathering costs a tenth.
constexpr std::size_t kFarBytes = std::size_t{128} << 10, kGatheredBytes = std::size_t{64} << 10, kLeastWidth = 128;
constexpr std::size_t kSharedSets = 1024;

// Row stride of such a tile, in elements: whole cache lines.
std::size_t gathered_pitch(std::size_t columns) { return (columns + 7) / 8 * 8; }

// Private cache size: for larger data non-temporal copies are 1.2 times as fast with one thread, 1.6 times with sixteen
// (Xeon, 2 MB of L2). Lines that do not fit have better methods.
constexpr std::size_t kStreamBytes = std::size_t{3} << 20;
constexpr std::size_t kLongestStreamed = std::size_t{1} << 19;

// Position of an axis in the packed order of a side's points.
std::size_t packed_step(const Side& side, std::size_t axis) {
  std::size_t step = 1;
  for (std::size_t inner = axis + 1; inner < kMostAxes; ++inner) step *= side.shape[inner];
  return step;
}

}  // namespace

template <class T>
Stage<T>::Stage(const LineKernel<T>& line, std::size_t axis, const Side& in, const Side& out, std::size_t batch,
                const Factors<T>* load, const Factors<T>* store)
    : line_(line),
      n_(line.length()),
      in_stride_(n_ == 1 ? 1 : in.strides[axis]),
      out_stride_(n_ == 1 ? 1 : out.strides[axis]),
      in_factor_(packed_step(in, axis)),
      out_factor_(packed_step(out, axis)),
      load_(only_if_any(load)),
      store_(only_if_any(store)) {
  element_bytes_ = load_ == nullptr ? sizeof(Complex) : sample_bytes(load_->samples, Kind::complex, sizeof(T));
  loops_[0] = {batch, in.batch, out.batch, 0, 0};
  std::size_t used = 1;
  for (std::size_t other = 0; other < kMostAxes; ++other) {
    if (other == axis || in.shape[other] == 1) continue;
    loops_[used++] = {in.shape[other], in.strides[other], out.strides[other], packed_step(in, other),
                      packed_step(out, other)};
  }
  // Loops with one iteration go outermost, where they cost nothing.
  std::stable_partition(loops_.begin(), loops_.end(), [](const Loop& loop) { return loop.count == 1; });
  access_ = in_stride_ == 1 && out_stride_ == 1 ? Access::rows : Access::tiles;
  if (access_ == Access::tiles) {
    const auto beside = std::find_if(loops_.begin(), loops_.end(),
                                     [](const Loop& loop) { return loop.count > 1 && loop.in == 1 && loop.out == 1; });
    if (beside != loops_.end()) {
      access_ = Access::columns;
      std::rotate(beside, beside + 1, loops_.end());
    }
  }
  block_ = access_ == Access::columns ? std::min(kColumns, loops_.back().count)
                                      : std::clamp<std::size_t>(kTilePoints / n_, 1, loops_.back().count);
  const std::size_t reach = n_ * std::max(in_stride_, out_stride_) * sizeof(Complex);
  const std::size_t fitting = std::min(block_, kGatheredBytes / (n_ * sizeof(Complex)));
  const auto shares_sets = [](std::size_t stride) { return stride * sizeof(Complex) % kSharedSets == 0; };
  far_ = access_ == Access::columns && load_ == nullptr && reach > kFarBytes &&
         (shares_sets(in_stride_) || shares_sets(out_stride_)) && fitting * sizeof(Complex) >= kLeastWidth;
  if (far_) block_ = fitting;
  const bool through_tile = load_ != nullptr || access_ == Access::tiles || far_;
  if (through_tile) tile_ = (far_ ? gathered_pitch(block_ + block_ / 4) : block_) * n_;
}

template <class T>
void Stage<T>::stream_large_results(std::size_t threads) {
  const double bytes = points() * sizeof(Complex) / static_cast<double>(threads);
  if (bytes < static_cast<double>(kStreamBytes) || store_ != nullptr) return;
  if (access_ != Access::rows) {
    streaming_ = far_;
    return;
  }
  const bool by_itself = past_caches_of(line_) != nullptr;
  if (tile_ != 0 || loops_.back().out != n_ || (!by_itself && n_ * sizeof(Complex) > kLongestStreamed)) return;
  streaming_ = true;
  if (!by_itself) tile_ = block_ * n_;
}

template <class T>
std::size_t Stage<T>::kernel_scratch() const {
  return access_ == Access::columns ? line_.scratch_columns() : line_.scratch();
}

template <class T>
std::size_t Stage<T>::units() const {
  const std::size_t outer = loops_[0].count * loops_[1].count;
  const std::size_t inner = loops_[2].count;
  return access_ == Access::columns ? outer * ((inner + block_ - 1) / block_) : outer * inner;
}

template <class T>
bool Stage<T>::same_planes(const std::array<Loop, kMostAxes>& rows, bool before) const {
  for (std::size_t i = 0; i < 2; ++i) {
    if (loops_[i].count != rows[i].count) return false;
    // The output of a row loop is a spectrum, which earlier rows write and later rows read.
    if (loops_[i].count > 1 && rows[i].out != (before ? loops_[i].in : loops_[i].out)) return false;
  }
  return true;
}

template <class T>
double Stage<T>::points() const {
  double count = static_cast<double>(n_);
  for (const Loop& loop : loops_) count *= static_cast<double>(loop.count);
  return count;
}

template <class T>
typename Stage<T>::Place Stage<T>::place(std::size_t outer) const {
  const std::size_t i = outer / loops_[1].count, j = outer % loops_[1].count;
  const Loop &a = loops_[0], &b = loops_[1];
  return {i * a.in + j * b.in, i * a.out + j * b.out, i * a.in_factor + j * b.in_factor,
          i * a.out_factor + j * b.out_factor};
}

template <class T>
const void* Stage<T>::input(const void* in, std::size_t element) const {
  return static_cast<const std::byte*>(in) + element * element_bytes_;
}

template <class T>
void Stage<T>::run(Direction direction, const void* in, Complex* out, std::size_t begin, std::size_t end,
                   StageScratch<T> scratch) const {
  const Loop& inner = loops_.back();
  const bool columns = access_ == Access::columns;
  const std::size_t grain = columns ? block_ : 1;
  const std::size_t per_outer = (inner.count + grain - 1) / grain;
  while (begin < end) {
    const std::size_t first = begin % per_outer;
    const std::size_t last = std::min(first + (end - begin), per_outer);
    Place at = place(begin / per_outer);
    begin += last - first;
    const std::size_t from = first * grain, to = std::min(last * grain, inner.count);
    at.in += from * inner.in;
    at.out += from * inner.out;
    at.in_factor += from * inner.in_factor;
    at.out_factor += from * inner.out_factor;
    if (columns) {
      run_columns(direction, in, out, at, to - from, scratch);
    } else {
      run_rows(direction, in, out, at, to - from, scratch);
    }
  }
}

template <class T>
void Stage<T>::run_rows(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                        StageScratch<T> scratch) const {
  const Loop& inner = loops_.back();
  if (streaming_) {
    run_streaming(direction, static_cast<const Complex*>(in) + at.in, out + at.out, count, scratch);
    return;
  }
  if (tile_ == 0 && store_ == nullptr) {
    line_.run_many(direction, static_cast<const Complex*>(in) + at.in, inner.in, out + at.out, inner.out, count,
                   scratch.kernel);
    return;
  }
  static const Factors<T> kPlain;
  const Steps tile_steps{1, n_}, out_steps{out_stride_, inner.out};
  for (std::size_t done = 0; done < count; done += block_) {
    const std::size_t lines = std::min(block_, count - done);
    Complex* const target = out + at.out + done * inner.out;
    const Complex* source = static_cast<const Complex*>(in) + at.in + done * inner.in;
    std::size_t source_distance = inner.in;
    if (tile_ != 0) {
      const Block block{n_, lines, at.in_factor + done * inner.in_factor, {in_factor_, inner.in_factor}};
      load_complex(load_ == nullptr ? kPlain : *load_, input(in, at.in + done * inner.in), {in_stride_, inner.in},
                   scratch.tile, tile_steps, block);
      source = scratch.tile;
      source_distance = n_;
    }
    const bool direct = out_stride_ == 1;
    Complex* const result = direct ? target : scratch.tile;
    const std::size_t result_distance = direct ? inner.out : n_;
    line_.run_many(direction, source, source_distance, result, result_distance, lines, scratch.kernel);
    if (direct && store_ == nullptr) continue;
    const Block block{n_, lines, at.out_factor + done * inner.out_factor, {out_factor_, inner.out_factor}};
    store_complex(store_ == nullptr ? kPlain : *store_, result, {1, result_distance}, target, out_steps, block);
  }
}

template <class T>
void Stage<T>::run_streaming(Direction direction, const Complex* in, Complex* out, std::size_t count,
                             StageScratch<T> scratch) const {
  const std::size_t step = loops_.back().in;
  if (const PastCaches<T>* past = past_caches_of(line_); past != nullptr) {
    past->run_many_past(direction, in, step, out, n_, count, scratch.kernel);
    two_step_kernels<T>().finish();
    return;
  }
  for (std::size_t done = 0; done < count; done += block_) {
    const std::size_t lines = std::min(block_, count - done);
    line_.run_many(direction, in + done * step, step, scratch.tile, n_, lines, scratch.kernel);
    two_step_kernels<T>().stream(reinterpret_cast<const T*>(scratch.tile), lines * n_,
                                 reinterpret_cast<T*>(out + done * n_));
  }
  two_step_kernels<T>().finish();
}

template <class T>
void Stage<T>::run_columns(Direction direction, const void* in, Complex* out, const Place& at, std::size_t count,
                           StageScratch<T> scratch) const {
  const Loop& inner = loops_.back();
  // Whole strips at a time only if nothing else has to be done to them in cache.
  const std::size_t width = tile_ == 0 && store_ == nullptr ? count : block_;
  for (std::size_t done = 0, lines = 0; done < count; done += lines) {
    lines = std::min(width, count - done);
    Complex* const target = out + at.out + done;
    const Complex* source = static_cast<const Complex*>(in) + at.in + done;
    std::size_t source_stride = in_stride_;
    if (far_) {
      if (count - done <= width + width / 4) lines = count - done;  // the odd columns of a real spectrum
      const std::size_t pitch = gathered_pitch(lines);
      Complex* const tile = scratch.tile;
      for (std::size_t i = 0; i < n_; ++i) std::copy_n(source + i * in_stride_, lines, tile + i * pitch);
      line_.run_columns(direction, tile, pitch, tile, pitch, lines, scratch.kernel);
      if (store_ != nullptr) {
        const Block block{n_, lines, at.out_factor + done * inner.out_factor, {out_factor_, inner.out_factor}};
        store_complex(*store_, tile, {pitch, 1}, target, {out_stride_, 1}, block);
      } else if (streaming_) {
        const auto stream = two_step_kernels<T>().stream;
        for (std::size_t i = 0; i < n_; ++i) {
          stream(reinterpret_cast<const T*>(tile + i * pitch), lines, reinterpret_cast<T*>(target + i * out_stride_));
        }
      } else {
        for (std::size_t i = 0; i < n_; ++i) std::copy_n(tile + i * pitch, lines, target + i * out_stride_);
      }
      continue;
    }
    if (tile_ != 0) {
      const Block block{n_, lines, at.in_factor + done * inner.in_factor, {in_factor_, inner.in_factor}};
      load_complex(*load_, input(in, at.in + done), {in_stride_, 1}, scratch.tile, {lines, 1}, block);
      source = scratch.tile;
      source_stride = lines;
    }
    line_.run_columns(direction, source, source_stride, target, out_stride_, lines, scratch.kernel);
    if (store_ == nullptr) continue;
    const Block block{n_, lines, at.out_factor + done * inner.out_factor, {out_factor_, inner.out_factor}};
    store_complex(*store_, target, {out_stride_, 1}, target, {out_stride_, 1}, block);
  }
  if (streaming_) two_step_kernels<T>().finish();
}

template class Stage<float>;
template class Stage<double>;

}  // namespace ridge::fft

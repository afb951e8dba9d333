// Non-temporal stores of spectra that will not stay in the caches, issued a few lines at a time between other work: a
// row written at once would stall later stores until memory has accepted it.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "filterbank/host/host_variant.hpp"
#include "filterbank/host/kernels.hpp"

namespace ridge::filterbank {

class LateStores {
 public:
  // For rows of `floats` floats.
  LateStores(std::size_t most_rows, std::size_t floats) : lines_(floats / kBlockFloats) { rows_.reserve(most_rows); }
  ~LateStores() { finish(); }
  LateStores(const LateStores&) = delete;
  LateStores& operator=(const LateStores&) = delete;

  // `from` must not change until the row is written. Only whole lines: see fits().
  void add(const float* from, float* to) { rows_.push_back({from, to}); }
  static bool fits(const void* to, std::size_t floats) {
    return kernels().store_past != nullptr && floats % kBlockFloats == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
  }

  // Writes part of `lines` lines between FIR blocks or FFTs: half each, for longer rows more beside the FIR. A long FFT
  // cannot be interrupted, and writing its lines all at once after it would stall.
  void beside_fir(std::size_t lines) { some((lines * fir_eighths() + 7) / 8); }
  void beside_fft(std::size_t lines) { some((lines * (8 - fir_eighths()) + 7) / 8); }

  void some(std::size_t lines) {
    while (lines > 0 && row_ < rows_.size()) {
      const std::size_t now = std::min(lines, lines_ - line_), at = line_ * kBlockFloats;
      kernels().store_past(rows_[row_].from + at, rows_[row_].to + at, now);
      lines -= now;
      line_ += now;
      if (line_ == lines_) ++row_, line_ = 0;
    }
  }
  // Writes all rows that were added and clears the list.
  void rest() {
    some((rows_.size() - row_) * lines_);
    rows_.clear();
    row_ = line_ = 0;
  }
  void finish() {
    rest();
    if (kernels().fence != nullptr) kernels().fence();
  }

 private:
  std::size_t fir_eighths() const { return lines_ < 64 ? 4 : lines_ < 128 ? 6 : 8; }
  struct Row {
    const float* from;
    float* to;
  };
  std::size_t lines_, row_ = 0, line_ = 0;
  std::vector<Row> rows_;
};

// Outputs of at least this size are written past the caches; smaller ones may be read soon and stay cached.
inline constexpr std::size_t kPastBytes = std::size_t{30} << 20;

inline bool goes_past_caches(const Geometry& g, const Piece& piece, std::size_t from_bytes = kPastBytes) {
  return !g.by_channel && piece.job_spectra * g.spectrum_size() * sizeof(std::complex<float>) >= from_bytes &&
         LateStores::fits(piece.out, 2 * g.channels);
}

}  // namespace ridge::filterbank

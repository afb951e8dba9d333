// Rows of a result while they are made. Of a large image on x86 they are made in a buffer that stays in the cache and
// then stored past the caches: lines that are overwritten need not be fetched first, half of what a core's stores wait
// for.
#pragma once
#include <cstddef>

#include "base/aligned.hpp"
#include "image/operators/host/native_kernels.hpp"
#include "image/operators/host/rows.hpp"

namespace ridge::image {

// Smaller ones are read by whoever comes next before they have left the caches; bytes are too few for the way round.
inline bool goes_past_caches(const Image& image) {
  return kStoresPast && bytes_of(image.depth()) >= 4 && image.span_bytes() >= 8'000'000;
}

template <class T>
class OutRows {
 public:
  // `held` rows are made at once; they may be written `slack` beyond their end where they are in the buffer.
  OutRows(Image& out, std::size_t held, std::size_t slack = 0)
      : out_(out),
        past_(goes_past_caches(out)),
        held_(held),
        stride_((out.columns() * out.channels() + slack + 63) / 64 * 64),
        memory_(past_ ? held * stride_ : 0) {}
  ~OutRows() {
    if (past_) end_stores_past();
  }
  OutRows(const OutRows&) = delete;
  OutRows& operator=(const OutRows&) = delete;

  T* row(std::size_t r) { return past_ ? memory_.data() + r % held_ * stride_ : out_.row<T>(r); }
  void done(std::size_t r) {
    if (past_) store_past(row(r), out_.shape().row_bytes(), out_.row<std::byte>(r));
  }

 private:
  Image& out_;
  bool past_;
  std::size_t held_, stride_;
  base::AlignedArray<T> memory_;
};

}  // namespace ridge::image

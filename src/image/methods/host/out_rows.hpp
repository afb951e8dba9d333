// Output rows under construction. For large images on x86, rows are built in a cached buffer and then written with
// non-temporal stores: this avoids reading the overwritten cache lines, half of a core's store traffic.
#pragma once
#include <cstddef>

#include "base/aligned.hpp"
#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {

// Smaller images are read again before they leave the caches, and 8-bit and 16-bit results have too little store
// traffic for the extra copy to pay off.
inline bool uses_nontemporal_stores(const Image& image) {
  return kNontemporalStores && bytes_of(image.depth()) >= 4 && image.span_bytes() >= 8'000'000;
}

template <class T>
class OutRows {
 public:
  // `held` rows are built at once; buffered rows may be written up to `slack` values beyond their end.
  OutRows(Image& out, std::size_t held, std::size_t slack = 0)
      : out_(out),
        nontemporal_(uses_nontemporal_stores(out)),
        held_(held),
        stride_((out.columns() * out.channels() + slack + 63) / 64 * 64),
        memory_(nontemporal_ ? held * stride_ : 0) {}
  ~OutRows() {
    if (nontemporal_) finish_nontemporal_stores();
  }
  OutRows(const OutRows&) = delete;
  OutRows& operator=(const OutRows&) = delete;

  T* row(std::size_t r) { return nontemporal_ ? memory_.data() + r % held_ * stride_ : out_.row<T>(r); }
  void done(std::size_t r) {
    if (nontemporal_) store_nontemporal(row(r), out_.shape().row_bytes(), out_.row<std::byte>(r));
  }

 private:
  Image& out_;
  bool nontemporal_;
  std::size_t held_, stride_;
  base::AlignedArray<T> memory_;
};

}  // namespace ridge::image

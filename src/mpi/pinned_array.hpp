// Buffers for packed halo cells of a device's grid: page-locked host memory, or device memory if the messages accept
// CUDA addresses.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include <ridge/device.hpp>

#include "base/aligned.hpp"

namespace ridge::mpi {

template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(const Device& device, std::size_t size, bool on_device = false) : size_(size) {
    if (device.is_host() || size == 0) {
      plain_ = base::AlignedArray<T>(size);
      return;
    }
    if (on_device && device.info().backend == Backend::cuda) {
      own_ = device.buffer(size * sizeof(T), {.name = "halos"});
      return;
    }
    locked_ =
        std::make_unique<Mapping>(device.buffer(size * sizeof(T), {.kind = MemoryKind::pinned, .name = "halos"}).map());
  }
  T* data() {
    if (own_) return reinterpret_cast<T*>(own_.native());  // unified addressing: a valid pointer for MPI too
    return locked_ ? reinterpret_cast<T*>(locked_->data()) : plain_.data();
  }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }

 private:
  std::size_t size_ = 0;
  base::AlignedArray<T> plain_;
  std::unique_ptr<Mapping> locked_;
  Buffer own_;
};

}  // namespace ridge::mpi

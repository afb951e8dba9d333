// Host memory that a device copies from and to at full speed: page-locked where there is a device.
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
  PinnedArray(const Device& device, std::size_t size) : size_(size) {
    if (device.is_host() || size == 0) {
      plain_ = base::AlignedArray<T>(size);
      return;
    }
    locked_ =
        std::make_unique<Mapping>(device.buffer(size * sizeof(T), {.kind = MemoryKind::pinned, .name = "halos"}).map());
  }
  T* data() { return locked_ ? reinterpret_cast<T*>(locked_->data()) : plain_.data(); }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data(), size_}; }

 private:
  std::size_t size_ = 0;
  base::AlignedArray<T> plain_;
  std::unique_ptr<Mapping> locked_;
};

}  // namespace ridge::mpi

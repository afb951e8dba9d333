// Uninitialised storage aligned to 128 bytes, with huge pages for large arrays, and a tally of allocated bytes.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace ridge::base {

inline constexpr std::size_t kAlignment =
    128;  // two cache lines: suits every SIMD width and the adjacent-line prefetcher

struct FreeAligned {
  void operator()(void* memory) const noexcept;
};

// Throws Error{out_of_memory}, with the size, if the allocation fails.
std::unique_ptr<void, FreeAligned> allocate_aligned(std::size_t bytes);

template <class T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t count) : memory_(allocate_aligned(count * sizeof(T))), size_(count) {}
  T* data() { return static_cast<T*>(memory_.get()); }
  const T* data() const { return static_cast<const T*>(memory_.get()); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  std::unique_ptr<void, FreeAligned> memory_;
  std::size_t size_ = 0;
};

// Counts the bytes of aligned memory that the calling thread has allocated and not freed since the tally began.
class AllocationTally {
 public:
  AllocationTally();
  std::size_t bytes() const;

 private:
  std::ptrdiff_t before_;
};

}  // namespace ridge::base

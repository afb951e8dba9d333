// Allocates aligned storage, asks for huge pages, and counts the allocated bytes.
#include "base/aligned.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/text.hpp"

namespace ridge::base {

namespace {
constexpr std::size_t kHugePage = 2u << 20;
thread_local std::ptrdiff_t allocated = 0;  // bytes allocated minus bytes freed by this thread

std::ptrdiff_t size_of(void* memory) { return static_cast<std::ptrdiff_t>(malloc_usable_size(memory)); }
}  // namespace

void FreeAligned::operator()(void* memory) const noexcept {
  allocated -= size_of(memory);
  std::free(memory);
}

AllocationTally::AllocationTally() : before_(allocated) {}
std::size_t AllocationTally::bytes() const {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(allocated - before_, 0));
}

std::unique_ptr<void, FreeAligned> allocate_aligned(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("out of host memory: cannot allocate {}", human_bytes(static_cast<double>(bytes))));
  }
  // Huge pages reduce TLB misses of strided access to large arrays. A refusal by the system is harmless.
  if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  allocated += size_of(memory);
  return std::unique_ptr<void, FreeAligned>(memory);
}

}  // namespace ridge::base

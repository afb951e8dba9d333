// Memory that ends at a page boundary, followed by inaccessible pages. Checking mode uses it for devices that compute
// in this process (PoCL), so that reads past a buffer are noticed too. An access is recorded, the page is opened and
// the kernel continues; guarded_touch() reports it.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

namespace ridge::detail {

struct GuardedTouch {
  std::size_t past = 0;  // bytes from the end of the memory to the first one that was touched
};

class GuardedMemory {
 public:
  // Null if the system has no such pages left. `bytes` is rounded up to the alignment of vectors: the first bytes after
  // an odd end are not guarded.
  static std::unique_ptr<GuardedMemory> make(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t slack() const { return slack_; }  // bytes between the end and the first guarded one

  // The first access since the last call, if any; the pages are closed again.
  std::optional<GuardedTouch> touched();

 private:
  GuardedMemory() = default;
  std::byte* whole_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::byte* end_ = nullptr;  // the first guarded byte
  std::size_t slack_ = 0;
  std::size_t slot_ = 0;  // index in the signal handler's table
};

}  // namespace ridge::detail

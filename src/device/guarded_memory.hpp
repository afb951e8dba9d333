// Memory whose end is the end of a page, with pages behind it that nobody may touch: checking mode gives it to devices
// that compute in this process (PoCL), so that a kernel that only reads past a buffer, and spoils no fence, is seen
// too. A touch is noted, the page opened and the kernel goes on; guarded_touch() tells of it.
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
  // Nothing where the system has no such pages left. `bytes` is rounded up to what data in vectors needs: the first
  // bytes behind an odd end are not guarded.
  static std::unique_ptr<GuardedMemory> make(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t slack() const { return slack_; }  // bytes between the end and the first guarded one

  // The first touch since the last call, if there was one; the pages are closed again.
  std::optional<GuardedTouch> touched();

 private:
  GuardedMemory() = default;
  std::byte* whole_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::byte* end_ = nullptr;  // the first guarded byte
  std::size_t slack_ = 0;
  std::size_t slot_ = 0;  // of the table the signal handler looks in
};

}  // namespace ridge::detail

// Files that exist while something is being written, and must be gone when the process is told to end.
#pragma once
#include <filesystem>

namespace ridge::base {

// Known to remove_temporaries() while this lives. Make it before the file, so that none is ever unknown, and call
// made() once the file is there or cannot be had: until then remove_temporaries() waits for it, a second at most.
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::filesystem::path& path);
  ~TemporaryName() { forget(); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  void made();
  void forget();  // it has got its final name, or is gone

 private:
  struct Node;
  friend void remove_temporaries() noexcept;
  static Node* first();
  Node* node_ = nullptr;
};

// Removes the files this process has named; those of a parent are left. The process is about to end: a thread that
// wants to make another one waits. May be called from a signal handler.
void remove_temporaries() noexcept;

// For programs, not for libraries: SIGINT, SIGTERM, SIGHUP and the other signals that end a process remove its
// temporaries and then end it as they would have. Signals that someone ignores or handles are left alone.
void remove_temporaries_on_signals();

// Makes a new name in `folder` survive a power cut. Error{io} where the disk reports a failure; a file system that
// cannot is none.
void flush_folder(const std::filesystem::path& folder);

}  // namespace ridge::base

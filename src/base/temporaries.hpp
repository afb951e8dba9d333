// Removes temporary files, folders and child processes when a signal ends the process.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>

namespace ridge::base {

// Registers a path with remove_temporaries() for its lifetime. Construct it before creating the file, so that no file
// is ever unregistered, and call made() once the file exists or could not be created; until then remove_temporaries()
// waits for it, at most one second.
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::filesystem::path& path);  // a file, or a folder and its contents
  ~TemporaryName() { forget(); }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  void made();
  void forget();  // after the file got its final name or was removed

 private:
  struct Node;
  friend void remove_temporaries() noexcept;
  friend class ChildGroup;
  static Node* first();
  static Node* take();
  Node* node_ = nullptr;
};

// A private folder "PREFIX-PROCESS-NUMBER" under TMPDIR (default /tmp), removed with its contents by the destructor.
class TemporaryFolder {
 public:
  // Removes folders of this prefix that killed processes left. Error{io} if the folder cannot be created.
  explicit TemporaryFolder(const std::string& prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void keep() { kept_ = true, name_.forget(); }  // it is not removed

 private:
  std::filesystem::path path_;
  TemporaryName name_;
  int lock_ = -1;  // descriptor of the folder; its lock marks the folder as in use
  bool kept_ = false;
};

// A child process that leads a process group of its own. remove_temporaries() kills the group while this exists. Call
// lead_own_group() in the child, after fork(): it also lets the child die with the thread that started it.
class ChildGroup {
 public:
  explicit ChildGroup(pid_t leader);
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

 private:
  TemporaryName::Node* node_;
};
void lead_own_group();

// Kills the child groups and removes the files and folders of this process; those of a parent are left. The process is
// about to end: a thread that creates another temporary waits. May be called from a signal handler.
void remove_temporaries() noexcept;

// For programs, not for libraries: SIGINT, SIGTERM, SIGHUP and the other signals that end a process call
// remove_temporaries() and then end it as they would have. A write beyond the limit on file sizes (SIGXFSZ) fails
// instead of ending the process. Signals that are ignored or handled already are left alone.
void remove_temporaries_on_signals();

// Makes a new name in `folder` survive a power cut. Error{io} if the disk reports a failure. A file system without
// this operation is not an error.
void flush_folder(const std::filesystem::path& folder);

}  // namespace ridge::base

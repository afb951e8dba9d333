// Keeps tables of temporary names and child processes that a signal handler may read, and removes what killed runs
// left.
#include "base/temporaries.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::base {
namespace fs = std::filesystem;

// A signal handler may read the list at any moment in any thread. Nodes are therefore never freed, only reused, and the
// path is complete before the owner is set.
struct TemporaryName::Node {
  std::atomic<pid_t> owner{0};  // 0: free; kWriting: the path is being written
  std::atomic<pid_t> maker{0};  // thread that is about to create the file
  std::atomic<pid_t> group{0};  // a process group to kill instead of a path to remove
  Node* next = nullptr;
  char path[PATH_MAX] = {};
};

namespace {

constexpr pid_t kWriting = -1;
constexpr int kLongestWait = 1000;  // ms

pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

std::atomic<void*> list{nullptr};
std::atomic<bool> ending{false};

// --- removing a folder in a signal handler: system calls only -------------------------------------------------------

struct DirectoryEntry {  // record of getdents64
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

void remove_tree(int folder, const char* name, int depth) {
  constexpr int kDeepest = 32, kPasses = 100;
  if (::unlinkat(folder, name, 0) == 0 || errno == ENOENT || depth > kDeepest) return;
  const int inside = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return;
  alignas(DirectoryEntry) char entries[2048];
  // Removing entries while listing them may skip some, and a killed child may still be creating files.
  for (int pass = 0; pass < kPasses && ::unlinkat(folder, name, AT_REMOVEDIR) != 0; ++pass) {
    if (pass > 2) ::poll(nullptr, 0, 1);
    ::lseek(inside, 0, SEEK_SET);
    for (;;) {
      const long bytes = ::syscall(SYS_getdents64, inside, entries, sizeof entries);
      if (bytes <= 0) break;
      for (long at = 0; at < bytes;) {
        const auto* const entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
        at += entry->length;
        if (std::strcmp(entry->name, ".") != 0 && std::strcmp(entry->name, "..") != 0)
          remove_tree(inside, entry->name, depth + 1);
      }
    }
  }
  ::close(inside);
}

// True for PREFIX-PROCESS-NUMBER if the process has ended.
bool is_of_ended_process(std::string_view name, const std::string& prefix) {
  if (!name.starts_with(prefix + "-")) return false;
  const char *at = name.data() + prefix.size() + 1, *const end = name.data() + name.size();
  pid_t process = 0;
  unsigned number = 0;
  const auto first = std::from_chars(at, end, process);
  if (first.ec != std::errc{} || process <= 0 || first.ptr == end || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, end, number);
  if (second.ec != std::errc{} || second.ptr != end) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

// Removes this user's folders that killed processes left. The lock protects those of other process name spaces.
void remove_stale_folders(const fs::path& parent, const std::string& prefix) {
  DIR* const listing = ::opendir(parent.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {
    if (!is_of_ended_process(entry->d_name, prefix)) continue;
    const int folder = ::openat(::dirfd(listing), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status {};
    if (folder >= 0 && ::fstat(folder, &status) == 0 && status.st_uid == ::geteuid() &&
        ::flock(folder, LOCK_EX | LOCK_NB) == 0)
      remove_tree(::dirfd(listing), entry->d_name, 0);
    if (folder >= 0) ::close(folder);
  }
  ::closedir(listing);
}

std::atomic<pid_t> ending_thread{0};  // runs on_end()

extern "C" void on_end(int number) {
  // A second signal must not end the process before its temporaries are removed.
  pid_t none = 0;
  const pid_t self = this_thread();
  if (!ending_thread.compare_exchange_strong(none, self)) {
    if (none == self) return;
    for (;;) ::pause();
  }
  remove_temporaries();
  // Another library may have replaced this handler by one that calls it (CUDA's compiler does), and the signal is
  // blocked: raised again here, it would be delivered to this handler without end.
  struct sigaction ends {};
  ends.sa_handler = SIG_DFL;
  ::sigaction(number, &ends, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
}

extern "C" void on_file_too_large(int) {}

}  // namespace

TemporaryName::Node* TemporaryName::first() { return static_cast<Node*>(list.load(std::memory_order_acquire)); }

// Returns a node that no other thread uses; the caller sets its owner last.
TemporaryName::Node* TemporaryName::take() {
  for (Node* node = first(); node != nullptr; node = node->next) {
    pid_t none = 0;
    if (node->owner.compare_exchange_strong(none, kWriting)) return node;
  }
  Node* const node = new Node;
  node->owner = kWriting;
  void* before = list.load();
  do {
    node->next = static_cast<Node*>(before);
  } while (!list.compare_exchange_weak(before, node));
  return node;
}

TemporaryName::TemporaryName(const fs::path& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored);  // the working directory may change later
  const std::string& text = ignored || whole.empty() ? path.native() : whole.native();
  if (text.size() >= PATH_MAX) return;  // too long: no such file can be created
  node_ = take();
  std::memcpy(node_->path, text.c_str(), text.size() + 1);
  node_->maker.store(this_thread());
  node_->owner.store(::getpid());
  if (!ending.load()) return;
  forget();
  for (;;) ::pause();  // the process is about to end
}

void TemporaryName::made() {
  if (node_ != nullptr) node_->maker.store(0);
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  if (this != &other) {
    forget();
    node_ = std::exchange(other.node_, nullptr);
  }
  return *this;
}

void TemporaryName::forget() {
  if (node_ == nullptr) return;
  node_->maker.store(0);
  std::exchange(node_, nullptr)->owner.store(0);
}

void remove_temporaries() noexcept {
  const int error = errno;
  ending = true;
  const pid_t self = ::getpid(), thread = this_thread();
  // Another thread may have registered a name and not yet created its file. The thread interrupted by this handler is
  // not waited for, because it cannot continue.
  const auto being_made = [&] {
    for (TemporaryName::Node* node = TemporaryName::first(); node != nullptr; node = node->next) {
      if (const pid_t maker = node->maker.load(); node->owner.load() == self && maker != 0 && maker != thread)
        return true;
    }
    return false;
  };
  for (int i = 0; i < kLongestWait && being_made(); ++i) ::poll(nullptr, 0, 1);
  for (TemporaryName::Node* node = TemporaryName::first(); node != nullptr; node = node->next) {
    const pid_t group = node->owner.load() == self ? node->group.load() : 0;
    if (group <= 0) continue;
    ::kill(-group, SIGKILL);
    while (::waitpid(group, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (TemporaryName::Node* node = TemporaryName::first(); node != nullptr; node = node->next) {
    if (node->owner.load() == self && node->group.load() == 0) remove_tree(AT_FDCWD, node->path, 0);
  }
  errno = error;
}

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
  static std::atomic<unsigned> counter{0};
  std::error_code none;
  fs::path parent = fs::temp_directory_path(none);
  if (none) parent = "/tmp";
  remove_stale_folders(parent, prefix);
  int error = EEXIST;
  // A killed process with the same number may have left this name behind.
  for (int attempt = 0; attempt < 1000 && error == EEXIST; ++attempt) {
    path_ = parent / fmt::format("{}-{}-{}", prefix, static_cast<long>(::getpid()), counter++);
    name_ = TemporaryName(path_);
    error = ::mkdir(path_.c_str(), 0700) == 0 ? 0 : errno;
    if (error != 0) name_.forget();
    name_.made();
  }
  if (error != 0) {
    throw Error(ErrorKind::io, fmt::format("cannot create a temporary folder such as {}: {}", path_.string(),
                                           std::generic_category().message(error)));
  }
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!kept_) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

ChildGroup::ChildGroup(pid_t leader) : node_(TemporaryName::take()) {
  ::setpgid(leader, leader);  // the child does the same; the order does not matter
  node_->group.store(leader);
  node_->owner.store(::getpid());
}

ChildGroup::~ChildGroup() {
  node_->group.store(0);
  node_->owner.store(0);
}

void lead_own_group() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGXCPU, SIGXFSZ}) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ::sigfillset(&ours.sa_mask);
    // A handler instead of SIG_IGN, because programs started by this one then get the default action back.
    ours.sa_handler = number == SIGXFSZ ? on_file_too_large : on_end;
    ours.sa_flags = number == SIGXFSZ ? SA_RESTART : 0;
    ::sigaction(number, &ours, nullptr);
  }
}

void flush_folder(const fs::path& folder) {
  int descriptor = -1;
  do {
    descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return;  // a folder may be writable but not readable
  int error = 0;
  if (::fsync(descriptor) != 0) error = errno;
  ::close(descriptor);
  if (error == EIO || error == ENOSPC || error == EDQUOT) {
    throw Error(ErrorKind::io, fmt::format("cannot flush the folder {}: {}", folder.empty() ? "." : folder.string(),
                                           std::generic_category().message(error)));
  }
}

}  // namespace ridge::base

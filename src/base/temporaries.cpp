#include "base/temporaries.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::base {
namespace fs = std::filesystem;

// A handler may read the list at any moment, in any thread: nodes are never freed, only used again, and a name is
// complete before its owner is set.
struct TemporaryName::Node {
  std::atomic<pid_t> owner{0};  // 0: free; kWriting: the name is being written
  std::atomic<pid_t> maker{0};  // the thread that is about to make the file
  Node* next = nullptr;
  char path[PATH_MAX] = {};
};

namespace {

constexpr pid_t kWriting = -1;
constexpr int kLongestWait = 1000;  // ms

pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

std::atomic<void*> list{nullptr};
std::atomic<bool> ending{false};

extern "C" void on_end(int number) {
  remove_temporaries();
  // SA_RESETHAND has put the default back, and SA_NODEFER lets it act at once.
  ::raise(number);
}

}  // namespace

TemporaryName::Node* TemporaryName::first() { return static_cast<Node*>(list.load(std::memory_order_acquire)); }

TemporaryName::TemporaryName(const fs::path& path) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(path, ignored);  // someone may change the folder
  const std::string& text = ignored || whole.empty() ? path.native() : whole.native();
  if (text.size() >= PATH_MAX) return;  // no such file can be made
  for (Node* node = first(); node_ == nullptr && node != nullptr; node = node->next) {
    pid_t none = 0;
    if (node->owner.compare_exchange_strong(none, kWriting)) node_ = node;
  }
  if (node_ == nullptr) {
    node_ = new Node;
    node_->owner = kWriting;
    void* before = list.load();
    do {
      node_->next = static_cast<Node*>(before);
    } while (!list.compare_exchange_weak(before, node_));
  }
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
  // Another thread may be between its name and its file. This one, where a handler has interrupted it, stays there.
  const auto being_made = [&] {
    for (TemporaryName::Node* node = TemporaryName::first(); node != nullptr; node = node->next) {
      if (const pid_t maker = node->maker.load(); node->owner.load() == self && maker != 0 && maker != thread)
        return true;
    }
    return false;
  };
  for (int i = 0; i < kLongestWait && being_made(); ++i) ::poll(nullptr, 0, 1);
  for (TemporaryName::Node* node = TemporaryName::first(); node != nullptr; node = node->next) {
    if (node->owner.load() == self) ::unlink(node->path);
  }
  errno = error;
}

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGXCPU, SIGXFSZ}) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = on_end;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    ::sigaction(number, &ours, nullptr);
  }
}

void flush_folder(const fs::path& folder) {
  int descriptor = -1;
  do {
    descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return;  // one may write into a folder and not read it
  int error = 0;
  if (::fsync(descriptor) != 0) error = errno;
  ::close(descriptor);
  if (error == EIO || error == ENOSPC || error == EDQUOT) {
    throw Error(ErrorKind::io, fmt::format("cannot flush the folder {}: {}", folder.empty() ? "." : folder.string(),
                                           std::generic_category().message(error)));
  }
}

}  // namespace ridge::base

// Reading and writing whole files, locks between processes, and the cache folder.
#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ridge/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace {

using ridge::Error;
using ridge::ErrorKind;
using ridge::base::cache_folder;
using ridge::base::FileLock;
using ridge::base::read_file;
using ridge::base::write_file;
using ridge::test::error_of;
using ridge::test::ScopedEnvironment;
using ridge::test::ScratchFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

// Runs `body` in a child process and returns its exit status; 255 if it threw or was killed.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 255;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

// The error of `body` in a child without root's privileges, because permissions do not apply to root.
template <class Body>
std::string refusal_without_privilege(Body&& body) {
  int message[2];
  if (::pipe(message) != 0) return "no pipe";
  in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
    const std::string text = error_of(body);
    return ::write(message[1], text.data(), text.size()) < 0 ? 1 : 0;
  });
  ::close(message[1]);
  std::string text(4096, '\0');
  const ssize_t got = ::read(message[0], text.data(), text.size());
  ::close(message[0]);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// --- reading --------------------------------------------------------------------------------------------------------

TEST(ReadFile, WholeFileOrNothing) {
  const ScratchFolder folder;
  EXPECT_FALSE(read_file(folder / "missing", 100));
  EXPECT_FALSE(read_file(folder / "missing/deeper", 100));
  const std::string bytes("a\0b\n\xff", 5);
  std::ofstream(folder / "some") << bytes;
  EXPECT_EQ(read_file(folder / "some", 100), bytes);
  std::ofstream(folder / "empty") << "";
  EXPECT_EQ(read_file(folder / "empty", 100), "");
  EXPECT_FALSE(read_file(folder / "some" / "below a file", 100));
}

TEST(ReadFile, TheLimitIsExact) {
  const ScratchFolder folder;
  std::ofstream(folder / "five") << "12345";
  EXPECT_EQ(read_file(folder / "five", 5), "12345");
  EXPECT_THAT(error_of([&] { read_file(folder / "five", 4); }), AllOf(HasSubstr("five"), HasSubstr("longer than 4")));
}

TEST(ReadFile, FilesThatReportNoSize) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here";
  const auto text = read_file("/proc/self/status", 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("Pid:"));
  EXPECT_THAT(error_of([] { read_file("/proc/self/status", 10); }), HasSubstr("longer than 10"));
}

TEST(ReadFile, OnlyRegularFilesAndNeverHangs) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_file(folder / "fifo", 100); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { read_file(folder.path(), 100); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([] { read_file("/dev/zero", 100); }), HasSubstr("not a regular file"));
}

TEST(ReadFile, AFileWithoutPermissionIsAnError) {
  const ScratchFolder folder;
  std::ofstream(folder / "closed") << "x";
  fs::permissions(folder / "closed", fs::perms::none);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_THAT(refusal_without_privilege([&] { read_file(folder / "closed", 100); }),
              AllOf(HasSubstr("closed"), HasSubstr("denied")));
}

// --- writing --------------------------------------------------------------------------------------------------------

TEST(WriteFile, CreatesAndReplacesAndLeavesNothingElse) {
  const ScratchFolder folder;
  write_file(folder / "a", "first, the longer one");
  EXPECT_EQ(read_file(folder / "a", 100), "first, the longer one");
  write_file(folder / "a", "second");
  EXPECT_EQ(read_file(folder / "a", 100), "second");
  write_file(folder / "a", "");
  EXPECT_EQ(read_file(folder / "a", 100), "");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

TEST(WriteFile, ARelativeNameInTheCurrentFolder) {
  const ScratchFolder folder;
  EXPECT_EQ(in_child([&] {
              if (::chdir(folder.path().c_str()) != 0) return 1;
              write_file("plain", "x");
              return 0;
            }),
            0);
  EXPECT_THAT(folder.names(), ElementsAre("plain"));
}

TEST(WriteFile, LongNames) {
  const ScratchFolder folder;
  const std::string name(250, 'n');
  write_file(folder / name, "x");
  EXPECT_EQ(read_file(folder / name, 10), "x");
  EXPECT_NE(error_of([&] { write_file(folder / std::string(300, 'n'), "x"); }), "");
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

TEST(WriteFile, FailuresNameThePathAndLeaveNothing) {
  const ScratchFolder folder;
  EXPECT_THAT(error_of([&] { write_file(folder / "no/file", "x"); }),
              AllOf(HasSubstr("no/file"), HasSubstr("No such")));
  fs::create_directory(folder / "taken");
  EXPECT_THAT(error_of([&] { write_file(folder / "taken", "x"); }), AllOf(HasSubstr("taken"), HasSubstr("folder")));
  EXPECT_NE(error_of([&] { write_file(folder.path() / "", "x"); }), "");
  EXPECT_THAT(folder.names(), ElementsAre("taken"));
  EXPECT_THAT(error_of([] { write_file("/dev/null", "x"); }), HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(WriteFile, AFolderWithoutPermission) {
  const ScratchFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  EXPECT_THAT(refusal_without_privilege([&] { write_file(folder / "a", "x"); }),
              AllOf(HasSubstr("/a"), HasSubstr("denied")));
}

// A limit on file size simulates a full disk: write() fails part of the way with an error.
TEST(WriteFile, AWriteThatFailsHalfWayKeepsTheOldFile) {
  const ScratchFolder folder;
  write_file(folder / "a", "old");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      write_file(folder / "a", std::string(1 << 20, 'x'));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::io && std::string(error.what()).find("too large") != std::string::npos ? 0 : 2;
    }
    return 3;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder / "a", 100), "old");
  EXPECT_THAT(folder.names(), ElementsAre("a"));
}

// Temporaries of processes that have ended are removed. Those that are locked, belong to running processes, or have
// another name are kept.
TEST(WriteFile, RemovesTemporariesOfDeadProcesses) {
  const ScratchFolder folder;
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string number = std::to_string(dead), own = "a.tmp-ridge-" + std::to_string(::getpid()) + "-9999";
  const std::string stale = "b.tmp-ridge-" + number + "-0", locked = "c.tmp-ridge-" + number + "-1";
  const std::vector<std::string> others = {own,
                                           locked,
                                           "b.tmp-" + number + "-0",
                                           "b.tmp-ridge-" + number,
                                           "b.tmp-ridge-" + number + "-x",
                                           ".tmp-ridge-" + number + "-0"};
  for (const auto& name : others) std::ofstream(folder / name) << "x";
  std::ofstream(folder / stale) << "x";
  const int lock = ::open((folder / locked).c_str(), O_RDONLY);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  write_file(folder / "a", "x");
  ::close(lock);
  std::vector<std::string> expected = others;
  expected.push_back("a");
  EXPECT_THAT(folder.names(), testing::UnorderedElementsAreArray(expected));
}

TEST(WriteFile, FollowsLinksAndKeepsPermissions) {
  const ScratchFolder folder;
  write_file(folder / "target", "old");
  ASSERT_EQ(::chmod((folder / "target").c_str(), 0640), 0);
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("link", folder / "second");
  write_file(folder / "second", "new");
  EXPECT_EQ(read_file(folder / "target", 10), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "second"));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "target").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  fs::create_symlink("round", folder / "round");
  EXPECT_THAT(error_of([&] { write_file(folder / "round", "x"); }), HasSubstr("round"));
}

TEST(WriteFile, AReadOnlyFileStays) {
  const ScratchFolder folder;
  write_file(folder / "a", "old");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((folder / "a").c_str(), 0444), 0);
  EXPECT_THAT(refusal_without_privilege([&] { write_file(folder / "a", "new"); }), HasSubstr("read-only"));
}

TEST(WriteFile, ATemporaryOfADeadProcessOfTheSameNumberIsReplaced) {
  const ScratchFolder folder;
  const int status = in_child([&] {
    for (int i = 0; i < 40; ++i)
      std::ofstream(folder / ("a.tmp-ridge-" + std::to_string(::getpid()) + "-" + std::to_string(i))) << "x";
    write_file(folder / "a", "new");
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(folder / "a", 10), "new");
}

TEST(WriteFile, ConcurrentWritersLeaveOneCompleteFile) {
  const ScratchFolder folder;
  std::vector<std::thread> writers;
  for (char c : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&, c] {
      for (int i = 0; i < 10; ++i) write_file(folder / "shared", std::string(10'000, c));
    });
  for (auto& writer : writers) writer.join();
  const auto bytes = read_file(folder / "shared", 100'000);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, std::string(10'000, bytes->front()));
  EXPECT_THAT(folder.names(), ElementsAre("shared"));
}

// --- locks ----------------------------------------------------------------------------------------------------------

TEST(FileLock, TimesOutWhileAnotherThreadHoldsIt) {
  const ScratchFolder folder;
  {
    const FileLock held(folder / "a");
    std::thread([&] {
      EXPECT_THAT(error_of([&] { FileLock(folder / "a", 0.05); }), AllOf(HasSubstr("a.lock"), HasSubstr("holds it")));
    }).join();
  }
  EXPECT_EQ(error_of([&] { FileLock(folder / "a", 0); }), "");
  EXPECT_THAT(folder.names(), UnorderedElementsAre("a.lock", "a.lock-next"));
}

TEST(FileLock, ExcludesThreads) {
  const ScratchFolder folder;
  std::atomic<int> inside = 0, together = 0, entered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        const FileLock lock(folder / "a", 60);
        if (++inside > 1) ++together;
        std::this_thread::yield();  // lets another thread enter
        ++entered;
        --inside;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(entered, 100);
  EXPECT_EQ(together, 0);
}

// Without a queue, a thread that takes the lock again immediately starves the others.
TEST(FileLock, AWaitingThreadComesBeforeThePreviousHolder) {
  const ScratchFolder folder;
  std::atomic<bool> stop = false;
  std::atomic<int> taken = 0;
  std::thread greedy([&] {
    while (!stop) {
      const FileLock lock(folder / "a", 60);
      ++taken;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  constexpr int waits = 20;
  int overtaken = 0;
  for (int i = 0, seen = 0; i < waits; ++i) {
    while (taken == seen) std::this_thread::yield();  // now the greedy thread holds it
    seen = taken;
    const FileLock lock(folder / "a", 60);
    overtaken += taken - seen;
    seen = taken;
  }
  stop = true;
  greedy.join();
  EXPECT_LE(overtaken, waits) << "times the greedy thread came first";
}

TEST(FileLock, ExcludesProcessesAndEndsWithThem) {
  const ScratchFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(folder / "a");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(error_of([&] { FileLock(folder / "a", 0.02); }), HasSubstr("holds it"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(error_of([&] { FileLock(folder / "a", 1); }), "");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, ARemovedLockFileDoesNotSplitTheLock) {
  const ScratchFolder folder;
  auto first = std::make_unique<FileLock>(folder / "a");
  fs::remove(folder / "a.lock");
  const FileLock second(folder / "a", 1);  // a new file, so it is free
  first.reset();
  EXPECT_THAT(error_of([&] { FileLock(folder / "a", 0.02); }), HasSubstr("holds it"));
}

TEST(FileLock, ErrorsNameTheReason) {
  const ScratchFolder folder;
  EXPECT_THAT(error_of([&] { FileLock(folder / "no/a", 0); }), AllOf(HasSubstr("no/a.lock"), HasSubstr("No such")));
  ASSERT_EQ(::mkfifo((folder / "fifo.lock").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { FileLock(folder / "fifo", 0); }), HasSubstr("not a regular file"));
}

// --- the cache folder -----------------------------------------------------------------------------------------------

class CacheFolder : public testing::Test {
 protected:
  ScratchFolder folder_;
  ScopedEnvironment ridge_{"RIDGE_CACHE_DIR", std::nullopt};
  ScopedEnvironment xdg_{"XDG_CACHE_HOME", std::nullopt};
  ScopedEnvironment home_{"HOME", folder_ / "home"};

  static fs::perms mode(const fs::path& path) { return fs::status(path).permissions() & fs::perms::mask; }
};

TEST_F(CacheFolder, IsSearchedInTheDocumentedOrder) {
  EXPECT_EQ(cache_folder(), folder_ / "home/.cache/ridge");
  const ScopedEnvironment xdg("XDG_CACHE_HOME", folder_ / "xdg");
  EXPECT_EQ(cache_folder(), folder_ / "xdg/ridge");
  const ScopedEnvironment ridge("RIDGE_CACHE_DIR", folder_ / "own/deep");
  EXPECT_EQ(cache_folder(), folder_ / "own/deep");
  for (const char* made : {"home/.cache/ridge", "xdg/ridge", "own/deep", "own"})
    EXPECT_EQ(mode(folder_ / made), fs::perms::owner_all) << made;
  EXPECT_EQ(cache_folder(), folder_ / "own/deep");
}

TEST_F(CacheFolder, IgnoresEmptyAndRelativeVariables) {
  const ScopedEnvironment ridge("RIDGE_CACHE_DIR", "");
  const ScopedEnvironment xdg("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(cache_folder(), folder_ / "home/.cache/ridge");
}

TEST_F(CacheFolder, AnExistingFolderKeepsItsMode) {
  fs::create_directory(folder_ / "mine");
  fs::permissions(folder_ / "mine", fs::perms::owner_all | fs::perms::group_read);
  const ScopedEnvironment ridge("RIDGE_CACHE_DIR", folder_ / "mine");
  EXPECT_EQ(cache_folder(), folder_ / "mine");
  EXPECT_EQ(mode(folder_ / "mine"), fs::perms::owner_all | fs::perms::group_read);
}

TEST_F(CacheFolder, AnImpossibleFolderIsAWarningAndNothingIsSaved) {
  ridge::test::Warnings warnings;
  std::ofstream(folder_ / "file") << "x";
  for (const char* chosen : {"file", "file/below"}) {
    const ScopedEnvironment ridge("RIDGE_CACHE_DIR", folder_ / chosen);
    EXPECT_EQ(cache_folder(), fs::path{});
  }
  ASSERT_EQ(warnings.messages.size(), 2u);
  EXPECT_THAT(warnings.messages[0], AllOf(HasSubstr("RIDGE_CACHE_DIR"), HasSubstr("not a folder")));
}

TEST_F(CacheFolder, IsInTmpForThisUserOnlyIfThereIsNoHome) {
  std::ofstream(folder_ / "file") << "x";
  const ScopedEnvironment home("HOME", folder_ / "file");
  const fs::path folder = cache_folder();
  ASSERT_EQ(folder, "/tmp/ridge-" + std::to_string(::geteuid()));
  EXPECT_EQ(mode(folder), fs::perms::owner_all);
  fs::permissions(folder, fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(cache_folder(), fs::path{});  // another user could have put files there
  fs::permissions(folder, fs::perms::owner_all);
  std::error_code ignored;
  fs::remove(folder, ignored);  // only if it is empty
}

}  // namespace

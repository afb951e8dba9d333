// Removal of temporary files, folders and child processes when a signal ends the process.
#include "base/temporaries.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "support/scratch.hpp"

namespace ridge::base {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

void make(const std::filesystem::path& path) { std::ofstream(path) << "x"; }

// The end of a child that did `work`: the signal that ended it, or minus its exit code.
int end_of_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

// A child that does `work` and is ended by `signal` after it has written a letter to the pipe (the argument of `work`).
// Returns the signal that ended it, or minus its exit code.
int end_of_child_after_letter(int signal, const std::function<void(int pipe)>& work) {
  int ready[2];
  if (::pipe(ready) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    remove_temporaries_on_signals();
    work(ready[1]);
    ::_exit(0);
  }
  char letter = 0;
  EXPECT_EQ(::read(ready[0], &letter, 1), 1);
  ::kill(child, signal);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

class Temporaries : public testing::TestWithParam<int> {
 protected:
  test::ScratchFolder folder_;
};

TEST_P(Temporaries, AreRemovedIfASignalEndsTheProcess) {
  EXPECT_EQ(end_of_child([&] {
              ::signal(GetParam(), SIG_DFL);
              remove_temporaries_on_signals();
              TemporaryName gone(folder_ / "gone"), kept(folder_ / "kept");
              for (const char* name : {"gone", "kept", "another's"}) make(folder_ / name);
              gone.made();
              kept.forget();
              ::raise(GetParam());
            }),
            GetParam());
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("kept", "another's"));
}

struct sigaction replaced {};

// A library's handler may call the one it replaced, while the signal is blocked.
TEST_P(Temporaries, AreRemovedIfAnotherHandlerCallsOurs) {
  EXPECT_EQ(end_of_child([&] {
              ::alarm(5);
              ::signal(GetParam(), SIG_DFL);
              remove_temporaries_on_signals();
              struct sigaction library {};
              library.sa_handler = [](int number) { replaced.sa_handler(number); };
              ::sigaction(GetParam(), &library, &replaced);
              TemporaryName gone(folder_ / "gone");
              make(folder_ / "gone");
              gone.made();
              ::raise(GetParam());
            }),
            GetParam());
  EXPECT_THAT(folder_.names(), IsEmpty());
}

// Several signals arrive one after another, as when a user presses Ctrl-C twice.
TEST_P(Temporaries, ASecondSignalDoesNotStopTheRemoval) {
  EXPECT_EQ(end_of_child([&] {
              ::signal(GetParam(), SIG_DFL);
              remove_temporaries_on_signals();
              std::vector<TemporaryName> names;
              for (int i = 0; i < 300; ++i) {
                const auto path = folder_ / ("gone-" + std::to_string(i));
                names.emplace_back(path);
                make(path);
                names.back().made();
              }
              const pid_t self = ::getpid();
              if (::fork() == 0) {
                for (int i = 0; i < 300; ++i) ::kill(self, GetParam());
                ::_exit(0);
              }
              for (;;) ::pause();
            }),
            GetParam());
  EXPECT_THAT(folder_.names(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Signals, Temporaries, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGPIPE));

// A write beyond the limit on file sizes fails; the process continues and can report it.
TEST_F(Temporaries, AWriteBeyondTheFileSizeLimitDoesNotEndTheProcess) {
  EXPECT_EQ(end_of_child([] {
              ::signal(SIGXFSZ, SIG_DFL);
              remove_temporaries_on_signals();
              ::raise(SIGXFSZ);
              ::_exit(7);
            }),
            -7);
}

TEST_F(Temporaries, AFolderIsRemovedWithItsContents) {
  const test::ScopedEnvironment temporary("TMPDIR", folder_.path().string());
  {
    const TemporaryFolder made("ridge-test");
    EXPECT_EQ(made.path().parent_path(), folder_.path());
    make(made.path() / "file");
  }
  EXPECT_THAT(folder_.names(), IsEmpty());
  EXPECT_EQ(end_of_child([] {
              remove_temporaries_on_signals();
              const TemporaryFolder made("ridge-test");
              std::filesystem::create_directories(made.path() / "a/b/c");
              for (int i = 0; i < 500; ++i)
                make(made.path() / "a/b" / ("a-file-with-a-long-name-" + std::to_string(i)));
              std::filesystem::create_symlink("/", made.path() / "a/root");
              ::raise(SIGTERM);
            }),
            SIGTERM);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

// SIGKILL allows no cleanup: the next process removes what is left, and nothing else.
TEST_F(Temporaries, FoldersOfKilledProcessesAreRemovedByTheNext) {
  const test::ScopedEnvironment temporary("TMPDIR", folder_.path().string());
  const auto killed = [](const std::string& prefix) {
    return end_of_child([&] {
      const TemporaryFolder made(prefix);
      std::filesystem::create_directories(made.path() / "a");
      make(made.path() / "a/file");
      ::raise(SIGKILL);
    });
  };
  EXPECT_EQ(killed("ridge-test"), SIGKILL);
  EXPECT_EQ(killed("ridge-other"), SIGKILL);
  const std::vector<std::string> left = folder_.names();
  ASSERT_EQ(left.size(), 2u);
  const TemporaryFolder running("ridge-test");
  make(folder_ / "ridge-test-notes");
  // A folder whose number is no running process here, but which is locked: its process runs in another PID namespace.
  const auto locked = folder_ / "ridge-test-999999999-0";
  std::filesystem::create_directory(locked);
  const int lock = ::open(locked.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  { const TemporaryFolder next("ridge-test"); }
  EXPECT_THAT(folder_.names(), UnorderedElementsAre(running.path().filename().string(), "ridge-test-notes",
                                                    "ridge-test-999999999-0", testing::StartsWith("ridge-other-")));
  ::close(lock);
}

// A child that leads a process group, and the child's own child.
TEST_F(Temporaries, ChildrenEndWithTheProcess) {
  int alive[2];
  ASSERT_EQ(::pipe(alive), 0);
  EXPECT_EQ(end_of_child([&] {
              remove_temporaries_on_signals();
              const pid_t leader = ::fork();
              if (leader == 0) {
                lead_own_group();
                ::fork();  // both processes hold the pipe open
                for (;;) ::pause();
              }
              const ChildGroup group(leader);
              ::raise(SIGTERM);
            }),
            SIGTERM);
  ::close(alive[1]);
  char letter = 0;
  EXPECT_EQ(::read(alive[0], &letter, 1), 0);  // no writer is left
  ::close(alive[0]);
}

TEST_F(Temporaries, AnIgnoredSignalStaysIgnored) {
  EXPECT_EQ(end_of_child([&] {
              ::signal(SIGHUP, SIG_IGN);
              remove_temporaries_on_signals();
              const TemporaryName name(folder_ / "kept");
              make(folder_ / "kept");
              ::raise(SIGHUP);
              ::_exit(7);
            }),
            -7);
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("kept"));
}

TEST_F(Temporaries, AChildKeepsTheFilesOfItsParent) {
  const TemporaryName name(folder_ / "parent's");
  make(folder_ / "parent's");
  EXPECT_EQ(end_of_child([&] {
              remove_temporaries_on_signals();
              const TemporaryName own(folder_ / "child's");
              make(folder_ / "child's");
              ::raise(SIGTERM);
            }),
            SIGTERM);
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("parent's"));
}

// Many threads create and remove files while the signal arrives.
TEST_F(Temporaries, AreRemovedWhileThreadsCreateThem) {
  for (int round = 0; round < 20; ++round) {
    const auto work = [&](int ready) {
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          for (int i = 0;; ++i) {
            const auto path = folder_ / (std::to_string(t) + "-" + std::to_string(i));
            TemporaryName name(path);
            make(path);
            name.made();
            if (i == 3 && ::write(ready, "x", 1) != 1) ::_exit(1);
            ::unlink(path.c_str());
          }
        });
      }
      for (auto& thread : threads) thread.join();
    };
    EXPECT_EQ(end_of_child_after_letter(SIGTERM, work), SIGTERM);
    EXPECT_THAT(folder_.names(), IsEmpty());
  }
}

// A thread that has registered a name and not yet created its file is waited for, and its file is removed.
TEST_F(Temporaries, AFileBeingCreatedIsRemovedToo) {
  const auto work = [&](int ready) {
    std::thread maker([&] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      TemporaryName name(folder_ / "late");
      if (::write(ready, "x", 1) != 1) ::_exit(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      make(folder_ / "late");
      name.made();
      ::pause();
    });
    maker.join();
  };
  EXPECT_EQ(end_of_child_after_letter(SIGTERM, work), SIGTERM);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(Temporaries, FilesBeingWrittenAreRemovedToo) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    remove_temporaries_on_signals();
    const std::string bytes(1 << 20, 'x');
    for (;;) write_file(folder_ / "whole", bytes);
  }
  while (!std::filesystem::exists(folder_ / "whole")) std::this_thread::yield();
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("whole"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "whole"), std::uintmax_t{1} << 20);
}

}  // namespace
}  // namespace ridge::base

// Large outputs appear under their name only when complete, and have one writer at a time.
#include "io/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ridge/error.hpp>

#include <functional>
#include <utility>

#include "base/files.hpp"
#include "support/scratch.hpp"

namespace {

std::function<void()> before_lock;  // called once, between open and lock

}  // namespace

// Replaces the C library's function, so that another writer can act between two calls.
extern "C" int flock(int descriptor, int operation) {
  if (before_lock) std::exchange(before_lock, nullptr)();
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace ridge::io {
namespace {

using testing::UnorderedElementsAre;

class AtomicFiles : public testing::Test {
 protected:
  std::string text() const { return base::read_file(path_, 1000).value_or("(missing)"); }
  void write(const std::string& text) const {
    AtomicFile file(path_);
    file.write(text);
    file.commit();
  }
  test::ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "file";
};

TEST_F(AtomicFiles, AppearWhenTheyAreComplete) {
  {
    AtomicFile file(path_);
    file.write("never");
    EXPECT_EQ(text(), "(missing)");
  }
  EXPECT_TRUE(folder_.names().empty());
  write("one");
  {
    AtomicFile file(path_);
    file.write("two");
    EXPECT_EQ(text(), "one");
    file.commit(folder_ / "before");
  }
  EXPECT_EQ(text(), "two");
  EXPECT_EQ(base::read_file(folder_ / "before", 10), "one");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("file", "before"));
}

// The second writer opens the part, then the first one finishes it: the open file is now the finished one.
TEST_F(AtomicFiles, AreNotTruncatedByASecondWriter) {
  before_lock = [&] { write("finished"); };
  {
    AtomicFile late(path_);
    EXPECT_FALSE(before_lock);
    EXPECT_EQ(text(), "finished");
    late.write("later");
    EXPECT_EQ(text(), "finished");
    late.commit();
  }
  EXPECT_EQ(text(), "later");
  before_lock = [&] { write("finished again"); };
  { const AtomicFile given_up(path_); }
  EXPECT_EQ(text(), "finished again");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("file"));
}

TEST_F(AtomicFiles, AreNotReplacedIfTheTemporaryWasRemoved) {
  before_lock = [&] { std::filesystem::remove(folder_ / "file.part"); };
  write("whole");
  EXPECT_EQ(text(), "whole");
  AtomicFile file(path_);
  std::filesystem::remove(folder_ / "file.part");
  file.write("lost");
  EXPECT_THROW(file.commit(folder_ / "before"), Error);
  EXPECT_EQ(text(), "whole");
}

TEST_F(AtomicFiles, HaveOneWriterAtATime) {
  AtomicFile first(path_);
  EXPECT_THROW(AtomicFile second(path_), Error);
  first.write("first");
  first.commit();
  EXPECT_EQ(text(), "first");
}

}  // namespace
}  // namespace ridge::io

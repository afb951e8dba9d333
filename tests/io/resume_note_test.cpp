// Notes beside raw outputs: which files a run may continue, and which are refused.
#include "io/telescopes/resume_note.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include <fstream>

#include "io/telescopes/stream.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ResumeNotes : public testing::Test {
 protected:
  void add(const std::string& bytes) const { std::ofstream(file_, std::ios::binary | std::ios::app) << bytes; }
  void put(const std::filesystem::path& path, const std::string& bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  void begin(const std::string& bytes) const {
    ResumeNote note(file_, "numbers");
    note.before_writing();
    add(bytes);
    note.after_writing();
  }
  void refused(const std::string& what, const std::string& words) const {
    try {
      ResumeNote(file_, what);
      FAIL() << "no error that contains " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
  test::ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "out.raw";
};

TEST_F(ResumeNotes, ContinueABegunRun) {
  begin("abc");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("out.raw", "out.raw.resume"));
  begin("def");
  begin(std::string(100000, 'x'));
  begin("more");
  EXPECT_NO_THROW(ResumeNote(file_, "numbers"));
}

TEST_F(ResumeNotes, RefuseAFileOfSomeoneElse) {
  put(file_, "a letter");
  refused("numbers", "was not begun with --resume");
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("out.raw"));
}

TEST_F(ResumeNotes, RefuseOtherContents) {
  begin("abcdef");
  refused("letters", "it holds \"numbers\"");
  put(file_, "abcdeX, and more");
  refused("numbers", "not the file");
  put(file_, "abc");
  refused("numbers", "not the file");
  put(file_, "abcdef, and more");
  EXPECT_NO_THROW(ResumeNote(file_, "numbers"));
}

TEST_F(ResumeNotes, RefuseADamagedNote) {
  begin("abcdef");
  for (const char* text : {"", "{", "[]", "{\"ridge resume\": 2}", "{\"ridge resume\": 1, \"what\": 3}",
                           "{\"ridge resume\": 1, \"what\": \"numbers\", \"start bytes\": -1, \"start crc32c\": 0}"}) {
    put(ResumeNote::beside(file_), text);
    refused("numbers", "is damaged");
  }
}

// Killed between the note and the first byte, or removed by hand.
TEST_F(ResumeNotes, BeginAgainWhereThereIsNothing) {
  ResumeNote(file_, "numbers").before_writing();
  EXPECT_NO_THROW(ResumeNote(file_, "other"));
  begin("abc");
  std::filesystem::remove(file_);
  begin("xyz");
  EXPECT_NO_THROW(ResumeNote(file_, "numbers"));
}

TEST_F(ResumeNotes, NothingIsLeftWhereNothingIsWritten) {
  { const OutputStream out(file_, true); }
  EXPECT_TRUE(folder_.names().empty());
  {
    OutputStream out(file_, true);
    EXPECT_THROW(OutputStream(file_, true), Error);  // only one writer at a time
    out.finish();
  }
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("out.raw"));
}

}  // namespace
}  // namespace ridge::io

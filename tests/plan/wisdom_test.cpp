// Wisdom in files and in memory: storing, forgetting, damaged files, concurrent processes.
#include "plan/wisdom.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ridge/error.hpp>

#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "base/files.hpp"
#include "plan/wisdom_file.hpp"
#include "support/scratch.hpp"

namespace {

using ridge::Error;
using ridge::ErrorKind;
using ridge::test::ScopedEnvironment;
using ridge::wisdom::all;
using ridge::wisdom::Entry;
using ridge::wisdom::forget;
using ridge::wisdom::kMostEntries;
using ridge::wisdom::remember;
using ridge::wisdom::Stored;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

Entry entry(const std::string& problem, double seconds = 0.5, const std::string& workload = "toy") {
  return {workload, problem, "test:0 (Imaginary)", "fingerprint", "winner(side=" + problem + ")", seconds};
}

class Wisdom : public testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  std::string text() const { return ridge::base::read_file(file_, 64u << 20).value_or(""); }
  static bool knows(const std::string& problem) {
    return ridge::wisdom::find("fingerprint", "toy", problem).has_value();
  }

  ridge::test::ScratchFolder folder_;
  fs::path file_ = folder_ / "wisdom.json";
  ScopedEnvironment environment_{"RIDGE_WISDOM", file_};
  ridge::test::Warnings warnings_;
};

TEST_F(Wisdom, PathIsTheNamedFileOrInTheCacheFolder) {
  EXPECT_EQ(ridge::wisdom::path(), file_);
  const ScopedEnvironment none("RIDGE_WISDOM", "");
  const ScopedEnvironment cache("RIDGE_CACHE_DIR", folder_ / "cache");
  EXPECT_EQ(ridge::wisdom::path(), folder_ / "cache/wisdom.json");
}

TEST_F(Wisdom, KeepsEntries) {
  EXPECT_FALSE(knows("1"));
  remember(entry("1", 0.25));
  remember(entry("2", 1.0 / 3));
  const auto found = ridge::wisdom::find("fingerprint", "toy", "2");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->winner, "winner(side=2)");
  EXPECT_EQ(found->device, "test:0 (Imaginary)");
  EXPECT_EQ(found->seconds, 1.0 / 3);  // all digits
  EXPECT_FALSE(ridge::wisdom::find("other", "toy", "2"));
  EXPECT_FALSE(ridge::wisdom::find("fingerprint", "other", "2"));
  EXPECT_FALSE(knows("3"));
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

TEST_F(Wisdom, KeepsTheSameProblemOfTwoDevicesApart) {
  remember(entry("1", 0.5));
  Entry other = entry("1", 0.25);
  other.fingerprint = "another device";
  other.winner = "other";
  remember(other);
  EXPECT_THAT(all(), SizeIs(2));
  EXPECT_EQ(ridge::wisdom::find("fingerprint", "toy", "1")->winner, "winner(side=1)");
  EXPECT_EQ(ridge::wisdom::find("another device", "toy", "1")->winner, "other");
}

TEST_F(Wisdom, ReplacesTheEntryOfTheSameProblem) {
  remember(entry("1", 0.5));
  remember(entry("2", 0.5));
  remember(entry("1", 0.25));
  ASSERT_THAT(all(), SizeIs(2));
  EXPECT_EQ(all().back().problem, "1");  // newest last: the oldest are dropped first
  EXPECT_EQ(ridge::wisdom::find("fingerprint", "toy", "1")->seconds, 0.25);
}

TEST_F(Wisdom, EntriesHaveAnAgeAndKeepTheirPins) {
  const auto before = std::time(nullptr);
  remember(entry("1"));
  EXPECT_GE(all().front().measured_at, before);
  EXPECT_LE(all().front().measured_at, std::time(nullptr));
  EXPECT_EQ(ridge::wisdom::pin("1", "another"), 1u);
  remember(entry("1", 0.125));
  ASSERT_THAT(all(), SizeIs(1));
  EXPECT_THAT(text(), AllOf(HasSubstr("\"pinned\":true"), HasSubstr("\"winner\":\"another\"")));
  const auto pinned = ridge::wisdom::find("fingerprint", "toy", "1");
  EXPECT_EQ(pinned->winner, "another");
  EXPECT_EQ(pinned->seconds, 0);  // not measured
  EXPECT_EQ(pinned->measured_at, 0);
  EXPECT_EQ(ridge::wisdom::unpin("2"), 0u);
  EXPECT_EQ(ridge::wisdom::unpin("1"), 1u);
  remember(entry("1", 0.125));
  EXPECT_EQ(ridge::wisdom::find("fingerprint", "toy", "1")->seconds, 0.125);
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

TEST_F(Wisdom, IsReadByAnotherProcess) {
  remember(entry("1", 0.125));
  const pid_t child = ::fork();
  if (child == 0) {
    remember(entry("2"));
    ::_exit(knows("1") && knows("2") ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(knows("2"));  // the parent notices that the file has changed
  EXPECT_TRUE(knows("1"));
}

TEST_F(Wisdom, IsReadAgainOnlyWhenTheFileHasChanged) {
  remember(entry("1"));
  ASSERT_TRUE(knows("1"));
  // The same length, inode and time: stat() shows no difference.
  struct stat before {};
  ASSERT_EQ(::stat(file_.c_str(), &before), 0);
  std::string changed = text();
  const auto at = changed.find("\"problem\":\"1\"");
  ASSERT_NE(at, std::string::npos);
  changed[at + 11] = '2';
  write(changed);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file_.c_str(), times, 0), 0);
  EXPECT_TRUE(knows("1"));
  EXPECT_FALSE(knows("2"));
  fs::last_write_time(file_, fs::last_write_time(file_) + std::chrono::seconds(2));
  EXPECT_FALSE(knows("1"));
  EXPECT_TRUE(knows("2"));
  fs::remove(file_);
  EXPECT_FALSE(knows("2"));
}

TEST_F(Wisdom, OfAnotherVersionIsKeptButNotUsed) {
  remember(entry("1"));
  std::string other = text();
  const auto at = other.find("\"version\":\"");
  ASSERT_NE(at, std::string::npos);
  other.insert(at + 11, "9.");
  write(other);
  EXPECT_FALSE(knows("1"));
  EXPECT_THAT(all(), SizeIs(1));
  remember(entry("1"));
  EXPECT_TRUE(knows("1"));
  EXPECT_THAT(all(), SizeIs(2));
}

TEST_F(Wisdom, NamesWithQuotesControlsAndInvalidUtf8) {
  remember({"toy", "a \"quoted\"\n\\ problem", "dev", "finger\"print", "w", 1});
  EXPECT_TRUE(ridge::wisdom::find("finger\"print", "toy", "a \"quoted\"\n\\ problem"));
  remember({"toy", "odd", "d\xff\xfe", "f", "w", 1});
  write(text() + " ");  // read again
  EXPECT_TRUE(ridge::wisdom::find("f", "toy", "odd"));
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

// --- forgetting -----------------------------------------------------------------------------------------------------

TEST_F(Wisdom, ForgetsAWorkloadOrEverything) {
  EXPECT_EQ(forget(), 0u);
  EXPECT_FALSE(fs::exists(file_));
  remember(entry("1", 1, "toy"));
  remember(entry("2", 1, "toy"));
  remember(entry("3", 1, "other"));
  EXPECT_EQ(forget("nothing"), 0u);
  EXPECT_EQ(forget("toy"), 2u);
  EXPECT_FALSE(knows("1"));
  EXPECT_TRUE(ridge::wisdom::find("fingerprint", "other", "3"));
  EXPECT_EQ(forget(), 1u);
  EXPECT_THAT(all(), IsEmpty());
  fs::last_write_time(file_, fs::last_write_time(file_) + std::chrono::seconds(2));
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

TEST_F(Wisdom, ForgettingRepairsADamagedFileOfTheCacheFolder) {
  const ScopedEnvironment none("RIDGE_WISDOM", "");
  const ScopedEnvironment cache("RIDGE_CACHE_DIR", folder_.path());
  write("{{{");
  EXPECT_EQ(forget(), 0u);
  EXPECT_THAT(warnings_.messages, SizeIs(1));
  EXPECT_NO_THROW(ridge::base::parse_json(text()));
}

// --- files that are not wisdom --------------------------------------------------------------------------------------

struct Hostile {
  const char* name;
  std::string text;
};
std::vector<Hostile> hostile_files() {
  std::string real = ridge::wisdom::to_text({{entry("1"), "0.1.0"}, {entry("2"), "0.1.0"}});
  std::string many = R"({"ridge wisdom": 1, "entries": [)";
  for (int i = 0; i < 1'100'000; ++i) many += "0,";
  many.back() = ']';
  std::string random(4096, ' ');
  std::mt19937 generator(1);
  for (char& c : random) c = static_cast<char>(generator());
  return {{"Empty", ""},
          {"Blank", " \n"},
          {"Truncated", real.substr(0, real.size() / 2)},
          {"OneByteShort", real.substr(0, real.size() - 3)},
          {"Twice", real + real},
          {"Zeros", std::string(4096, '\0')},
          {"Random", random},
          {"Null", "null"},
          {"Number", "3"},
          {"List", "[]"},
          {"NoSchema", R"({"entries": []})"},
          {"NoEntries", R"({"ridge wisdom": 1})"},
          {"OtherSchema", R"({"ridge wisdom": 2, "entries": []})"},
          {"SchemaOfText", R"({"ridge wisdom": "1", "entries": []})"},
          {"HugeSchema", R"({"ridge wisdom": 1e300, "entries": []})"},
          {"EntriesAnObject", R"({"ridge wisdom": 1, "entries": {"a": 1}})"},
          {"Foreign", R"({"hardware": "x", "devices": [{"id": "host"}]})"},
          {"NotANumber", R"({"ridge wisdom": NaN, "entries": []})"},
          {"Overflow", R"({"ridge wisdom": 1, "entries": [1e999]})"},
          {"Deep", R"({"ridge wisdom": 1, "entries": )" + std::string(1'000'000, '[')},
          {"Many", many + "}"},
          {"Huge", R"({"ridge wisdom": 1, "entries": []})" + std::string(17u << 20, ' ')}};
}

TEST_F(Wisdom, HostileFilesOfTheCacheFolderAreAWarningAndAreRebuilt) {
  const ScopedEnvironment none("RIDGE_WISDOM", "");
  const ScopedEnvironment cache("RIDGE_CACHE_DIR", folder_.path());
  ASSERT_EQ(ridge::wisdom::path(), file_);
  for (const Hostile& hostile : hostile_files()) {
    SCOPED_TRACE(hostile.name);
    fs::remove(file_);
    write(hostile.text);
    warnings_.messages.clear();
    EXPECT_FALSE(knows("1"));
    EXPECT_THAT(all(), IsEmpty());
    EXPECT_THAT(warnings_.messages, SizeIs(1));  // once, although it was read twice
    if (!warnings_.messages.empty()) {
      EXPECT_THAT(warnings_.messages[0], HasSubstr("wisdom.json"));
      EXPECT_LT(warnings_.messages[0].size(), 600u);
    }
    remember(entry("rebuilt"));
    EXPECT_TRUE(knows("rebuilt"));
    EXPECT_THAT(warnings_.messages, SizeIs(1));
    fs::last_write_time(file_, fs::last_write_time(file_) + std::chrono::seconds(2));  // forces reading from the file
    EXPECT_THAT(all(), SizeIs(1));
    EXPECT_THAT(warnings_.messages, SizeIs(1));
  }
}

TEST_F(Wisdom, HostileFilesThatTheUserNamedAreKept) {
  for (const Hostile& hostile : hostile_files()) {
    if (hostile.text.empty()) continue;  // an empty file is filled
    SCOPED_TRACE(hostile.name);
    fs::remove(file_);
    write(hostile.text);
    warnings_.messages.clear();
    remember(entry("found"));
    EXPECT_TRUE(knows("found")) << "until the process ends";
    ASSERT_THAT(warnings_.messages, SizeIs(2));
    EXPECT_THAT(warnings_.messages[1], AllOf(HasSubstr("wisdom is not saved"), HasSubstr("not overwritten")));
    EXPECT_THROW(forget(""), Error);
    EXPECT_EQ(ridge::base::read_file(file_, 64u << 20).value_or(""), hostile.text);
  }
}

TEST_F(Wisdom, ImpossibleEntriesAreOmitted) {
  const std::string good = R"("workload":"toy","problem":"good","winner":"w","device":"d","fingerprint":"fingerprint")";
  const std::string bare = R"("workload":"toy","problem":"bad","winner":"w","device":"d","fingerprint":"fingerprint")";
  const std::vector<std::string> bad = {
      "{" + bare + R"(,"seconds":-1,"version":"v"})",
      "{" + bare + R"(,"seconds":0,"version":"v"})",
      "{" + bare + R"(,"seconds":1e300,"version":"v"})",
      "{" + bare + R"(,"seconds":"1","version":"v"})",
      "{" + bare + R"(,"seconds":null,"version":"v"})",
      "{" + bare + R"(,"version":"v"})",
      "{" + bare + R"(,"seconds":1})",
      "{" + bare + R"(,"seconds":1,"version":7})",
      R"({"workload":"toy","problem":"bad","winner":"","device":"d","fingerprint":"f","seconds":1,"version":"v"})",
      R"({"workload":"toy","problem":")" + std::string(5000, 'p') +
          R"(","winner":"w","device":"d","fingerprint":"f","seconds":1,"version":"v"})",
      "null",
      "[]",
      "3"};
  std::string file = R"({"ridge wisdom":1,"comment":"more fields do no harm","entries":[)";
  for (const auto& line : bad) file += line + ",";
  write(file + "{" + good + R"(,"seconds":1,"version":"v","more":true}]})");
  const auto entries = all();
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].problem, "good");
  ASSERT_THAT(warnings_.messages, SizeIs(1));
  EXPECT_THAT(warnings_.messages[0], HasSubstr(std::to_string(bad.size()) + " damaged entries"));
}

TEST_F(Wisdom, AFolderOrAPipeInItsPlace) {
  fs::create_directory(file_);
  EXPECT_FALSE(knows("1"));
  remember(entry("1"));
  EXPECT_TRUE(knows("1"));  // kept in this process
  EXPECT_THAT(warnings_.messages, testing::Contains(HasSubstr("wisdom is not saved")));
  EXPECT_THROW(forget(), Error);
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(knows("1"));
  remember(entry("1"));
  EXPECT_TRUE(knows("1"));
  EXPECT_TRUE(fs::is_fifo(file_));
}

TEST_F(Wisdom, WithoutAnyFolderItLastsAsLongAsTheProcess) {
  write("x");
  const ScopedEnvironment none("RIDGE_WISDOM", std::nullopt);
  const ScopedEnvironment cache("RIDGE_CACHE_DIR", file_);  // a file, so that no folder can be created there
  EXPECT_EQ(ridge::wisdom::path(), "");
  remember(entry("1"));
  EXPECT_TRUE(knows("1"));
  EXPECT_EQ(forget(), 1u);
  EXPECT_FALSE(knows("1"));
}

// --- in memory ------------------------------------------------------------------------------------------------------

TEST_F(Wisdom, InMemoryAreMeasuredAndImportedEntries) {
  using ridge::wisdom::Rigor;
  write(ridge::wisdom::to_text({{entry("old"), ridge::wisdom::this_version()}}));
  ridge::wisdom::forget_in_memory();
  EXPECT_TRUE(knows("old"));
  const std::string nothing = ridge::wisdom::export_text();
  EXPECT_EQ(ridge::wisdom::import_text(nothing), 0u);
  remember(entry("new", 0.25));
  ridge::wisdom::gather(entry("guess"), Rigor::estimated);
  ridge::wisdom::gather(entry("sure"), Rigor::patient);
  ridge::wisdom::gather(entry("sure"), Rigor::estimated);  // ignored: a measured entry exists
  const auto rigor = [](const char* problem) { return ridge::wisdom::rigor_in_memory("fingerprint", "toy", problem); };
  EXPECT_EQ(rigor("new"), Rigor::measured);
  EXPECT_EQ(rigor("guess"), Rigor::estimated);
  EXPECT_EQ(rigor("sure"), Rigor::patient);
  EXPECT_EQ(rigor("old"), std::nullopt);
  EXPECT_FALSE(knows("guess"));
  EXPECT_FALSE(knows("sure"));  // gathered entries are for export, not for planning
  const std::string text = ridge::wisdom::export_text();

  EXPECT_EQ(ridge::wisdom::forget_in_memory(), 3u);
  EXPECT_EQ(rigor("new"), std::nullopt);
  EXPECT_TRUE(knows("new"));  // the entry in the file is kept
  fs::remove(file_);
  EXPECT_FALSE(knows("new"));
  EXPECT_EQ(ridge::wisdom::import_text(text + ") and whatever follows {"), 3u);
  EXPECT_TRUE(knows("new"));
  EXPECT_TRUE(knows("sure"));
  EXPECT_FALSE(knows("guess"));  // not measured
  EXPECT_EQ(rigor("guess"), Rigor::estimated);
  EXPECT_EQ(ridge::wisdom::find("fingerprint", "toy", "new")->seconds, 0.25);
  EXPECT_EQ(ridge::wisdom::export_text(), text);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(forget("toy"), 0u);  // none in the file; also clears the memory
  EXPECT_FALSE(knows("new"));
  EXPECT_EQ(ridge::wisdom::export_text(), nothing);
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

TEST_F(Wisdom, InvalidTextIsRefusedAsAWhole) {
  ridge::wisdom::forget_in_memory();
  const std::string nothing = ridge::wisdom::export_text();
  for (const char* text : {"", "(fftw-3.3.10 fftw_wisdom #x0 #x0 #x0 #x0\n)", "{", "{}", "[]", "\"",
                           "{\"ridge wisdom\": 1}", "}", "{\"ridge wisdom\": 1, \"entries\": [}"}) {
    EXPECT_THROW(ridge::wisdom::import_text(text), Error) << text;
  }
  EXPECT_EQ(ridge::wisdom::export_text(), nothing);
  Stored other{entry("1"), "another version"};
  EXPECT_EQ(ridge::wisdom::import_text(ridge::wisdom::to_text({other})), 1u);
  EXPECT_FALSE(knows("1"));
  std::string strange =
      ridge::wisdom::to_text({{entry("2"), ridge::wisdom::this_version(), ridge::wisdom::Rigor::patient}});
  strange.replace(strange.find("patient"), 7, "reckles");
  EXPECT_EQ(ridge::wisdom::import_text(strange), 0u);
  ridge::wisdom::forget_in_memory();
}

// --- bounds ---------------------------------------------------------------------------------------------------------

TEST_F(Wisdom, TheOldestAreDropped) {
  std::vector<Stored> full;
  for (std::size_t i = 0; i < kMostEntries; ++i) full.push_back({entry(std::to_string(i)), "v"});
  write(ridge::wisdom::to_text(full));
  ASSERT_THAT(all(), SizeIs(kMostEntries));
  EXPECT_EQ(all().front().problem, "0");
  remember(entry("new"));
  const auto entries = all();
  ASSERT_THAT(entries, SizeIs(kMostEntries));
  EXPECT_EQ(entries.front().problem, "1");
  EXPECT_EQ(entries.back().problem, "new");
  EXPECT_THAT(warnings_.messages, IsEmpty());
}

TEST_F(Wisdom, WrittenFilesCanBeReadBack) {
  std::vector<Stored> large;  // more bytes than a file may have
  for (std::size_t i = 0; i < 5000; ++i)
    large.push_back({{"toy", std::to_string(i) + std::string(4000, 'p'), "d", "f", "w", 1}, "v"});
  const std::string file = ridge::wisdom::to_text(large);
  ASSERT_LE(file.size(), ridge::wisdom::kBounds.bytes);
  std::size_t skipped = 0;
  const auto back = ridge::wisdom::from_json(ridge::base::parse_json(file, ridge::wisdom::kBounds), skipped);
  EXPECT_EQ(skipped, 0u);
  EXPECT_GT(back.size(), 3000u);
  EXPECT_EQ(back.back().entry.problem, large.back().entry.problem);  // the newest are kept
}

// --- several at once ------------------------------------------------------------------------------------------------

TEST_F(Wisdom, ConcurrentWritersLoseNothing) {
  constexpr int each = 200;
  pid_t children[2];
  for (int c = 0; c < 2; ++c) {
    children[c] = ::fork();
    if (children[c] == 0) {
      for (int i = 0; i < each; ++i) remember(entry(std::to_string(c * each + i)));
      ::_exit(warnings_.messages.empty() ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> problems;
  for (const Entry& one : all()) problems.insert(one.problem);
  EXPECT_THAT(problems, SizeIs(2 * each));
  EXPECT_THAT(warnings_.messages, IsEmpty());
  EXPECT_THAT(folder_.names(),
              testing::UnorderedElementsAre("wisdom.json", "wisdom.json.lock", "wisdom.json.lock-next"));
}

TEST_F(Wisdom, ThreadsReadingAndWritingAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        remember(entry(std::to_string(t * 10 + i)));
        EXPECT_TRUE(knows(std::to_string(t * 10 + i)));
        EXPECT_GE(all().size(), 1u);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(all(), SizeIs(40));
}

TEST_F(Wisdom, AKilledWriterLeavesTheOldOrTheNewFile) {
  remember(entry("first"));
  std::mt19937 generator(7);
  std::uniform_int_distribution<int> microseconds(0, 20'000);
  std::size_t known = 1;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i) remember(entry(std::to_string(round) + "." + std::to_string(i)));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(generator)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::size_t now = all().size();
    EXPECT_GE(now, known);  // no saved entry is lost
    known = now;
    ASSERT_THAT(warnings_.messages, IsEmpty());
  }
  EXPECT_GT(known, 1u);
  remember(entry("last"));  // the dead process's lock is free
  EXPECT_THAT(all(), SizeIs(known + 1));
  EXPECT_THAT(warnings_.messages, IsEmpty());
  for (const std::string& name : folder_.names())
    EXPECT_TRUE(name.starts_with(".tmp-") || name.starts_with("wisdom.json")) << name;
}

}  // namespace

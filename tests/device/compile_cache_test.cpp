// The cache of compiled kernels: keys, damaged files, size limit.
#include "device/compile_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/files.hpp"
#include "device/opencl_support.hpp"

namespace ridge::detail {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string key_of(const std::string& source) { return compile_key("device", "compiler 1.0", "-O", source); }

std::string bytes_of(const fs::path& path) { return base::read_file(path, 1 << 20).value(); }

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(CompileCache, FindsWhatWasStoredAndNothingElse) {
  const test::FreshCache cache;
  const std::string binary("\0binary\n\xff", 9);
  EXPECT_EQ(find_compiled(key_of("a")), std::nullopt);
  store_compiled(key_of("a"), binary);
  store_compiled(key_of("empty"), "");
  EXPECT_EQ(find_compiled(key_of("a")), binary);
  EXPECT_EQ(find_compiled(key_of("empty")), "");
  EXPECT_EQ(find_compiled(key_of("b")), std::nullopt);
  store_compiled(key_of("a"), "newer");
  EXPECT_EQ(find_compiled(key_of("a")), "newer");
}

TEST(CompileCache, EveryPartOfTheKeyCounts) {
  const std::string key = compile_key("d", "c", "o", "s");
  EXPECT_NE(key, compile_key("x", "c", "o", "s"));
  EXPECT_NE(key, compile_key("d", "x", "o", "s"));
  EXPECT_NE(key, compile_key("d", "c", "x", "s"));
  EXPECT_NE(key, compile_key("d", "c", "o", "x"));
  EXPECT_NE(compile_key("ab", "c", "", ""), compile_key("a", "bc", "", ""));
  EXPECT_NE(compile_key("a\n1:b", "", "", ""), compile_key("a", "b", "", ""));
}

TEST(CompileCache, CanBeSwitchedOff) {
  const test::FreshCache cache;
  store_compiled(key_of("a"), "binary");
  const test::ScopedEnvironment off("RIDGE_COMPILE_CACHE", "off");
  EXPECT_EQ(find_compiled(key_of("a")), std::nullopt);
  store_compiled(key_of("b"), "binary");
  EXPECT_EQ(cache.files().size(), 1u);
}

TEST(CompileCache, AReadOnlyFolderIsNotAnError) {
  const test::FreshCache cache;
  overwrite(cache.kernels(), "a file where the folder should be");
  store_compiled(key_of("a"), "binary");
  EXPECT_EQ(find_compiled(key_of("a")), std::nullopt);
}

TEST(CompileCache, IsForThisUserOnly) {
  const test::FreshCache cache;
  store_compiled(key_of("a"), "binary");
  EXPECT_EQ(fs::status(cache.kernels()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(cache.files().front()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(CompileCache, FilesThatOthersMayWriteAreNotUsed) {
  const test::FreshCache cache;
  const test::Warnings warnings;
  const auto find = [] { return find_compiled(key_of("a")); };
  store_compiled(key_of("a"), "binary");
  const fs::path file = cache.files().front(), outer = cache.kernels().parent_path();
  const auto add = fs::perm_options::add;
  for (const fs::perms open : {fs::perms::group_write, fs::perms::others_write}) {
    for (const fs::path& folder : {outer, cache.kernels()}) {
      fs::permissions(folder, open, add);
      EXPECT_EQ(find(), std::nullopt);
      store_compiled(key_of("b"), "binary");
      fs::permissions(folder, open, fs::perm_options::remove);
      ASSERT_FALSE(warnings.messages.empty());
      EXPECT_THAT(warnings.messages.back(), testing::AllOf(HasSubstr(folder.string()), HasSubstr("others may write")));
    }
    EXPECT_EQ(find(), "binary");
    EXPECT_EQ(find_compiled(key_of("b")), std::nullopt);
    fs::permissions(file, open, add);
    EXPECT_EQ(find(), std::nullopt);
    EXPECT_THAT(warnings.messages.back(), testing::AllOf(HasSubstr(file.string()), HasSubstr("others may write")));
    store_compiled(key_of("a"), "binary");
    EXPECT_EQ(find(), "binary");
  }
  const fs::path elsewhere = outer / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(find(), std::nullopt);
}

TEST(CompileCache, FilesOfAnotherUserAreNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t nobody = 65534;
  const test::FreshCache cache;
  const test::Warnings warnings;
  const auto find = [] { return find_compiled(key_of("a")); };
  for (const fs::path& path : {cache.kernels().parent_path(), cache.kernels(), fs::path()}) {
    store_compiled(key_of("a"), "binary");
    ASSERT_EQ(find(), "binary");
    const std::size_t said = warnings.messages.size();
    const fs::path given = path.empty() ? cache.files().front() : path;
    ASSERT_EQ(::chown(given.c_str(), nobody, nobody), 0);
    EXPECT_EQ(find(), std::nullopt);
    ASSERT_EQ(warnings.messages.size(), said + 1);
    EXPECT_THAT(warnings.messages.back(), testing::AllOf(HasSubstr(given.string()), HasSubstr("another user")));
    if (!path.empty()) {
      ASSERT_EQ(::chown(given.c_str(), 0, 0), 0);
    }
  }
  EXPECT_TRUE(cache.files().empty());  // such a file is removed
}

// Another key's file under this key's name, as after a hash collision.
TEST(CompileCache, AHashCollisionNeverReturnsTheWrongKernel) {
  const test::FreshCache cache;
  store_compiled(key_of("a"), "binary of a");
  const fs::path a = cache.files().front();
  const std::string bytes = bytes_of(a);
  store_compiled(key_of("b"), "binary of b");
  for (const fs::path& file : cache.files()) overwrite(file, bytes);
  const test::Warnings warnings;
  EXPECT_EQ(find_compiled(key_of("b")), std::nullopt);
  EXPECT_EQ(find_compiled(key_of("a")), "binary of a");
  store_compiled(key_of("b"), "binary of b");
  EXPECT_EQ(find_compiled(key_of("b")), "binary of b");
  EXPECT_THAT(warnings.messages, IsEmpty());
}

TEST(CompileCache, EveryTruncationAndEveryFlippedByteIsNoticed) {
  const test::FreshCache cache;
  store_compiled(key_of("a"), "the binary");
  const fs::path file = cache.files().front();
  const std::string whole = bytes_of(file);
  const auto expect_refused = [&](const std::string& bytes, const std::string& what) {
    overwrite(file, bytes);
    const test::Warnings warnings;
    EXPECT_EQ(find_compiled(key_of("a")), std::nullopt) << what;
    EXPECT_THAT(warnings.messages, ElementsAre(HasSubstr(file.filename().string()))) << what;
    EXPECT_FALSE(fs::exists(file)) << what;
  };
  for (std::size_t length = 0; length < whole.size(); ++length) {
    expect_refused(whole.substr(0, length), "cut to " + std::to_string(length));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    expect_refused(bytes, "byte " + std::to_string(at));
  }
  expect_refused(whole + "x", "one more byte");
  expect_refused("RIDGEKRN" + std::string("\1\0\0\0\0\0\0\0", 8) + std::string(8, '\xff'), "a huge key");
  overwrite(file, whole);
  EXPECT_EQ(find_compiled(key_of("a")), "the binary");
}

TEST(CompileCache, AnEnormousFileIsNotRead) {
  const test::FreshCache cache;
  store_compiled(key_of("a"), "the binary");
  fs::resize_file(cache.files().front(), std::uintmax_t{1} << 36);  // sparse
  const test::Warnings warnings;
  EXPECT_EQ(find_compiled(key_of("a")), std::nullopt);
  EXPECT_EQ(warnings.messages.size(), 1u);
  EXPECT_THAT(cache.files(), IsEmpty());
}

TEST(CompileCache, TheFolderStaysBoundedAndKeepsRecentlyUsedFiles) {
  const test::FreshCache cache;
  store_compiled(key_of("used"), "binary");
  const fs::path used = cache.files().front();
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(used, now - std::chrono::hours(48));
  // Sparse files: 5 x 60 MiB, oldest first.
  for (int i = 0; i < 5; ++i) {
    const fs::path path = cache.kernels() / ("000000000000000" + std::to_string(i) + ".kernel");
    overwrite(path, "old");
    fs::resize_file(path, std::uintmax_t{60} << 20);
    fs::last_write_time(path, now - std::chrono::hours(24 - i));
  }
  overwrite(cache.kernels() / "notes.txt", "a user's own");
  EXPECT_EQ(find_compiled(key_of("used")), "binary");  // updates its time of use
  store_compiled(key_of("new"), "binary");
  EXPECT_FALSE(fs::exists(cache.kernels() / "0000000000000000.kernel"));
  EXPECT_TRUE(fs::exists(cache.kernels() / "0000000000000001.kernel"));
  EXPECT_TRUE(fs::exists(cache.kernels() / "notes.txt"));
  EXPECT_EQ(find_compiled(key_of("used")), "binary");
  EXPECT_EQ(find_compiled(key_of("new")), "binary");
}

TEST(CompileCache, ManyThreadsShareIt) {
  const test::FreshCache cache;
  const test::Warnings warnings;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const std::string source = std::to_string(i % 5);
        const std::string binary(1000 + static_cast<std::size_t>(i % 5), 'b');
        store_compiled(key_of(source), binary);
        const auto found = find_compiled(key_of(source));
        if (found && *found != binary) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(warnings.messages, IsEmpty());
  EXPECT_EQ(cache.files().size(), 5u);
}

}  // namespace
}  // namespace ridge::detail

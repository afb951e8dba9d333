// Headers of .npy files: round trips, pipes, truncation and damage.
#include "io/arrays/npy.hpp"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <ridge/error.hpp>
#include <thread>

#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

using test::error_of;
using testing::HasSubstr;
using Shape = std::vector<std::size_t>;

class Npy : public testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    const auto path = folder_ / fmt_name();
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  NpyHeader header_of(const std::string& bytes) {
    InputStream in(file(bytes));
    return read_npy_header(in);
  }
  static std::string elements(std::size_t bytes) { return std::string(bytes, 'x'); }
  test::ScratchFolder folder_;

 private:
  std::string fmt_name() { return "file" + std::to_string(++count_) + ".npy"; }
  int count_ = 0;
};

TEST_F(Npy, ReadsWhatItWrites) {
  for (const ElementType type :
       {ElementType::int8, ElementType::uint8, ElementType::int16, ElementType::uint16, ElementType::int32,
        ElementType::float32, ElementType::float64, ElementType::complex64, ElementType::complex128}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4}, Shape{2, 3, 0}}) {
      const std::string bytes = npy_header({type, shape});
      EXPECT_EQ(bytes.size() % 64, 0u);
      std::size_t points = 1;
      for (const std::size_t axis : shape) points *= axis;
      const NpyHeader header = header_of(bytes + elements(points * bytes_of(type)));
      EXPECT_EQ(header.type, type);
      EXPECT_EQ(header.shape, shape);
    }
  }
  EXPECT_EQ(npy_header({ElementType::int8, {1}}, 500).size(), 512u);
}

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const std::string dictionary = "{'descr': '<c8', 'fortran_order': False, 'shape': (1024, 3), }          \n";
  std::string bytes = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary;
  NpyHeader header = header_of(bytes + elements(3072 * 8));
  EXPECT_EQ(header.type, ElementType::complex64);
  EXPECT_EQ(header.shape, (Shape{1024, 3}));
  EXPECT_EQ(header.elements(), 3072u);
  bytes = std::string("\x93NUMPY\x02\0", 8) + static_cast<char>(dictionary.size()) + std::string(3, '\0') + dictionary;
  EXPECT_EQ(header_of(bytes + elements(3072 * 8)).shape, (Shape{1024, 3}));
  EXPECT_EQ(parse_npy_dictionary("{\"shape\":(7,),\"descr\":\"|i1\",\"fortran_order\":True}", "x").shape, (Shape{7}));
}

TEST_F(Npy, NamesTheFaultOfAHeader) {
  const auto complaint = [](const std::string& text) {
    return error_of([&] { parse_npy_dictionary(text, "data.npy"); });
  };
  EXPECT_THAT(complaint("{'descr': '>f8', 'fortran_order': False, 'shape': (4,)}"), HasSubstr("other byte order"));
  EXPECT_THAT(complaint("{'descr': '<i8', 'fortran_order': False, 'shape': (4,)}"), HasSubstr("'<i8'"));
  EXPECT_THAT(complaint("{'descr': '|O', 'fortran_order': False, 'shape': (4,)}"), HasSubstr("'|O'"));
  EXPECT_THAT(complaint("{'descr': '', 'fortran_order': False, 'shape': (4,)}"), HasSubstr("type ''"));
  EXPECT_THAT(complaint("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,)}"), HasSubstr("records"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 2)}"), HasSubstr("Fortran"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,)}"), HasSubstr("neither True"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'shape': (4,)}"), HasSubstr("'fortran_order' is missing"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("'shape' is missing"));
  EXPECT_THAT(complaint("{'fortran_order': False, 'shape': (4,)}"), HasSubstr("'descr' is missing"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (4,)}"), HasSubstr("twice"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}"), HasSubstr("not a whole number"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 5"), HasSubstr("expected"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x"), HasSubstr("follows"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
              HasSubstr("exceeds the address space"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
              HasSubstr("exceeds the address space"));
  std::string axes;
  for (std::size_t i = 0; i <= kMaxNpyAxes; ++i) axes += "1,";
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (" + axes + ")}"), HasSubstr("axes"));
  EXPECT_THAT(complaint("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}x"), HasSubstr("data.npy"));
}

TEST_F(Npy, EveryTruncationIsNoticed) {
  const std::string whole = npy_header({ElementType::float64, {12}}) + elements(96);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(error_of([&] { header_of(whole.substr(0, length)); }), "") << length;
  }
  EXPECT_EQ(error_of([&] { header_of(whole); }), "");
  EXPECT_THAT(error_of([&] { header_of(whole.substr(0, whole.size() - 5)); }),
              HasSubstr("its shape (12) of float64 asks for 96 bytes, and it ends 5 bytes early"));
  EXPECT_THAT(error_of([&] { header_of(whole + "x"); }), HasSubstr("continues after them"));
}

// The length of a pipe is unknown before its end.
TEST_F(Npy, APipeOfAnotherLengthIsNoticedWhenItIsRead) {
  const auto reading = [&](const std::string& bytes, std::size_t each) {
    const std::string name = (folder_ / "pipe").string();
    std::filesystem::remove(name);
    EXPECT_EQ(::mkfifo(name.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(name, std::ios::binary) << bytes; });
    const std::string said = error_of([&] {
      InputStream in(name);
      read_npy_header(in);
      std::vector<char> piece(each);
      while (in.read(piece.data(), each) == each) continue;
    });
    writer.join();
    return said;
  };
  const std::string whole = npy_header({ElementType::float64, {12}}) + elements(96);
  for (const std::size_t each : {1u, 7u, 32u, 96u, 1000u}) {
    EXPECT_EQ(reading(whole, each), "") << each;
    EXPECT_THAT(reading(whole.substr(0, whole.size() - 32), each), HasSubstr("ends 32 bytes early")) << each;
    EXPECT_THAT(reading(whole + "x", each), HasSubstr("continues after")) << each;
  }
}

TEST_F(Npy, MemoryGrowsWithWhatComes) {
  const std::string path = file("abc");
  InputStream in(path);
  std::vector<std::byte> to;
  EXPECT_EQ(in.read_growing(to, std::size_t{1} << 50), 3u);
  EXPECT_EQ(to.size(), 3u);
  const std::string long_one(5 << 20, 'y');
  InputStream more(file(long_one));
  EXPECT_EQ(more.read_growing(to, (5 << 20) - 1), (5u << 20) - 1);
  EXPECT_EQ(more.read_growing(to, 100), 1u);
  EXPECT_EQ(to, std::vector<std::byte>(1, std::byte{'y'}));
}

TEST_F(Npy, AWrongHeaderLengthAllocatesNoMemory) {
  const std::string bytes = std::string("\x93NUMPY\x02\0", 8) + "\xff\xff\xff\x7f{";
  EXPECT_THAT(error_of([&] { header_of(bytes); }), HasSubstr("at most"));
  EXPECT_THAT(error_of([&] { header_of(std::string("\x93NUMPY\x09\0", 8) + "ab"); }), HasSubstr("version 9.0"));
}

TEST_F(Npy, BytesFlippedAnywhereNeverDoHarm) {
  const std::string whole = npy_header({ElementType::complex64, {12, 34}});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 4, 0x20, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        EXPECT_LE(header_of(damaged).shape.size(), kMaxNpyAxes);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
      }
    }
  }
}

TEST_F(Npy, AnOutputThatIsNotFinishedLeavesNothing) {
  const std::string path = (folder_ / "out.bin").string();
  {
    OutputStream out(path);
    out.write("abc", 3);
  }
  EXPECT_TRUE(folder_.names().empty());
  {
    OutputStream out(path);
    out.write("abc", 3);
    out.rewrite_start("x");
    out.finish();
  }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"out.bin"});
  InputStream in(path);
  EXPECT_EQ(in.remaining(), 3u);
  EXPECT_EQ(in.peek(2), "xb");
  EXPECT_EQ(in.remaining(), 3u);
  char bytes[8] = {};
  EXPECT_EQ(in.read(bytes, 8), 3u);
  EXPECT_STREQ(bytes, "xbc");
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_THAT(error_of([] { InputStream("/no/such/file"); }), HasSubstr("/no/such/file"));
  EXPECT_THAT(error_of([] { OutputStream("/no/such/folder/file"); }), HasSubstr("/no/such/folder"));
  EXPECT_THAT(error_of([&] { InputStream(folder_.path().string()); }), HasSubstr("folder"));
}

}  // namespace
}  // namespace ridge::io

// VTK files: base64, fields, and lists of a series.
#include "io/arrays/vtk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <fmt/format.h>

#include "io/encoding.hpp"
#include "io/grid_support.hpp"
#include "support/scratch.hpp"

namespace ridge::io {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::error_of;
using test::MemoryGrid;
using testing::HasSubstr;

std::string attribute(const std::string& text, const std::string& name, std::size_t from = 0) {
  const std::size_t at = text.find(name + "=\"", from);
  if (at == std::string::npos) return "(none)";
  const std::size_t start = at + name.size() + 2;
  return text.substr(start, text.find('"', start) - start);
}

std::string decoded(const std::string& letters) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char letter : letters) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<unsigned>(alphabet.find(letter));
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return bytes;
}

// Reads a field of a .vti file as the format defines: by the offset of its DataArray after the underscore.
template <class T>
std::vector<T> field_of(const std::string& file, const std::string& name) {
  const std::size_t array = file.find("Name=\"" + name + "\"");
  EXPECT_NE(array, std::string::npos);
  const std::size_t offset = std::stoul(attribute(file, "offset", array));
  const std::size_t appended = file.find("<AppendedData");
  const std::size_t start = file.find('_', appended) + 1 + offset;
  const bool raw = attribute(file, "encoding", appended) == "raw";
  const std::string bytes = raw ? file.substr(start) : decoded(file.substr(start, file.find('=', start) - start));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_LE(8 + length, bytes.size());
  std::vector<T> values(length / sizeof(T));
  std::memcpy(values.data(), bytes.data() + 8, length);
  return values;
}

TEST(Base64, KnownValues) {
  for (const auto& [bytes, letters] : {std::pair<std::string, std::string>{"", ""},
                                       {"f", "Zg=="},
                                       {"fo", "Zm8="},
                                       {"foo", "Zm9v"},
                                       {"foob", "Zm9vYg=="},
                                       {"foobar", "Zm9vYmFy"}}) {  // RFC 4648
    Base64 whole, pieces;
    // In two statements: the operands of one + may be evaluated in either order.
    std::string text = whole.add(bytes.data(), bytes.size());
    text += whole.finish();
    EXPECT_EQ(text, letters);
    text.clear();
    for (const char byte : bytes) text += pieces.add(&byte, 1);
    text += pieces.finish();
    EXPECT_EQ(text, letters);
  }
}

class Vtk : public testing::Test {
 protected:
  test::ScratchFolder folder_;
};

TEST_F(Vtk, HoldsEveryField) {
  const MemoryGrid<float> plane({7, 5}, {"temperature", "a<b"});
  for (const VtkEncoding encoding : {VtkEncoding::raw, VtkEncoding::base64}) {
    GridSource source = plane.source();
    source.spacing = {0.5, 0.25, 1};
    write_vti(folder_ / "plane.vti", source, encoding);
    const std::string file = contents(folder_ / "plane.vti");
    EXPECT_EQ(attribute(file, "WholeExtent"), "0 4 0 6 0 0");  // x first
    EXPECT_EQ(attribute(file, "Spacing"), "0.25 0.5 1");
    EXPECT_EQ(attribute(file, "Origin"), "0.125 0.25 0");
    EXPECT_EQ(attribute(file, "header_type"), "UInt64");
    EXPECT_THAT(file, HasSubstr("<DataArray type=\"Float32\" Name=\"temperature\""));
    EXPECT_EQ(field_of<float>(file, "temperature"), plane.fields[0]);
    EXPECT_EQ(field_of<float>(file, "a&lt;b"), plane.fields[1]);
    EXPECT_THAT(file, testing::EndsWith("</AppendedData>\n</VTKFile>\n"));
  }
  const MemoryGrid<double> cube({2, 3, 4}, {"u"});
  write_vti(folder_ / "cube.vti", cube.source());
  EXPECT_EQ(attribute(contents(folder_ / "cube.vti"), "WholeExtent"), "0 3 0 2 0 1");
  EXPECT_EQ(field_of<double>(contents(folder_ / "cube.vti"), "u"), cube.fields[0]);
  const MemoryGrid<std::int32_t> line({9}, {"alive"});
  write_vti(folder_ / "line.vti", line.source());
  EXPECT_EQ(attribute(contents(folder_ / "line.vti"), "WholeExtent"), "0 8 0 0 0 0");
  EXPECT_THAT(contents(folder_ / "line.vti"), HasSubstr("Int32"));
  EXPECT_EQ(field_of<std::int32_t>(contents(folder_ / "line.vti"), "alive"), line.fields[0]);
}

TEST_F(Vtk, AGridThatCannotBeReadLeavesNoFile) {
  const MemoryGrid<float> plane({7, 5}, {"u"});
  GridSource source = plane.source();
  source.read = [](std::size_t, std::size_t, std::size_t, void*) { throw Error(ErrorKind::device, "gone"); };
  EXPECT_EQ(error_of([&] { write_vti(folder_ / "x.vti", source); }, ErrorKind::device), "gone");
  source.shape = {};
  EXPECT_NE(error_of([&] { write_vti(folder_ / "x.vti", source); }, ErrorKind::invalid_argument), "");
  source.shape = {3, 0};
  EXPECT_NE(error_of([&] { write_vti(folder_ / "x.vti", source); }, ErrorKind::invalid_argument), "");
  EXPECT_TRUE(folder_.names().empty());
}

// Files named by a list, in order; all of them must exist and be complete.
std::vector<std::string> listed(const fs::path& list) {
  const std::string text = contents(list);
  std::vector<std::string> files;
  for (std::size_t at = text.find("<DataSet"); at != std::string::npos; at = text.find("<DataSet", at + 1)) {
    files.push_back(attribute(text, "file", at));
    EXPECT_THAT(contents(list.parent_path() / files.back()), testing::EndsWith("</VTKFile>\n"));
  }
  return files;
}

TEST_F(Vtk, TheListIsWholeAfterEveryGrid) {
  const MemoryGrid<float> plane({4, 4}, {"u"});
  VtkSeries series(folder_ / "heat.pvd");
  std::vector<std::string> expected;
  for (const std::size_t step : {0, 100, 1000000}) {
    series.add(step, 0.5 * static_cast<double>(step), plane.source());
    expected.push_back(fmt::format("heat_{:06}.vti", step));
    EXPECT_EQ(listed(folder_ / "heat.pvd"), expected);
  }
  EXPECT_THAT(contents(folder_ / "heat.pvd"), HasSubstr("timestep=\"500000\""));
}

TEST_F(Vtk, ResumingDropsWhatCameLater) {
  const MemoryGrid<float> plane({4, 4}, {"u"});
  const fs::path list = folder_ / "he&at.pvd";
  {
    VtkSeries series(list);
    for (const std::size_t step : {0, 10, 20, 30}) series.add(step, 0.1 * static_cast<double>(step), plane.source());
  }
  VtkSeries series(list, 20);
  EXPECT_EQ(series.size(), 3u);
  series.add(25, 2.5, plane.source());
  const std::string text = contents(list);
  EXPECT_THAT(text, HasSubstr("he&amp;at_000025.vti"));
  EXPECT_THAT(text, testing::Not(HasSubstr("000030")));
  EXPECT_THAT(text, HasSubstr("timestep=\"1\""));  // times are kept
  EXPECT_EQ(VtkSeries(list, 1000).size(), 4u);
  EXPECT_EQ(VtkSeries(folder_ / "new.pvd", 7).size(), 0u);
}

TEST_F(Vtk, ForeignListsAreRefused) {
  std::ofstream(folder_ / "a.pvd") << "my notes\n";
  EXPECT_THAT(error_of([&] { VtkSeries(folder_ / "a.pvd", 1); }), HasSubstr("a.pvd: not a ParaView series list"));
  std::ofstream(folder_ / "b.pvd") << "<VTKFile type=\"Collection\">\n<DataSet timestep=\"1\" file=\"../x.vti\"/>\n";
  EXPECT_THAT(error_of([&] { VtkSeries(folder_ / "b.pvd", 1); }), HasSubstr("../x.vti"));
  EXPECT_THAT(error_of([&] { VtkSeries(folder_ / "heat.txt"); }, ErrorKind::invalid_argument), HasSubstr(".pvd"));
}

}  // namespace
}  // namespace ridge::io

// FFTW wisdom survives the drop-in: text written by FFTW is read, kept, written back, and read by FFTW again.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "fftw/drop_in.hpp"

namespace ridge::fftw_test {
namespace {

template <class R>
class Wisdom : public DropIn<R> {
 protected:
  void SetUp() override {
    DropIn<R>::SetUp();
    if (this->IsSkipped()) return;
    this->ours.template call<void>("forget_wisdom");
    this->real.template call<void>("forget_wisdom");
  }
  void TearDown() override {
    if (this->ours.here()) this->ours.template call<void>("forget_wisdom");
  }

  static std::string take(char* text) {
    const std::string result = text == nullptr ? "" : text;
    std::free(text);
    return result;
  }
  static std::string text(const Library<R>& library) {
    return take(library.template call<char*>("export_wisdom_to_string"));
  }
  static int read(const Library<R>& library, const std::string& text) {
    return library.template call<int>("import_wisdom_from_string", text.c_str());
  }
  // True if wisdom alone is enough to plan a complex transform of n points.
  bool knows(const Library<R>& library, int n) {
    void* const plan = library.call("plan_dft_1d", n, data.data(), data.data(), -1, kMeasure | kWisdomOnly);
    library.template call<void>("destroy_plan", plan);
    return plan != nullptr;
  }
  void plan(const Library<R>& library, int n) {
    void* const plan = library.call("plan_dft_1d", n, data.data(), data.data(), -1, kMeasure);
    ASSERT_NE(plan, nullptr);
    library.template call<void>("destroy_plan", plan);
  }
  // The text that FFTW writes after planning n points.
  std::string from_fftw(int n) {
    this->real.template call<void>("forget_wisdom");
    plan(this->real, n);
    const std::string result = text(this->real);
    this->real.template call<void>("forget_wisdom");
    return result;
  }

  std::vector<R> data = std::vector<R>(4096);
};
TYPED_TEST_SUITE(Wisdom, Precisions);

TYPED_TEST(Wisdom, FftwsListsAreWrittenBackUnchanged) {
  const std::string theirs = this->from_fftw(1000);
  ASSERT_EQ(this->read(this->ours, theirs), 1);
  EXPECT_EQ(this->text(this->ours), theirs);
  ASSERT_EQ(this->read(this->ours, theirs), 1);  // programs read it again for each plan
  EXPECT_EQ(this->text(this->ours), theirs);
  this->ours.template call<void>("forget_wisdom");
  EXPECT_EQ(this->text(this->ours).find("fftw-3"), std::string::npos);
}

TYPED_TEST(Wisdom, AnExportWithBothListsIsReadByBothLibraries) {
  ASSERT_EQ(this->read(this->ours, this->from_fftw(1000)), 1);
  this->plan(this->ours, 360);
  const std::string both = this->text(this->ours);

  EXPECT_FALSE(this->knows(this->real, 1000));
  ASSERT_EQ(this->read(this->real, both), 1);
  EXPECT_TRUE(this->knows(this->real, 1000));
  EXPECT_FALSE(this->knows(this->real, 360));

  this->ours.template call<void>("forget_wisdom");
  EXPECT_FALSE(this->knows(this->ours, 360));
  ASSERT_EQ(this->read(this->ours, both), 1);
  EXPECT_TRUE(this->knows(this->ours, 360));
  EXPECT_EQ(this->text(this->ours), both);
}

TYPED_TEST(Wisdom, TwoListsOfFftwAreMerged) {
  const std::string one = this->from_fftw(1000), other = this->from_fftw(1001);
  ASSERT_EQ(this->read(this->ours, one), 1);
  ASSERT_EQ(this->read(this->ours, other), 1);
  ASSERT_EQ(this->read(this->real, this->text(this->ours)), 1);
  EXPECT_TRUE(this->knows(this->real, 1000));
  EXPECT_TRUE(this->knows(this->real, 1001));
}

// FFTW reads only the first list, and only that of its own configuration (for example with threads).
TYPED_TEST(Wisdom, ListsOfOtherConfigurationsAreKept) {
  const std::string theirs = this->from_fftw(1000);
  std::string other = theirs;
  const std::size_t at = other.find("#x") + 2;
  other[at] = other[at] == '1' ? '2' : '1';
  ASSERT_EQ(this->read(this->ours, other), 1);
  ASSERT_EQ(this->read(this->ours, theirs), 1);
  this->plan(this->ours, 360);
  const std::string all = this->text(this->ours);
  EXPECT_NE(all.find(other.substr(0, other.find('\n'))), std::string::npos);
  ASSERT_EQ(this->read(this->real, all), 1);
  EXPECT_TRUE(this->knows(this->real, 1000));
  this->ours.template call<void>("forget_wisdom");
  ASSERT_EQ(this->read(this->ours, all), 1);
  EXPECT_EQ(this->text(this->ours), all);
}

struct Characters {
  std::string text;
  std::size_t at = 0;
};
int read_char(void* data) {
  auto& from = *static_cast<Characters*>(data);
  return from.at < from.text.size() ? static_cast<unsigned char>(from.text[from.at++]) : EOF;
}
void write_char(char c, void* data) { static_cast<Characters*>(data)->text += c; }
void fortran_read_char(int* c, void* data) { *c = read_char(data); }
void fortran_write_char(char* c, void* data) { write_char(*c, data); }

TYPED_TEST(Wisdom, EveryExportAndImportFunctionKeepsBothLists) {
  using R = TypeParam;
  const Library<R>& l = this->ours;
  const std::string theirs = this->from_fftw(1000);
  const std::string file = (std::filesystem::temp_directory_path() / ("wisdom." + std::to_string(getpid()))).string();
  const std::string fortran = std::is_same_v<R, float> ? "sfftw_" : "dfftw_";
  ASSERT_EQ(this->read(l, theirs), 1);
  this->plan(l, 360);
  const std::string both = this->text(l);

  const auto contents = [&] {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  Characters written;
  l.template call<void>("export_wisdom", &write_char, static_cast<void*>(&written));
  EXPECT_EQ(written.text, both);
  written.text.clear();
  reinterpret_cast<void (*)(void (*)(char*, void*), void*)>(l.symbol(fortran + "export_wisdom_"))(&fortran_write_char,
                                                                                                  &written);
  EXPECT_EQ(written.text, both);
  EXPECT_EQ(l.template call<int>("export_wisdom_to_filename", file.c_str()), 1);
  EXPECT_EQ(contents(), both);
  std::FILE* stream = std::fopen(file.c_str(), "w");
  l.template call<void>("export_wisdom_to_file", stream);
  std::fclose(stream);
  EXPECT_EQ(contents(), both);

  const auto reads = [&](const char* which, const std::function<int()>& call) {
    l.template call<void>("forget_wisdom");
    EXPECT_EQ(call(), 1) << which;
    EXPECT_EQ(this->text(l), both) << which;
  };
  // Nothing after the text is read: a program may keep more in the same stream.
  const std::size_t end = both.size() - 1;  // of the last parenthesis
  Characters from{both + "(and more)"};
  reads("import_wisdom", [&] { return l.template call<int>("import_wisdom", &read_char, static_cast<void*>(&from)); });
  EXPECT_EQ(from.at, end);
  from.at = 0;
  reads("Fortran's import_wisdom", [&] {
    int taken = 0;
    reinterpret_cast<void (*)(int*, void (*)(int*, void*), void*)>(l.symbol(fortran + "import_wisdom_"))(
        &taken, &fortran_read_char, &from);
    return taken;
  });
  EXPECT_EQ(from.at, end);
  reads("import_wisdom_from_filename",
        [&] { return l.template call<int>("import_wisdom_from_filename", file.c_str()); });
  reads("import_wisdom_from_file", [&] {
    stream = std::fopen(file.c_str(), "r");
    const int taken = l.template call<int>("import_wisdom_from_file", stream);
    std::fclose(stream);
    return taken;
  });
  std::filesystem::remove(file);
}

TYPED_TEST(Wisdom, TextsThatFftwRefusesAreRefused) {
  const std::string theirs = this->from_fftw(1000);
  std::string other_precision = theirs;
  const bool single = std::is_same_v<TypeParam, float>;
  other_precision.replace(other_precision.find(single ? "fftwf_wisdom" : "fftw_wisdom"), single ? 12 : 11,
                          single ? "fftw_wisdom" : "fftwf_wisdom");
  const std::string cut = theirs.substr(0, theirs.size() - 4);
  for (const std::string& text : {std::string(), std::string("(fftw-3.3.10 fftw_wisdom)"), cut, other_precision,
                                  theirs.substr(1), std::string("((((")}) {
    EXPECT_EQ(this->read(this->real, text), 0) << text;
    EXPECT_EQ(this->read(this->ours, text), 0) << text;
  }
  EXPECT_EQ(this->text(this->ours).find("fftw-3"), std::string::npos);
}

// A newer or damaged list of ours after FFTW's list does not prevent reading FFTW's.
TYPED_TEST(Wisdom, FftwsListsAreKeptBesideUnreadableOnes) {
  const std::string theirs = this->from_fftw(1000);
  const std::string name = std::is_same_v<TypeParam, float> ? "fftwf_wisdom" : "fftw_wisdom";
  const std::string followed = theirs.substr(0, theirs.size() - 2) + "\n)\n";
  const std::string later = followed + "(ridgeline-9 " + name + " 1\n  (x y z)\n)\n";
  ASSERT_EQ(this->read(this->ours, later), 1);
  EXPECT_EQ(this->text(this->ours), later);
  this->ours.template call<void>("forget_wisdom");
  EXPECT_EQ(this->read(this->ours, followed + "(ridgeline-1 " + name + "\n  (not a"), 0);
  EXPECT_EQ(this->text(this->ours), theirs);
}

}  // namespace
}  // namespace ridge::fftw_test

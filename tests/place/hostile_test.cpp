// Input that is wrong, broken or too much: a diagnostic, never a crash.
#include <unistd.h>

#include <cctype>

#include <gtest/gtest.h>

#include "programs.hpp"
#include "reader.hpp"

namespace {

using namespace place_test;

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!available(why)) GTEST_SKIP() << why;
    file_ = std::filesystem::temp_directory_path() / ("ridge_hostile_" + std::to_string(getpid()) + ".cpp");
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }
  ridge::place::Report read(const std::string& text, double seconds = 60) {
    std::ofstream(file_, std::ios::binary) << text;
    ridge::place::Options options;
    options.function = "f";
    options.seconds = seconds;
    return ridge::place::analyze(file_.string(), options);
  }
  std::filesystem::path file_;
};

TEST_F(Hostile, SyntaxErrorHasItsLine) {
  const auto report = read("void f(float* a) {\n  for (int i = 0; i < ; ++i) a[i] = 1;\n}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find(":2:"), std::string::npos) << report.errors[0];
  EXPECT_TRUE(report.placed.empty());
}

TEST_F(Hostile, MissingHeaderIsNamed) {
  const auto report = read("#include \"nowhere.hpp\"\nvoid f() {}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find("nowhere.hpp"), std::string::npos);
}

TEST_F(Hostile, ASubscriptThatOverflowsIsSaid) {
  const auto report = read("void f(float* a, int n) {\n  for (int i = 0; i < n; ++i) a[i * 2147483647] = 1;\n}\n");
  ASSERT_TRUE(report.errors.empty());
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes[0].find("line 2: a[i * 2147483647] leaves 32 bits"), std::string::npos) << report.notes[0];
}

TEST_F(Hostile, NoSuchFunction) {
  const auto report = read("void g() {}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find("no function f"), std::string::npos);
}

TEST_F(Hostile, BytesThatAreNoProgram) {
  std::string noise;
  for (unsigned i = 0, s = 1; i < 20000; ++i) noise += static_cast<char>((s = s * 1664525u + 1013904223u) >> 24);
  EXPECT_FALSE(read(noise).errors.empty());
}

TEST_F(Hostile, DeepNestingEnds) {
  std::string text = "void f(float* a, int n) {\n";
  for (int i = 0; i < 40; ++i)
    text +=
        "for (int i" + std::to_string(i) + " = 0; i" + std::to_string(i) + " < n; ++i" + std::to_string(i) + ") {\n";
  text += "a[i0 + i39] = 1;\n" + std::string(40, '}') + "\n}\n";
  const auto report = read(text, 4);
  EXPECT_TRUE(!report.errors.empty() || !report.loops.empty());
}

TEST_F(Hostile, EndlessParenthesesEnd) {
  const auto report =
      read("int f() { return " + std::string(100000, '(') + "1" + std::string(100000, ')') + "; }\n", 20);
  EXPECT_FALSE(report.errors.empty());
}

// Functions of the corpus with words exchanged, cut out or doubled: an answer, never a crash; and what is placed is
// right.
class Mutator {
 public:
  Mutator(const std::string& text, unsigned seed) : state_(seed) {
    std::size_t at = 0;
    while (at < text.size()) {  // words and signs, with the blanks before them
      std::size_t end = at;
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
      const auto letter = [&](std::size_t i) {
        return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
      };
      if (letter(end))
        while (letter(end)) ++end;
      else
        ++end;
      words_.push_back(text.substr(at, end - at));
      at = end;
    }
  }

  std::string next() {
    auto words = words_;
    const std::size_t changes = 1 + pick(3);
    for (std::size_t k = 0; k < changes && words.size() > 4; ++k) {
      const std::size_t at = pick(words.size());
      static const char* const others[] = {"0",    "1",      "-1",    "n",          "i",  "+",  "-",     "*",
                                           "/",    "%",      "<",     ">",          "==", "!=", "break", "continue",
                                           "goto", "return", "float", "2147483647", "&&", "&",  "[",     "]",
                                           "(",    ")",      "++",    "while",      "if", "*&"};
      switch (pick(5)) {
        case 0:
          words.erase(words.begin() + static_cast<long>(at));
          break;
        case 1:
          words.insert(words.begin() + static_cast<long>(at), words[pick(words.size())]);
          break;
        case 2:
          std::swap(words[at], words[pick(words.size())]);
          break;
        case 3:
          words[at] = words[pick(words.size())];
          break;
        default:
          words[at] = std::string(" ") + others[pick(std::size(others))] + " ";
      }
    }
    std::string text;
    for (const std::string& w : words) text += w;
    return text;
  }
  std::size_t pick(std::size_t n) { return (state_ = state_ * 1664525u + 1013904223u) / 65536u % n; }

 private:
  unsigned state_;
  std::vector<std::string> words_{};
};

TEST_F(Hostile, MutatedSources) {
  struct Original {
    std::string before, function, name;
  };
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  std::vector<Original> sources;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".cpp") continue;
    if (!slow && entry.path().stem() != "transformed") continue;  // the others read headers
    std::ifstream in(entry.path());
    Original now;
    std::string includes;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("#include <", 0) == 0) includes += line + "\n";
      if (line.rfind("//: ", 0) == 0) {
        now = {includes, "", line.substr(4, line.find(' ', 4) - 4)};
      } else if (!now.name.empty()) {
        now.function += line + "\n";
        if (line == "}") {
          sources.push_back(now);
          now = {};
        }
      }
    }
  }
  ASSERT_FALSE(sources.empty());
  const ridge::test::ScratchFolder scratch;
  std::vector<std::string> flags{"-std=c++20"};
  if (slow)
    for (const std::string& f : precompiled(scratch.path().string())) flags.push_back(f);
  const Reader reader(flags);
  ASSERT_TRUE(reader.there());
  const std::size_t rounds = slow ? 10000 : 60, together = 100;
  std::size_t read_whole = 0;
  int compared = 0;
  for (std::size_t first = 0; first < rounds; first += together) {
    std::vector<Source> mutants;
    for (std::size_t k = first; k < std::min(first + together, rounds); ++k) {
      const Original& source = sources[k % sources.size()];
      mutants.push_back({source.name, source.before + Mutator(source.function, static_cast<unsigned>(k) + 7).next()});
    }
    std::vector<Placed> placed;
    for (std::size_t k = 0; k < mutants.size();)
      k = reader.read(mutants, k, [&](std::size_t at, const ridge::place::Report& report) {
        ++read_whole;
        if (!report.placed.empty()) placed.push_back({mutants[at].function, mutants[at].text, report});
      });
    if (!slow) continue;
    // Mutants that the compiler takes and Clang does not have no place in a program of many.
    const int same = compare_all(placed, "openmp", "c++ -fopenmp", true);
    compared += same;
    std::printf("%zu mutated sources, %zu read whole, %d compared\n", first + together, read_whole, compared);
    std::fflush(stdout);
  }
  EXPECT_GT(read_whole, 0u);
  EXPECT_TRUE(!slow || compared > 100);
}

}  // namespace

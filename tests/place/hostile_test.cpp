// Malformed, unsupported and oversized input gives a diagnostic, never a crash.
#include <unistd.h>

#include <cctype>
#include <set>

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
    options.flags = {"-std=c++20"};
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

TEST_F(Hostile, AFunctionKeepsItsName) {
  const auto report = read(
      "#include <cstdio>\n#define SAY() std::puts(__func__)\nvoid f(float* a, int n) {\n"
      "  for (int i = 0; i < n; ++i) a[i] *= 2;\n  SAY();\n}\n");
  ASSERT_TRUE(report.errors.empty());
  const auto from = report.placed.find("#define __func__ \"f\"\n"),
             at = report.placed.find("f_placed(placed::Session&"), to = report.placed.find("#undef __func__\n");
  ASSERT_NE(from, std::string::npos) << report.placed;
  EXPECT_LT(from, at);
  EXPECT_LT(at, to);
}

TEST_F(Hostile, DeclarationsOnOneLineHaveNamesOfTheirOwn) {
  const auto report = read(
      "#include <span>\n#include <vector>\nvoid f(std::vector<float>& v) {\n"
      "  std::span<float> s(v); std::span<float> t(v);\n"
      "  for (std::size_t i = 0; i < v.size(); ++i) v[i] *= 2;\n  s[0] = t[1];\n}\n");
  ASSERT_TRUE(report.errors.empty());
  EXPECT_NE(report.placed.find(" leaving_4("), std::string::npos) << report.placed;
  EXPECT_NE(report.placed.find(" leaving_4_2("), std::string::npos) << report.placed;
}

TEST_F(Hostile, TheCompilersOwnOmpHeaderIsFound) {
  if (std::system("printf '#include <omp.h>' | c++ -fsyntax-only -x c++ - 2> /dev/null") != 0)
    GTEST_SKIP() << "the compiler has no omp.h";
  const auto report = read("#include <omp.h>\nvoid f(float* a) {\n  a[0] = omp_get_max_threads();\n}\n");
  EXPECT_TRUE(report.errors.empty()) << report.errors[0];
}

TEST_F(Hostile, RefusalsAreNotInTheCompilersWords) {
  const auto report = read(
      "struct S { int k; float x; };\nvoid f(S* s, float** p, float a[8][8], int n) {\n"
      "  float* q = (float*)a;\n  for (int i = 0; i < n; ++i) s[i].x = q[i];\n"
      "  for (int i = 0; i < n; ++i) p[i][0] = 1;\n  for (int i = 0; i < n; ++i) delete p[i];\n"
      "  for (int i = 0; i < n; ++i) q[i] = *reinterpret_cast<int*>(&q[i]);\n}\n");
  ASSERT_TRUE(report.errors.empty()) << report.errors[0];
  EXPECT_FALSE(report.diagnostics.empty());
  for (const auto& d : report.diagnostics)
    for (const char* word : {"Expr", "Stmt", "Literal", "Decl", "ToRValue", "BitCast"})
      EXPECT_EQ(d.text.substr(0, d.text.find(':')).find(word), std::string::npos) << d.text;
}

TEST_F(Hostile, NoSuchFunction) {
  const auto report = read("void g() {}\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors[0].find("no function f"), std::string::npos);
}

TEST_F(Hostile, RandomBytesAreAnError) {
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

// Mutates functions of the corpus: each must give a report without a crash, and whatever is placed must be correct.
// Most mutations still compile: other operators, constants, subscripts, bounds and types; statements and loops deleted,
// duplicated, swapped or made conditional; jumps, assembly and volatile inserted. The others swap, delete and duplicate
// arbitrary tokens.
class Mutator {
 public:
  Mutator(const std::string& text, unsigned seed) : state_(seed) {
    std::size_t at = 0;
    const auto is = [&](std::size_t i, bool (*kind)(char)) { return i < text.size() && kind(text[i]); };
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    while (at < text.size()) {  // tokens with the white space before them
      std::size_t end = at;
      while (is(end, blank)) ++end;
      if (is(end, letter)) {
        const bool number = is(end, digit);
        while (is(end, letter) || (number && end < text.size() && text[end] == '.')) ++end;
      } else {
        static const std::set<std::string> pairs{
            "++", "--", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "->", "::", "<<", ">>", "//"};
        end += pairs.count(text.substr(end, 2)) > 0 ? 2 : 1;
        if (end >= 2 && text.compare(end - 2, 2, "//") == 0) end = std::min(text.find('\n', end), text.size());
      }
      words_.push_back(text.substr(at, std::min(end, text.size()) - at));
      at = end;
    }
  }

  std::string next() {
    const bool rough = pick(8) == 0;
    for (std::size_t k = 0, changes = 1 + pick(rough ? 3 : 2); k < changes && words_.size() > 4; ++k)
      rough ? anywhere() : gently();
    std::string text;
    for (const std::string& w : words_) text += w;
    return text;
  }

 private:
  struct Statement {
    std::size_t begin = 0, end = 0;
    bool declares = false;
    std::string iterator{};  // of the innermost loop around it
  };
  unsigned state_;
  std::vector<std::string> words_{};

  std::size_t pick(std::size_t n) { return (state_ = state_ * 1664525u + 1013904223u) / 65536u % n; }
  std::string one_of(const std::vector<std::string>& list) { return list[pick(list.size())]; }
  std::string word(std::size_t at) const {
    return at < words_.size() ? words_[at].substr(std::min(words_[at].find_first_not_of(" \n\t"), words_[at].size()))
                              : "";
  }
  void become(std::size_t at, const std::string& other) {
    words_[at] = words_[at].substr(0, words_[at].size() - word(at).size()) + other;
  }

  void anywhere() {
    const std::size_t at = pick(words_.size());
    static const std::vector<std::string> others{
        "0",  "1", "-1", "n",  "i",     "+",        "-",    "*",      "/",     "%",
        "<",  ">", "==", "!=", "break", "continue", "goto", "return", "float", "2147483647",
        "&&", "&", "[",  "]",  "(",     ")",        "++",   "while",  "if",    "*&"};
    switch (pick(5)) {
      case 0:
        words_.erase(words_.begin() + static_cast<long>(at));
        break;
      case 1:
        words_.insert(words_.begin() + static_cast<long>(at), words_[pick(words_.size())]);
        break;
      case 2:
        std::swap(words_[at], words_[pick(words_.size())]);
        break;
      case 3:
        words_[at] = words_[pick(words_.size())];
        break;
      default:
        words_[at] = " " + one_of(others) + " ";
    }
  }

  // Index after the bracket that closes the one at `at`.
  std::size_t closed(std::size_t at) const {
    int open = 0;
    for (; at < words_.size(); ++at) {
      const std::string w = word(at);
      open += w == "(" || w == "{" || w == "[";
      open -= w == ")" || w == "}" || w == "]";
      if (open <= 0) return at + 1;
    }
    return at;
  }
  std::size_t read_statement(std::size_t at, const std::string& iterator, std::vector<Statement>& all) const {
    const std::string first = word(at);
    const std::size_t begin = at;
    if (first == "{") {
      const std::size_t end = closed(at);
      for (++at; at + 1 < end;) at = read_statement(at, iterator, all);
      return end;
    }
    if (first == "for" || first == "while" || first == "if") {
      std::string inner = iterator;
      if (first == "for")
        for (std::size_t k = at + 2; k < closed(at + 1) && inner == iterator; ++k)
          if (word(k + 1) == "=") inner = word(k);
      at = read_statement(closed(at + 1), inner, all);
      if (first == "if" && word(at) == "else") at = read_statement(at + 1, iterator, all);
    } else if (first == "do") {
      at = closed(read_statement(at + 1, iterator, all) + 1) + 1;
    } else {
      while (at < words_.size() && word(at) != ";")
        at = word(at) == "(" || word(at) == "{" || word(at) == "[" ? closed(at) : at + 1;
      ++at;
    }
    const bool declares = first == "const" || first == "auto" || first == "static" || first == "std" ||
                          (std::isalpha(static_cast<unsigned char>(first[0])) != 0 && first != "for" && first != "if" &&
                           first != "while" && first != "do" && begin + 1 < words_.size() &&
                           std::isalpha(static_cast<unsigned char>(word(begin + 1)[0])) != 0);
    all.push_back({begin, std::min(at, words_.size()), declares, iterator});
    return at;
  }
  std::vector<Statement> statements() const {
    std::vector<Statement> all;
    std::size_t at = 0;
    while (at < words_.size() && word(at) != "{") at = word(at) == "(" ? closed(at) : at + 1;
    if (at < words_.size()) read_statement(at, "", all);
    return all;
  }
  std::string text(const Statement& s) const {
    std::string all;
    for (std::size_t k = s.begin; k < s.end; ++k) all += words_[k];
    return all;
  }
  void erase(const Statement& s) {
    words_.erase(words_.begin() + static_cast<long>(s.begin), words_.begin() + static_cast<long>(s.end));
  }
  void insert(std::size_t at, const std::string& what) { words_.insert(words_.begin() + static_cast<long>(at), what); }

  void gently() {
    const std::size_t kind = pick(12);
    if (kind < 5) {
      std::vector<std::size_t> places;
      bool in_subscript = false;
      for (std::size_t k = 1; k + 1 < words_.size(); ++k) {
        const std::string w = word(k);
        if (w == "[") in_subscript = true;
        if (w == "]") in_subscript = false;
        const bool apart = words_[k][0] == ' ' && words_[k + 1][0] == ' ';  // not a template's bracket
        static const std::set<std::string> signs{
            "+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", "+=", "-=", "*="},
            types{"int", "float", "double"};
        const bool whole = w.find_first_not_of("0123456789") == std::string::npos;
        const bool name = std::isalpha(static_cast<unsigned char>(w[0])) != 0;
        if ((kind == 0 && apart && signs.count(w) > 0) || (kind == 1 && whole) ||
            (kind == 2 && in_subscript && (whole || name)) || (kind == 3 && types.count(w) > 0) ||
            (kind == 4 && name && (word(k - 1) == "<" || word(k - 1) == "<=") && apart == false))
          places.push_back(k);
      }
      if (places.empty()) return;
      const std::size_t at = places[pick(places.size())];
      const std::string w = word(at);
      if (kind == 0)
        become(at, w.size() == 2 && w[1] == '=' && std::string("+-*").find(w[0]) != std::string::npos
                       ? one_of({"+=", "-=", "*=", "="})
                   : std::string("+-*/").find(w[0]) != std::string::npos ? one_of({"+", "-", "*"})
                                                                         : one_of({"<", "<=", ">", "!=", "=="}));
      else if (kind == 1)
        become(at, one_of({"0", "1", "2", "3", "(-1)", "5", "64", "2147483647"}));
      else if (kind == 2)
        become(at, w + one_of({" + 1", " - 1", " * 2", " / 2", " % 3", " + 2"}));
      else if (kind == 3)
        become(at, w == "int"     ? one_of({"long", "unsigned", "short", "unsigned char"})
                   : w == "float" ? "double"
                                  : "float");
      else
        become(at, w + one_of({" - 1", " + 1", " / 2", " - 2"}));
      return;
    }
    const auto all = statements();
    if (all.empty()) return;
    const Statement s = all[pick(all.size())];
    if (kind == 5 && !s.declares) erase(s);
    if (kind == 6 && !s.declares) insert(s.end, text(s));
    if (kind == 7) {  // swap it with the next statement
      for (const Statement& other : all)
        if (other.begin == s.end && !s.declares) {
          const std::string moved = text(s), behind = text(other);
          words_.erase(words_.begin() + static_cast<long>(s.begin), words_.begin() + static_cast<long>(other.end));
          insert(s.begin, behind + moved);
          break;
        }
    }
    const std::string i = s.iterator;
    if (kind == 8 && !s.declares)
      insert(
          s.begin,
          " if (" + (i.empty() ? std::string("sizeof(int) == 4") : i + one_of({" % 2 == 0", " > 3", " != 7"})) + ")");
    if (kind == 9 && !i.empty())
      insert(s.begin, " if (" + i + one_of({" == 5", " > 11", " % 4 == 3"}) + ") " + one_of({"break;", "continue;"}));
    if (kind == 10)
      insert(s.begin, one_of({" asm volatile(\"\" ::: \"memory\");", " volatile int ridge_seen = 1; (void)ridge_seen;",
                              " static int ridge_often = 0; ++ridge_often;", " if (sizeof(int) != 4) throw 1;",
                              " const auto ridge_call = [] { return 1; }; (void)ridge_call();"}));
    if (kind == 11 && words_.size() > s.begin) {
      insert(s.begin, i.empty() ? " goto ridge_out;" : " if (" + i + " == 9) goto ridge_out;");
      std::size_t last = words_.size();
      while (last > 0 && word(last - 1) != "}") --last;
      if (last > 0) insert(last - 1, " ridge_out:;");
    }
  }
};

TEST_F(Hostile, MutatedSources) {
  struct Original {
    std::string before, function, name;
  };
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  std::vector<Original> sources;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".cpp") continue;
    if (!slow && entry.path().stem() != "transformed") continue;  // the others include headers
    std::ifstream in(entry.path());
    Original now;
    std::string before;  // headers, types and functions before the first case
    bool above = true;
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("//: ", 0) == 0) {
        now = {before, "", line.substr(4, line.find(' ', 4) - 4)};
        above = false;
      } else if (above) {
        before += line + "\n";
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
  std::vector<std::string> flags{"-std=c++20", "-I" + folder().string()};
  if (slow)
    for (const std::string& f : precompiled(scratch.path().string())) flags.push_back(f);
  const Reader reader(flags);
  ASSERT_TRUE(reader.there());
  const std::size_t rounds = slow ? 1000 : 60, together = 100;
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
    if (!slow || first % (4 * together) != 0) continue;
    // Compiled with Clang, whose front end parsed them. Originals with undefined behaviour are not compared.
    const bool clang = command(
                           "echo 'int main() {}' | clang++-19 -fopenmp -fsanitize=address,undefined -x c++ - "
                           "-o /dev/null 2> /dev/null") == 0;
    compared += compare_all(
        placed, "openmp", clang ? "clang++-19 -fopenmp" : "c++ -fopenmp", true,
        std::string(clang ? "clang++-19" : "c++") + " -fsanitize=address,undefined -fno-sanitize-recover=all");
    std::printf("%zu mutated sources, %zu read whole, %d compared\n", first + together, read_whole, compared);
    std::fflush(stdout);
  }
  EXPECT_GT(read_whole, rounds / 2);
  EXPECT_TRUE(!slow || compared > 20);
}

}  // namespace

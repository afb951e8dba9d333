// Finds pragmas about loops, turns them into comments, and reads the claims they make.
#include "place/pragmas.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ridge::place {
namespace {

// Marks that replace a pragma in the text. A claim that was dropped has a mark with a capital letter.
const std::string kMark = "//ridge ", kInline = "/*ridge  ", kAttribute = "[[ridge::independent]]";

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// True if the text at `at` is a pragma about loops, without the word pragma.
bool about_loops(const std::string& text, std::size_t at) {
  const auto word = [&] {
    while (at < text.size() && blank(text[at])) ++at;
    const std::size_t from = at;
    while (at < text.size() && part_of_word(text[at])) ++at;
    return text.substr(from, at - from);
  };
  static const std::set<std::string> alone{"omp", "acc", "ridge", "ivdep", "unroll", "nounroll", "simd", "vector"},
      of_gcc{"ivdep", "unroll", "novector"}, of_clang{"loop"};
  const std::string first = word();
  if (first == "GCC") return of_gcc.count(word()) > 0;
  if (first == "clang") return of_clang.count(word()) > 0;
  return alone.count(first) > 0;
}

// Walks over C++ text: comments and literals are skipped, directives and words are passed on.
class Scanner {
 public:
  explicit Scanner(std::string& text) : text_(text) {}

  void run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (blank(c)) {
        ++at_;
      } else if (text_.compare(at_, 2, "//") == 0) {
        at_ = end_of_line(at_);
      } else if (text_.compare(at_, 2, "/*") == 0) {
        at_ = after("*/", at_ + 2);
      } else if (c == '#' && line_start) {
        directive();
      } else {
        line_start = false;
        token();
      }
    }
  }

 private:
  std::size_t end_of_line(std::size_t from) const {  // continued lines included
    std::size_t end = text_.find('\n', from);
    while (end != std::string::npos) {
      std::size_t last = end;
      while (last > from && text_[last - 1] == '\r') --last;
      if (last == from || text_[last - 1] != '\\') return end;
      end = text_.find('\n', end + 1);
    }
    return text_.size();
  }

  std::size_t after(const std::string& mark, std::size_t from) const {
    const auto found = text_.find(mark, from);
    return found == std::string::npos ? text_.size() : found + mark.size();
  }

  void directive() {
    std::size_t word = at_ + 1;
    while (word < text_.size() && blank(text_[word])) ++word;
    const std::string pragma = "pragma";
    const std::size_t rest = word + pragma.size();
    if (text_.compare(word, pragma.size(), pragma) == 0 && rest < text_.size() && blank(text_[rest]) &&
        about_loops(text_, rest)) {
      std::string mark = kMark;
      mark.resize(rest + 1 - at_, ' ');
      text_.replace(at_, mark.size(), mark);
    }
    at_ = end_of_line(at_);
  }

  void quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }

  void token() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (!part_of_word(c)) {
      ++at_;
      return;
    }
    const std::size_t from = at_;
    const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    while (at_ < text_.size() && (part_of_word(text_[at_]) || (number && text_[at_] == '\''))) ++at_;
    const std::string word = text_.substr(from, at_ - from);
    if (at_ < text_.size() && text_[at_] == '"' && !word.empty() && word.back() == 'R' && word.size() <= 3) {
      const std::size_t open = text_.find('(', at_);
      if (open != std::string::npos) at_ = after(")" + text_.substr(at_ + 1, open - at_ - 1) + "\"", open);
    } else if (word == "_Pragma" && text_.compare(at_, 2, "(\"") == 0 && about_loops(text_, at_ + 2)) {
      const std::size_t close = text_.find("\")", at_);
      if (close == std::string::npos) return;
      text_.replace(from, kInline.size(), kInline);
      text_.replace(close, 2, "*/");
      at_ = close + 2;
    }
  }

  std::string& text_;
  std::size_t at_ = 0;
};

// A clause of a pragma: its name, and the text in parentheses.
using Clause = std::pair<std::string, std::string>;

std::vector<Clause> clauses_of(const std::string& text) {
  std::vector<Clause> all;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0 || text.compare(at, 2, "/*") == 0) break;  // a comment after the pragma
    if (part_of_word(text[at])) {
      const std::size_t from = at;
      while (at < text.size() && part_of_word(text[at])) ++at;
      all.emplace_back(text.substr(from, at - from), "");
    } else if (text[at] == '(' && !all.empty()) {
      const std::size_t from = ++at;
      for (int depth = 1; at < text.size() && depth > 0; ++at) depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      all.back().second = text.substr(from, at > from ? at - from - 1 : 0);
      if (all.back().second.empty()) all.back().second = " ";
    } else {
      ++at;
    }
  }
  return all;
}

bool has(const std::vector<Clause>& all, const std::set<std::string>& names) {
  return std::any_of(all.begin(), all.end(), [&](const Clause& c) { return names.count(c.first) > 0; });
}

// True if the pragma says that the iterations of the next loop are independent.
bool is_claim(const std::vector<Clause>& all) {
  if (all.empty()) return false;
  const std::string& first = all[0].first;
  if (first == "ridge") return has(all, {"independent"});
  if (first == "acc")
    return has(all, {"loop"}) && !has(all, {"seq", "auto"}) && (has(all, {"independent"}) || has(all, {"parallel"}));
  const bool scan = std::any_of(all.begin(), all.end(), [](const Clause& c) {
    return c.first == "reduction" && c.second.find("inscan") != std::string::npos;
  });
  return first == "omp" && has(all, {"for", "simd", "distribute", "loop", "taskloop"}) && !scan &&
         !has(all, {"ordered", "safelen", "declare", "scan", "section", "sections"});
}

// First byte of the line that ends at `end`, with the lines that are continued on it.
std::size_t line_start(const std::string& text, std::size_t end) {
  for (std::size_t begin = end;;) {
    while (begin > 0 && text[begin - 1] != '\n') --begin;
    std::size_t last = begin > 0 ? begin - 1 : 0;
    while (last > 0 && text[last - 1] == '\r') --last;
    if (last == 0 || text[last - 1] != '\\') return begin;
    begin = last;
  }
}

Claim claim_of(const std::vector<Clause>& all) {
  static const std::set<std::string> own{"private",      "firstprivate",   "lastprivate", "linear",   "reduction",
                                         "in_reduction", "task_reduction", "copyin",      "induction"};
  Claim made;
  made.text = "#pragma";
  for (const auto& [name, text] : all) {
    if (text.empty()) made.text += " " + name;
    if (name == "collapse") made.loops = std::clamp(std::atoi(text.c_str()), 1, 8);
    if (own.count(name) == 0) continue;
    for (const Clause& c : clauses_of(text)) {
      made.except.insert(c.first);
      if (name == "private") made.privates.insert(c.first);
    }
  }
  return made;
}

// Word of the preprocessor directive at `begin`; "" if there is none.
std::string directive_at(const std::string& text, std::size_t begin) {
  if (begin >= text.size() || text[begin] != '#') return "";
  do ++begin;
  while (begin < text.size() && blank(text[begin]));
  std::size_t end = begin;
  while (end < text.size() && part_of_word(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// True if the line at `at` belongs to #ifdef _OPENMP or #if defined(_OPENACC), without #else.
bool under_openmp(const std::string& text, std::size_t at) {
  while (at > 0) {
    const std::size_t end = at - 1;
    at = line_start(text, end);
    std::size_t begin = at;
    while (begin < end && blank(text[begin])) ++begin;
    const std::string word = directive_at(text, begin), rest = text.substr(begin, end - begin);
    if (word.empty()) continue;
    return (word == "ifdef" || word == "if") && rest.find('!') == std::string::npos &&
           (rest.find("_OPENMP") != std::string::npos || rest.find("_OPENACC") != std::string::npos);
  }
  return false;
}

}  // namespace

std::string pragmas_as_comments(std::string text) {
  Scanner(text).run();
  return text;
}

void restore_pragmas(std::string& text, std::size_t begin, std::size_t end) {
  const std::string pragma = "#pragma ", inline_pragma = "_Pragma(\"";
  for (const char* mark : {"//ridge ", "//Ridge "})
    for (std::size_t at = text.find(mark, begin); at < end; at = text.find(mark, at + 1))
      if (about_loops(text, at + pragma.size())) text.replace(at, pragma.size(), pragma);
  for (const char* mark : {"/*ridge  ", "/*Ridge  "})
    for (std::size_t at = text.find(mark, begin); at < end; at = text.find(mark, at + 1)) {
      const auto close = text.find("*/", at);
      if (close == std::string::npos) continue;
      text.replace(close, 2, "\")");
      text.replace(at, inline_pragma.size(), inline_pragma);
    }
}

std::optional<Claim> claim_before(const std::string& text, std::size_t loop) {
  std::size_t end = loop;
  for (bool conditional = false;;) {  // between #if and #endif
    while (end > 0 && (blank(text[end - 1]) || text[end - 1] == '\n')) --end;
    if (end >= kAttribute.size() && text.compare(end - kAttribute.size(), kAttribute.size(), kAttribute) == 0)
      return Claim{kAttribute, {}, {}, 1, end - kAttribute.size(), true};
    std::size_t begin = 0, words = 0;
    if (end >= 2 && text.compare(end - 2, 2, "*/") == 0) {
      begin = text.rfind("/*", end - 2);
      if (begin == std::string::npos) return {};
      if (text.compare(begin, kInline.size(), kInline) == 0) words = begin + kInline.size();
    } else {
      begin = line_start(text, end);
      while (begin < end && blank(text[begin])) ++begin;
      if (const std::string word = directive_at(text, begin);
          word == (conditional ? "ifdef" : "endif") || (conditional && word == "if")) {
        conditional = !conditional;
        end = begin;
        continue;
      }
      if (begin >= end || text.compare(begin, 2, "//") != 0) return {};
      if (text.compare(begin, kMark.size(), kMark) == 0) words = begin + kMark.size();
    }
    if (words > 0)
      if (const auto all = clauses_of(text.substr(words, end - words)); is_claim(all)) {
        if (conditional && !under_openmp(text, line_start(text, begin))) return {};
        Claim made = claim_of(all);
        made.begin = begin;
        return made;
      }
    end = begin;  // another comment or pragma: the claim may be above it
  }
}

void drop_claim(std::string& text, std::size_t begin) {
  if (text.compare(begin, kAttribute.size(), kAttribute) == 0)
    text.replace(begin, kAttribute.size(), kAttribute.size(), ' ');
  else
    text[begin + 2] = 'R';
}

bool synchronizes(const std::string& text) {
  static const std::set<std::string> waits{"atomic", "critical", "ordered", "flush", "barrier",
                                           "single", "master",   "masked",  "task",  "section"};
  for (const char* family : {"omp", "acc"})
    for (std::size_t at = text.find(family); at != std::string::npos; at = text.find(family, at + 1)) {
      if ((at > 0 && part_of_word(text[at - 1])) || at + 3 >= text.size() || !blank(text[at + 3])) continue;
      const auto all = clauses_of(text.substr(at + 4, std::min(text.find('\n', at), text.size()) - at - 4));
      if (!all.empty() && waits.count(all[0].first) > 0) return true;
    }
  return false;
}

}  // namespace ridge::place

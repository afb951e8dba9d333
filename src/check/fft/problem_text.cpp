// Parses and prints transforms as short words, "irb64x64*8".
#include "check/fft/problem_text.hpp"

#include <cctype>
#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/files.hpp"

namespace ridge::check {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;

[[noreturn]] void refuse_word(const std::string& word, const std::string& what) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("problem \"{}\": {}; write letters and a shape, as in cf1024 or irb64x64*8", word, what));
}

// Parses a number from position `at` and moves `at` past it.
std::size_t number_at(const std::string& word, std::size_t& at) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data() + at, word.data() + word.size(), value);
  if (error != std::errc() || value == 0) refuse_word(word, "needs lengths and a batch of at least 1");
  at = static_cast<std::size_t>(end - word.data());
  return value;
}

}  // namespace

TextProblem parse_problem(const std::string& word) {
  TextProblem made;
  std::string seen;
  std::size_t at = 0;
  for (; at < word.size() && std::isalpha(static_cast<unsigned char>(word[at])) != 0; ++at) {
    const char letter = word[at];
    const std::string group = letter == 'c' || letter == 'r'   ? "cr"
                              : letter == 'f' || letter == 'b' ? "fb"
                              : letter == 'i' || letter == 'o' ? "io"
                              : letter == 's' || letter == 'd' ? "sd"
                                                               : "";
    if (group.empty()) refuse_word(word, fmt::format("unknown letter {}: use c, r, f, b, i, o, s or d", letter));
    if (seen.find_first_of(group) != std::string::npos)
      refuse_word(word, fmt::format("{} and {} exclude each other, and each may appear once", group[0], group[1]));
    seen += letter;
    if (letter == 'r') made.problem.kind = fft::Kind::real;
    if (letter == 'b') made.inverse = true;
    if (letter == 'i') made.problem.in_place = true;
    if (letter == 'd') made.float64 = true;
  }
  for (;; ++at) {
    made.problem.shape.push_back(number_at(word, at));
    if (at == word.size() || word[at] != 'x') break;
  }
  if (made.problem.shape.size() > 3)
    refuse_word(word, fmt::format("needs 1 to 3 axes, got {}", made.problem.shape.size()));
  if (at < word.size() && word[at] == '*') made.problem.batch = number_at(word, ++at);
  if (at != word.size()) refuse_word(word, fmt::format("unexpected \"{}\" at the end", word.substr(at)));
  return made;
}

std::string to_text(const TextProblem& problem) {
  std::string text = fmt::format("{}{}{}{}{}", problem.problem.in_place ? "i" : "", problem.float64 ? "d" : "",
                                 problem.problem.kind == fft::Kind::real ? "r" : "c", problem.inverse ? "b" : "f",
                                 fmt::join(problem.problem.shape, "x"));
  if (problem.problem.batch > 1) text += fmt::format("*{}", problem.problem.batch);
  return text;
}

std::vector<TextProblem> read_problems(const std::string& path) {
  const auto text = base::read_file(path, kMostFileBytes);
  if (!text) throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", path));
  std::vector<TextProblem> problems;
  std::istringstream lines(*text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      try {
        problems.push_back(parse_problem(word));
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("{}:{}: {}", path, number, error.what()));
      }
    }
  }
  if (problems.empty())
    throw Error(ErrorKind::invalid_argument, fmt::format("{}: needs at least one problem, found none", path));
  return problems;
}

}  // namespace ridge::check

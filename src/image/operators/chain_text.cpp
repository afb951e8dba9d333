// Conversion of operator chains to and from text, for example "gauss 2 | resize 0.5 bicubic | gray".
#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "base/number.hpp"
#include "image/operators/definition.hpp"

namespace ridge::image {

Words::Words(const std::string& text, const std::string& syntax, Like like) : syntax_(syntax), like_(like) {
  std::istringstream in(text);
  for (std::string word; in >> word;) words_.push_back(word);
}

Like Words::like() {
  if (words_.size() > 1 && (words_.back() == to_string(Like::opencv) || words_.back() == to_string(Like::ridge))) {
    like_ = like_of(words_.back());
    words_.pop_back();
  }
  return like_;
}

void Words::refuse(const std::string& why) const {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}; write \"{}\"", words_.front(), why, syntax_));
}

const std::string& Words::next(const char* what) {
  if (!more()) refuse(fmt::format("{} is missing", what));
  return words_[at_++];
}

double Words::number(const char* what) {
  const std::string& word = next(what);
  const std::optional<double> value = base::number_of(word);
  if (!value) refuse(fmt::format("{} \"{}\" is not a number", what, word));
  return *value;
}

std::size_t Words::count(const char* what) {
  const double value = number(what);
  if (!(value >= 0) || value > 1e9 || value != static_cast<double>(static_cast<std::size_t>(value))) {
    refuse(fmt::format("{} {:g} is not a whole number from 0 to 1e9", what, value));
  }
  return static_cast<std::size_t>(value);
}

std::vector<float> Words::numbers(const char* what) {
  std::vector<float> values;
  std::istringstream in(next(what));
  for (std::string part; std::getline(in, part, ',');) {
    const std::optional<float> value = base::number_of<float>(part);
    if (!value) refuse(fmt::format("{} contains \"{}\", which is not a number", what, part));
    values.push_back(*value);
  }
  return values;
}

void Words::end() const {
  if (more()) refuse(fmt::format("\"{}\" is one word too many", words_[at_]));
}

bool read_size(const std::string& text, std::size_t& before, std::size_t& behind) {
  // Checks the characters first, because sscanf also accepts signs.
  if (text.find_first_not_of("0123456789x") != std::string::npos || std::count(text.begin(), text.end(), 'x') != 1)
    return false;
  return std::sscanf(text.c_str(), "%9zux%9zu", &before, &behind) == 2 && before > 0 && behind > 0;
}

namespace {

struct Syntax {
  std::string text;
  Operation (*read)(Words& words);
};
template <class T>
Operation read_operation(Words& words) {
  return definition<T>().parse(words);
}
template <class... T>
std::map<std::string, Syntax> syntax_of(const std::variant<T...>*) {
  return {{definition<T>().info.name, {definition<T>().info.syntax, read_operation<T>}}...};
}
const std::map<std::string, Syntax>& syntax_by_name() {
  static const std::map<std::string, Syntax> all = syntax_of(static_cast<const Operation*>(nullptr));
  return all;
}

}  // namespace

std::string to_string(const Operation& operation) {
  return std::visit([]<class T>(const T& o) { return definition<T>().print(o); }, operation);
}

std::string short_name(const Operation& operation) {
  const std::string whole = to_string(operation);
  const std::size_t end = whole.find(',');
  return end == std::string::npos ? whole : whole.substr(0, whole.rfind(' ', end));
}

std::vector<Operation> parse_chain(const std::string& text, Like like) {
  std::vector<Operation> chain;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t bar = std::min(text.find('|', at), text.size());
    const std::string part = text.substr(at, bar - at);
    std::istringstream in(part);
    std::string name;
    if (!(in >> name))
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("\"{}\": an operator is missing; separate operators by a single |", text));
    const auto found = syntax_by_name().find(name);
    if (found == syntax_by_name().end()) {
      std::string known;
      for (const auto& [each, syntax] : syntax_by_name()) known += (known.empty() ? "" : ", ") + each;
      throw Error(ErrorKind::invalid_argument, fmt::format("no operator \"{}\": there are {}", name, known));
    }
    Words words(part, found->second.text, like);
    chain.push_back(found->second.read(words));
    words.end();
    at = bar + 1;
  }
  return chain;
}

}  // namespace ridge::image

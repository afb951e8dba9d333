// Conversion of operator chains to and from text, for example "gauss 2 | resize 0.5 bicubic | gray".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <ridge/image/operators.hpp>

#include "image/operators/settings.hpp"
#include "image/text.hpp"

namespace ridge::image {
namespace {

class Words {
 public:
  Words(const std::string& text, const char* form, Like like) : form_(form), like_(like) {
    std::istringstream in(text);
    for (std::string word; in >> word;) words_.push_back(word);
    at_ = 1;
  }
  // Convention of this operator: its last word if that names one, else the convention of the whole chain.
  Like like() {
    if (words_.size() > 1 && (words_.back() == to_string(Like::opencv) || words_.back() == to_string(Like::ridge))) {
      like_ = like_of(words_.back());
      words_.pop_back();
    }
    return like_;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}; write \"{}\"", words_.front(), why, form_));
  }
  bool more() const { return at_ < words_.size(); }
  const std::string& next(const char* what) {
    if (!more()) refuse(fmt::format("{} is missing", what));
    return words_[at_++];
  }
  double number(const char* what) {
    const std::string& word = next(what);
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (*end != '\0' || word.empty()) refuse(fmt::format("{} \"{}\" is not a number", what, word));
    return value;
  }
  std::size_t count(const char* what) {
    const double value = number(what);
    if (!(value >= 0) || value > 1e9 || value != static_cast<double>(static_cast<std::size_t>(value))) {
      refuse(fmt::format("{} {:g} is not a whole number from 0 to 1e9", what, value));
    }
    return static_cast<std::size_t>(value);
  }
  std::size_t count_or(const char* what, std::size_t otherwise) { return more() ? count(what) : otherwise; }
  std::vector<float> numbers(const char* what) {  // comma-separated: 1,2,1
    std::vector<float> values;
    std::istringstream in(next(what));
    for (std::string part; std::getline(in, part, ',');) {
      char* end = nullptr;
      values.push_back(std::strtof(part.c_str(), &end));
      if (part.empty() || *end != '\0') refuse(fmt::format("{} contains \"{}\", which is not a number", what, part));
    }
    return values;
  }
  void end() const {
    if (more()) refuse(fmt::format("\"{}\" is one word too many", words_[at_]));
  }

 private:
  const char* form_;
  std::vector<std::string> words_;
  std::size_t at_ = 0;
  Like like_;
};

// Parses "3x5": two numbers above 0. Checks the characters first, because sscanf also accepts signs.
bool read_size(const std::string& text, std::size_t& before, std::size_t& behind) {
  if (text.find_first_not_of("0123456789x") != std::string::npos || std::count(text.begin(), text.end(), 'x') != 1)
    return false;
  return std::sscanf(text.c_str(), "%9zux%9zu", &before, &behind) == 2 && before > 0 && behind > 0;
}

struct Form {
  const char* form;
  std::function<Operation(Words&)> read;
};
const std::map<std::string, Form>& forms() {
  static const std::map<std::string, Form> all{
      {"convolve",
       {"convolve ROWSxCOLUMNS w,w,...",
        [](Words& words) -> Operation {
          const std::string size = words.next("the size");
          Convolve o;
          if (!read_size(size, o.rows, o.columns))
            words.refuse("size \"" + size + "\" is not ROWSxCOLUMNS with both above 0");
          o.kernel = words.numbers("the kernel");
          return o;
        }}},
      {"separable",
       {"separable DOWN,... ACROSS,...",
        [](Words& words) -> Operation {
          Separable o;
          o.down = words.numbers("the column");
          o.across = words.numbers("the row");
          return o;
        }}},
      {"gauss",
       {"gauss SIGMA [RADIUS]",
        [](Words& words) -> Operation {
          const double sigma = words.number("sigma");
          return Gauss{sigma, words.count_or("radius", 0)};
        }}},
      {"box",
       {"box SIDE [COLUMNS]",
        [](Words& words) -> Operation {
          const std::size_t side = words.count("the side");
          return Box{side, words.count_or("columns", side)};
        }}},
      {"median", {"median RADIUS", [](Words& words) -> Operation { return Median{words.count("radius")}; }}},
      {"bilateral",
       {"bilateral RADIUS SIGMA_SPACE SIGMA_COLOR [opencv]",
        [](Words& words) -> Operation {
          const Like like = words.like();
          const std::size_t radius = words.count("radius");
          const double space = words.number("sigma of space");
          return Bilateral{radius, space, words.number("sigma of color"), like};
        }}},
      {"cross-bilateral",
       {"cross-bilateral RADIUS SIGMA_SPACE SIGMA_COLOR [opencv]",
        [](Words& words) -> Operation {
          const Like like = words.like();
          const std::size_t radius = words.count("radius");
          const double space = words.number("sigma of space");
          return CrossBilateral{radius, space, words.number("sigma of color"), like};
        }}},
      {"resize",
       {"resize SCALE|COLUMNSxROWS [nearest|bilinear|bicubic|area] [opencv]",
        [](Words& words) -> Operation {
          Resize o{.like = words.like()};
          const std::string size = words.next("the size");
          if (!read_size(size, o.columns, o.rows)) {
            o.rows = o.columns = 0;
            char* end = nullptr;
            o.scale = std::strtod(size.c_str(), &end);
            const bool number = size.find_first_of("xX") == std::string::npos && *end == '\0';  // rejects hexadecimal
            if (!number || !(o.scale > 0))
              words.refuse("size \"" + size + "\" is neither COLUMNSxROWS nor a scale above 0");
          }
          if (words.more()) o.interpolation = interpolation_of(words.next("interpolation"));
          return o;
        }}},
      {"integral", {"integral", [](Words&) -> Operation { return Integral{}; }}},
      {"pyramid", {"pyramid [LEVELS]", [](Words& words) -> Operation { return Pyramid{words.count_or("levels", 1)}; }}},
      {"gradient",
       {"gradient [sobel|scharr|central] [opencv]",
        [](Words& words) -> Operation {
          const Like like = words.like();
          return Gradient{words.more() ? kGradients.value(words.next("kind")) : GradientKind::sobel, like};
        }}},
      {"transpose", {"transpose", [](Words&) -> Operation { return Transpose{}; }}},
      {"rotate",
       {"rotate DEGREES [nearest|bilinear|bicubic] [opencv]",
        [](Words& words) -> Operation {
          const Like like = words.like();
          Rotate o{.degrees = words.number("the angle"), .like = like};
          if (words.more()) o.interpolation = interpolation_of(words.next("interpolation"));
          return o;
        }}},
      {"gray", {"gray", [](Words&) -> Operation { return Gray{}; }}},
  };
  return all;
}

const char* ending(Like like) { return like == Like::opencv ? " opencv" : ""; }
std::string list(const std::vector<float>& values) { return fmt::format("{}", fmt::join(values, ",")); }

struct Text {
  std::string operator()(const Convolve& o) const {
    return fmt::format("convolve {}x{} {}", o.rows, o.columns, list(o.kernel));
  }
  std::string operator()(const Separable& o) const {
    return fmt::format("separable {} {}", list(o.down), list(o.across));
  }
  std::string operator()(const Gauss& o) const {
    return o.radius == 0 ? fmt::format("gauss {}", o.sigma) : fmt::format("gauss {} {}", o.sigma, o.radius);
  }
  std::string operator()(const Box& o) const { return fmt::format("box {} {}", o.rows, o.columns); }
  std::string operator()(const Median& o) const { return fmt::format("median {}", o.radius); }
  std::string operator()(const Bilateral& o) const {
    return fmt::format("bilateral {} {} {}{}", o.radius, o.sigma_space, o.sigma_color, ending(o.like));
  }
  std::string operator()(const CrossBilateral& o) const {
    return fmt::format("cross-bilateral {} {} {}{}", o.radius, o.sigma_space, o.sigma_color, ending(o.like));
  }
  std::string operator()(const Resize& o) const {
    const std::string size =
        o.rows != 0 && o.columns != 0 ? fmt::format("{}x{}", o.columns, o.rows) : fmt::format("{}", o.scale);
    return fmt::format("resize {} {}{}", size, to_string(o.interpolation), ending(o.like));
  }
  std::string operator()(const Integral&) const { return "integral"; }
  std::string operator()(const Pyramid& o) const { return fmt::format("pyramid {}", o.levels); }
  std::string operator()(const Gradient& o) const {
    return fmt::format("gradient {}{}", kGradients.name(o.kind), ending(o.like));
  }
  std::string operator()(const Transpose&) const { return "transpose"; }
  std::string operator()(const Rotate& o) const {
    return fmt::format("rotate {} {}{}", o.degrees, to_string(o.interpolation), ending(o.like));
  }
  std::string operator()(const Gray&) const { return "gray"; }
};

}  // namespace

std::string to_string(const Operation& operation) { return std::visit(Text{}, operation); }

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
    const auto found = forms().find(name);
    if (found == forms().end()) {
      std::string known;
      for (const auto& [each, form] : forms()) known += (known.empty() ? "" : ", ") + each;
      throw Error(ErrorKind::invalid_argument, fmt::format("no operator \"{}\": there are {}", name, known));
    }
    Words words(part, found->second.form, like);
    chain.push_back(found->second.read(words));
    words.end();
    at = bar + 1;
  }
  return chain;
}

}  // namespace ridge::image

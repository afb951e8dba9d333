// The words of one operator in a chain's text, for example "gauss 2 3": read from left to right, with errors that show
// the operator's syntax.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

class Words {
 public:
  Words(const std::string& text, const std::string& syntax, Like like);
  // Convention of this operator: its last word if that names one, else the convention of the whole chain.
  Like like();
  [[noreturn]] void refuse(const std::string& why) const;
  bool more() const { return at_ < words_.size(); }
  // The next word; `what` names it if it is missing.
  const std::string& next(const char* what);
  double number(const char* what);
  std::size_t count(const char* what);  // a whole number from 0 to 1e9
  std::size_t count_or(const char* what, std::size_t otherwise) { return more() ? count(what) : otherwise; }
  std::vector<float> numbers(const char* what);  // comma-separated: 1,2,1
  void end() const;                              // refuses further words

 private:
  std::string syntax_;
  std::vector<std::string> words_;
  std::size_t at_ = 1;
  Like like_;
};

// Parses "3x5": two numbers above 0.
bool read_size(const std::string& text, std::size_t& before, std::size_t& behind);

// Last word of an operator with this convention.
inline const char* ending(Like like) { return like == Like::opencv ? " opencv" : ""; }

}  // namespace ridge::image

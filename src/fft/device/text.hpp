// Generated source: lines, indented by the blocks that are open.
#pragma once
#include <string>
#include <utility>

#include <fmt/format.h>

namespace ridge::fft::on_device {

class Text {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth_, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  // A line that ends with an opening brace, and the closing one.
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    ++depth_;
  }
  void open() {
    line("{{");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}}");
  }
  void raw(const std::string& text) { text_ += text; }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace ridge::fft::on_device

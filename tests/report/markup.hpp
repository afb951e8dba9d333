// A strict parser of the SVG and HTML that Ridgeline writes: every tag closed in order, everything escaped.
#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace markup {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // of the element and its children, unescaped (raw in script)
};

inline std::string unescaped(const std::string& text) {
  static const std::map<std::string, std::string> names{
      {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"#39", "'"}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '>') throw std::runtime_error("a bare > in: " + text.substr(0, 60));
    if (text[i] != '&') {
      out += text[i];
      continue;
    }
    const auto end = text.find(';', i);
    const auto found = names.find(end == std::string::npos ? "" : text.substr(i + 1, end - i - 1));
    if (found == names.end()) throw std::runtime_error("a bare & in: " + text.substr(i, 40));
    out += found->second;
    i = end;
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  // Returns the elements in the order in which they open; throws std::runtime_error at the first error.
  std::vector<Element> read() {
    if (source_.compare(0, 15, "<!doctype html>") == 0) at_ = 15;
    while (at_ < source_.size()) {
      const auto next = source_.find('<', at_);
      text(source_.substr(at_, next == std::string::npos ? next : next - at_));
      if (next == std::string::npos) break;
      at_ = next + 1;
      tag();
    }
    if (!open_.empty()) throw std::runtime_error("never closed: " + elements_[open_.back()].name);
    return std::move(elements_);
  }

 private:
  static bool is_void(const std::string& name) { return name == "meta" || name == "link"; }
  static bool is_raw(const std::string& name) { return name == "script" || name == "style"; }

  void text(const std::string& raw) {
    const std::string plain = unescaped(raw);
    for (const std::size_t element : open_) elements_[element].text += plain;
  }

  std::string name() {
    const auto start = at_;
    while (at_ < source_.size() && (std::isalnum(static_cast<unsigned char>(source_[at_])) || source_[at_] == '-'))
      ++at_;
    if (at_ == start) throw std::runtime_error("a bare < before: " + source_.substr(at_, 40));
    return source_.substr(start, at_ - start);
  }

  void skip_spaces() {
    while (at_ < source_.size() && std::isspace(static_cast<unsigned char>(source_[at_]))) ++at_;
  }

  void expect(char c) {
    if (at_ >= source_.size() || source_[at_] != c)
      throw std::runtime_error(std::string("expected ") + c +
                               " before: " + source_.substr(std::min(at_, source_.size()), 40));
    ++at_;
  }

  void tag() {
    if (at_ < source_.size() && source_[at_] == '/') {
      ++at_;
      const std::string closing = name();
      expect('>');
      if (open_.empty() || elements_[open_.back()].name != closing)
        throw std::runtime_error("closes nothing: " + closing);
      open_.pop_back();
      return;
    }
    Element element{name(), {}, ""};
    for (skip_spaces(); at_ < source_.size() && source_[at_] != '>' && source_[at_] != '/'; skip_spaces()) {
      const std::string attribute = name();
      expect('=');
      expect('"');
      const auto end = source_.find('"', at_);
      if (end == std::string::npos) throw std::runtime_error("an attribute without end");
      const std::string value = source_.substr(at_, end - at_);
      if (value.find('<') != std::string::npos) throw std::runtime_error("a bare < in an attribute: " + value);
      if (!element.attributes.emplace(attribute, unescaped(value)).second)
        throw std::runtime_error("an attribute twice: " + attribute);
      at_ = end + 1;
    }
    const bool closed = at_ < source_.size() && source_[at_] == '/';
    if (closed) ++at_;
    expect('>');
    elements_.push_back(element);
    if (is_raw(element.name)) {
      const auto end = source_.find("</" + element.name, at_);
      if (end == std::string::npos) throw std::runtime_error("never closed: " + element.name);
      elements_.back().text = source_.substr(at_, end - at_);
      at_ = end + 2 + element.name.size();
      expect('>');
    } else if (!closed && !is_void(element.name)) {
      open_.push_back(elements_.size() - 1);
    }
  }

  const std::string& source_;
  std::size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<std::size_t> open_;
};

inline std::vector<Element> read(const std::string& source) { return Reader(source).read(); }

}  // namespace markup

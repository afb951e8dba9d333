// Assembles kernel texts with the dialect's words, and shows the source around a compile error.
#include "device/dialect.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::detail {
namespace {

constexpr std::size_t kContext = 3;        // lines shown either side of the fault
constexpr std::size_t kLongestLine = 160;  // of source
constexpr std::size_t kLongestText = 400;  // of one compiler message
constexpr std::size_t kLongestLog = 2000;  // of a log that could not be read
constexpr std::size_t kMoreErrors = 5;

struct Fault {
  std::size_t line = 0;  // line of the assembled source, from 1; 0 if the compiler names none
  std::string message{};
};

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, longest)) + " ...";
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parses the number whose last digit is text[end - 1]; `end` moves to its first digit. Nothing if there is none or it
// is too large for a line number.
std::optional<std::size_t> number_before(std::string_view text, std::size_t& end) {
  std::size_t first = end;
  while (first > 0 && is_digit(text[first - 1])) --first;
  if (first == end || end - first > 9) return std::nullopt;
  std::size_t value = 0;
  for (std::size_t i = first; i < end; ++i) value = value * 10 + static_cast<std::size_t>(text[i] - '0');
  end = first;
  return value;
}

void remove_suffix(std::string_view& text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
}

// The line in "path:LINE:COL: " (clang, NVIDIA's OpenCL) or "name(LINE): " (NVRTC), as written before "error:".
std::optional<std::size_t> line_before_error(std::string_view head) {
  head = trimmed(head);
  remove_suffix(head, "fatal");
  remove_suffix(head, "catastrophic");
  head = trimmed(head);
  if (!head.ends_with(':')) return std::nullopt;
  std::size_t end = head.size() - 1;
  if (end > 0 && head[end - 1] == ')') {
    --end;
    const auto line = number_before(head, end);
    return end > 0 && head[end - 1] == '(' ? line : std::nullopt;
  }
  const auto last = number_before(head, end);
  if (!last || end == 0 || head[end - 1] != ':') return std::nullopt;
  --end;
  const auto line = number_before(head, end);
  // "path:LINE: " has no column.
  return line && (end == 0 || head[end - 1] == ':') ? line : last;
}

// PoCL writes "error: path:LINE:COL: message", and "path:LINE:COL <Spelling=...>: message" inside a macro.
std::optional<Fault> fault_after_error(std::string_view rest) {
  for (std::size_t at = rest.find(':'); at != std::string_view::npos; at = rest.find(':', at + 1)) {
    std::size_t line_end = at + 1;
    while (line_end < rest.size() && is_digit(rest[line_end])) ++line_end;
    if (line_end == at + 1 || line_end == rest.size() || rest[line_end] != ':') continue;
    std::size_t column_end = line_end + 1;
    while (column_end < rest.size() && is_digit(rest[column_end])) ++column_end;
    if (column_end == line_end + 1) continue;
    std::size_t number_end = line_end;
    const auto line = number_before(rest, number_end);
    const auto message = rest.find(": ", column_end);
    if (!line || message == std::string_view::npos) continue;
    return Fault{*line, std::string(trimmed(rest.substr(message + 2)))};
  }
  return std::nullopt;
}

std::optional<Fault> fault_in(std::string_view log_line) {
  constexpr std::string_view word = "error";
  const auto at = log_line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = log_line.substr(at + word.size());
  // "error:", and ptxas's "error   :"
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with(':')) return std::nullopt;
  rest = trimmed(rest.substr(1));
  if (const auto line = line_before_error(log_line.substr(0, at))) return Fault{*line, std::string(rest)};
  if (auto fault = fault_after_error(rest)) return fault;
  return Fault{0, std::string(rest)};
}

std::vector<Fault> faults_in(const std::string& log) {
  std::vector<Fault> faults;
  for (const std::string_view line : lines_of(log)) {
    if (auto fault = fault_in(line)) faults.push_back(std::move(*fault));
  }
  return faults;
}

// Line where the caller's text starts in the assembled source; assemble() puts it last.
std::size_t first_line_of(const KernelSource& source, const std::string& assembled) {
  const auto at = source.text.empty() ? assembled.size() : assembled.rfind(source.text);
  if (at == std::string::npos) return 1;
  return static_cast<std::size_t>(
      1 + std::count(assembled.begin(), assembled.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string place(std::size_t line, std::size_t first_line) {
  if (line == 0) return "";
  if (line >= first_line) return fmt::format("line {}: ", line - first_line + 1);
  return fmt::format("line {} of the prelude and defines: ", line);
}

// The lines around the error, numbered as in the caller's text; lines of the prelude keep their numbers in the
// assembled source.
std::string excerpt(const std::string& assembled, std::size_t line, std::size_t first_line) {
  const auto lines = lines_of(assembled);
  if (line == 0 || lines.empty()) return "";
  // A missing brace is reported past the end.
  line = std::min(line, lines.size());
  const bool in_text = line >= first_line;
  const std::size_t lowest = in_text ? first_line : 1;
  const std::size_t first = line > lowest + kContext ? line - kContext : lowest;
  const std::size_t last = std::min({line + kContext, lines.size(), in_text ? lines.size() : first_line - 1});
  std::string text;
  for (std::size_t i = first; i <= last; ++i) {
    text += fmt::format("\n{} {:>5} | {}", i == line ? ">" : " ", in_text ? i - first_line + 1 : i,
                        shortened(lines[i - 1], kLongestLine));
  }
  return text;
}

void check_define(const KernelSource& source, const std::string& name, const std::string& value) {
  if (!name.empty() && (name + value).find('\n') == std::string::npos) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("kernel program \"{}\": the define \"{}\" must have a name and stay on one line", source.name,
                          shortened(name.substr(0, name.find('\n')), kLongestLine)));
}

}  // namespace

std::string assemble(const std::string& prelude, const KernelSource& source, int& first_line) {
  std::string text = prelude;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const auto& [name, value] : source.defines) {
    check_define(source, name, value);
    text += fmt::format("#define {} {}\n", name, value);
  }
  first_line = static_cast<int>(1 + std::count(text.begin(), text.end(), '\n'));
  text += source.text;
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

std::string compile_message(const KernelSource& source, const std::string& assembled, const std::string& log) {
  const auto faults = faults_in(log);
  if (faults.empty()) {
    const auto reason = trimmed(log);
    return fmt::format("kernel program \"{}\" does not compile: {}", source.name,
                       reason.empty() ? "the compiler gave no reason" : shortened(reason, kLongestLog));
  }
  const std::size_t first_line = first_line_of(source, assembled);
  const Fault& fault = faults.front();
  std::string text = fmt::format("kernel program \"{}\" does not compile: {}{}", source.name,
                                 place(fault.line, first_line), shortened(fault.message, kLongestText));
  text += excerpt(assembled, fault.line, first_line);
  for (std::size_t i = 1; i < std::min(faults.size(), 1 + kMoreErrors); ++i) {
    text += fmt::format("\n  also {}{}", place(faults[i].line, first_line), shortened(faults[i].message, kLongestText));
  }
  if (faults.size() > 1 + kMoreErrors) text += fmt::format("\n  and {} more", faults.size() - 1 - kMoreErrors);
  return text;
}

int register_bound(const std::string& text, std::size_t registers) {
  constexpr std::string_view kWord = "WORK_GROUP_RESIDENT(";
  constexpr std::size_t kWarp = 32, kMost = 255, kStep = 8;
  std::size_t loosest = 0;
  for (std::size_t at = text.find(kWord); at != std::string::npos; at = text.find(kWord, at + 1)) {
    std::array<std::size_t, 4> numbers{};
    const char* next = text.data() + at + kWord.size();
    const char* const end = text.data() + text.size();
    bool read = true;
    for (std::size_t& number : numbers) {
      while (next != end && (*next == ' ' || *next == ',')) ++next;
      const auto [after, error] = std::from_chars(next, end, number);
      read = read && error == std::errc() && number > 0 && number <= 4096;
      if (!read) break;
      next = after;
    }
    if (!read) return 0;
    const std::size_t items = numbers[0] * numbers[1] * numbers[2];
    const std::size_t each = registers / (numbers[3] * ((items + kWarp - 1) / kWarp * kWarp));
    loosest = std::max(loosest, each >= kMost ? kMost : each / kStep * kStep);
  }
  return static_cast<int>(loosest >= 16 ? loosest : 0);
}

// Pointers need no address space in CUDA, and a kernel text may or may not say `const` after CONSTANT (OpenCL accepts
// both): CONSTANT adds it, and NVRTC's warning about a second one is switched off with the other warnings.
// __syncthreads() orders local and global memory within the group, so both barriers are the same.
std::string cuda_prelude() { return kernel_text("device/cuda_prelude"); }

}  // namespace ridge::detail

#include "cli/byte_option.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/text.hpp"

namespace ridge::cli {

void add_byte_option(CLI::App& command, const std::string& name, std::size_t& bytes, const std::string& help) {
  const auto parse = [name, &bytes](const std::string& text) {
    const auto parsed = base::parse_bytes(text);
    if (!parsed) throw Error(ErrorKind::invalid_argument, fmt::format("{} {}: write 64M or 2G", name, text));
    bytes = *parsed;
  };
  command.add_option_function<std::string>(name, parse, help)->type_name("BYTES");
}

}  // namespace ridge::cli

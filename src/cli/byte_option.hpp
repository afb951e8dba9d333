// An option whose value is a number of bytes: 64M, 2G, 4096.
#pragma once
#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

namespace ridge::cli {

// `bytes` must live as long as the command.
void add_byte_option(CLI::App& command, const std::string& name, std::size_t& bytes, const std::string& help);

}  // namespace ridge::cli

// Prints the rows of a benchmark table as they become available, so that an interrupted run has printed its results.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace ridge::cli {

class RowsAsTheyCome {
 public:
  // `table` has all rows so far, one line each below the header; prints the new ones.
  void show(const std::string& table, std::size_t rows) { show_lines(table, rows + 1); }
  // Prints the remaining rows and everything below them.
  void finish(const std::string& table) { show_lines(table, static_cast<std::size_t>(-1)); }

 private:
  void show_lines(const std::string& table, std::size_t end) {
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < table.size() && line < end; ++line) {
      const std::size_t newline = table.find('\n', begin);
      const std::size_t after = newline == std::string::npos ? table.size() : newline + 1;
      if (line >= printed_) fmt::print("{}", table.substr(begin, after - begin));
      begin = after;
    }
    printed_ = line;
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
  }

  std::size_t printed_ = 0;  // lines
};

}  // namespace ridge::cli

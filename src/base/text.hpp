// Formats numbers and tables for people to read.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::base {

std::string human_bytes(double bytes);                             // "227 KiB", "1.5 GiB"
std::string human_seconds(double seconds);                         // "12.3 us", "4.10 s"
std::string human_rate(double per_second, std::string_view unit);  // "4.25 TB/s", "67.1 GFLOP/s"
std::optional<std::size_t> parse_bytes(
    std::string_view text);  // "64M", "2 GiB", "4096"; nothing if the text is not a size

// Aligns columns: text left, numbers right. The first row is the header.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace ridge::base

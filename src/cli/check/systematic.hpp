// ridge check --systematic and --problems: checks listed transforms and writes an HTML page of the outcomes.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

namespace ridge::cli {

// Checks every length up to `most` and writes a page if `page` names a file. Exits with 2 if a result is wrong.
void check_systematically(const Device& device, std::size_t most, const std::string& page);
// Checks the problems of a file, one per line.
void check_file(const Device& device, const std::string& path);

}  // namespace ridge::cli

// ridge check --systematic and --problems: listed transforms, and a page of green and red.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

namespace ridge::cli {

// Every length up to `most`; a page where `page` names a file. Exit 2 where one is wrong.
void check_systematically(const Device& device, std::size_t most, const std::string& page);
// The problems of a file, a line each.
void check_file(const Device& device, const std::string& path);

}  // namespace ridge::cli

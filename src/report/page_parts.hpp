// The pieces of the page (page.hpp), as HTML.
#pragma once
#include <cstddef>
#include <string>

#include "report/page.hpp"

namespace ridge::report {

// A number with the key that leads to it in the page's data.
std::string marked(const std::string& key, double value, const std::string& text);
// A table's cell that carries its number, or a dash where there is none.
std::string cell(const std::string& key, double value, const std::string& text);
std::string digits(double value);  // three or more digits, no unit
std::string percent(double share);

std::string member_name(std::string id);  // of a device in the data: dots separate the steps of a key
std::string anchor(std::string text);     // for an id attribute

machine::Roofline roofline_of(const DeviceSection& device);  // with its points

// A drawing for a wide window and one for a phone; the style sheet shows one of them.
inline constexpr double kNarrowWidth = 330;
std::string figure(const std::string& wide, const std::string& narrow);

std::string device_card(const DeviceSection& device);
std::string bench_card(const Bench& bench, std::size_t index, const std::vector<std::string>& warnings);

}  // namespace ridge::report

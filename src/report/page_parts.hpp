// HTML parts of the report page (page.hpp).
#pragma once
#include <cstddef>
#include <string>

#include "report/page.hpp"

namespace ridge::report {

// A number with the key of its value in the page's data.
std::string marked(const std::string& key, double value, const std::string& text);
// A table cell with its number, or a dash if the value is not positive and finite.
std::string cell(const std::string& key, double value, const std::string& text);
std::string digits(double value);  // at least three significant digits, no unit
std::string percent(double share);

std::string member_name(
    std::string id);                   // name of a device in the data, without dots: dots separate the parts of a key
std::string anchor(std::string text);  // text usable as an id attribute

machine::Roofline roofline_of(const DeviceSection& device);  // including the device's points

// Two drawings, for a wide window and for a phone; the style sheet shows one of them.
inline constexpr double kNarrowWidth = 330;
std::string figure(const std::string& wide, const std::string& narrow);

std::string device_card(const DeviceSection& device);
std::string bench_card(const Bench& bench, std::size_t index, const std::vector<std::string>& warnings);

// Style sheet (CSS) of the report page; the charts' own style is in base/svg.hpp.
std::string page_style();

}  // namespace ridge::report

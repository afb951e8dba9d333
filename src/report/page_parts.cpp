// HTML helpers of the report page: numbers with keys, table cells, figures.
#include "report/page_parts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.hpp"

namespace ridge::report {

using base::svg::escape;

std::string marked(const std::string& key, double value, const std::string& text) {
  return fmt::format("<span{}>{}</span>", base::svg::data(key, value), escape(text));
}

std::string cell(const std::string& key, double value, const std::string& text) {
  if (!(value > 0) || !std::isfinite(value)) return "<td class=\"n none\">–</td>";
  return fmt::format("<td class=\"n\"{}>{}</td>", base::svg::data(key, value), escape(text));
}

std::string digits(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.3g}", value);
}
std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string member_name(std::string id) {
  std::replace(id.begin(), id.end(), '.', '_');
  return id;
}

std::string anchor(std::string text) {
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return text;
}

std::string figure(const std::string& wide, const std::string& narrow) {
  return "<div class=\"figure wide\">\n" + wide + "</div>\n<div class=\"figure narrow\">\n" + narrow + "</div>\n";
}

machine::Roofline roofline_of(const DeviceSection& device) {
  machine::Roofline roofline = machine::roofline(device.profile);
  roofline.points = device.points;
  return roofline;
}

}  // namespace ridge::report

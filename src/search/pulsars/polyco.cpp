// Reads polyco files of tempo: untrusted text, each number checked.
#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <ridge/search/fold.hpp>

#include "base/number.hpp"

namespace ridge::search {
namespace {

double number_of(std::string word, const std::string& name, std::size_t line) {
  std::replace(word.begin(), word.end(), 'D', 'e');
  std::replace(word.begin(), word.end(), 'd', 'e');
  const std::optional<double> value = base::number_of(word);
  if (!value || !std::isfinite(*value))
    throw Error(ErrorKind::io, fmt::format("{}: line {}: \"{}\" is not a number", name, line, word));
  return *value;
}

}  // namespace

std::vector<PolycoBlock> parse_polyco(std::string_view text, const std::string& name) {
  std::istringstream in{std::string(text)};
  std::string line;
  std::size_t number = 0;
  const auto next_words = [&] {
    std::vector<std::string> words;
    while (words.empty() && std::getline(in, line)) {
      ++number;
      std::istringstream parts(line);
      for (std::string word; parts >> word;) words.push_back(word);
    }
    return words;
  };
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::io, fmt::format("{}: line {}: {}", name, number, what));
  };
  std::vector<PolycoBlock> blocks;
  for (std::vector<std::string> first = next_words(); !first.empty(); first = next_words()) {
    if (first.size() < 4) fail("needs a pulsar's name, date, time and MJD: not a polyco file");
    PolycoBlock block;
    const std::string& mjd = first[3];
    const std::size_t dot = std::min(mjd.find('.'), mjd.size());
    const double day = number_of(mjd.substr(0, dot), name, number);
    if (!(day >= 0) || !(day < 1e7)) fail(fmt::format("{} is not a modified Julian day", mjd));
    block.day = static_cast<std::int64_t>(day);
    block.second = dot == mjd.size() ? 0 : 86400 * number_of("0" + mjd.substr(dot), name, number);
    const std::vector<std::string> second = next_words();
    if (second.size() < 5) fail("needs phase, frequency, observatory, span and number of coefficients");
    const std::size_t point = second[0].find('.');
    const double fraction = point == std::string::npos ? 0 : number_of("0" + second[0].substr(point), name, number);
    block.reference_phase = second[0].starts_with('-') ? -fraction : fraction;
    block.frequency = number_of(second[1], name, number);
    block.span_minutes = number_of(second[3], name, number);
    const double count = number_of(second[4], name, number);
    if (!(block.frequency > 0) || !(block.span_minutes > 0) || !(count >= 1) || !(count <= 64))
      fail("needs a positive frequency and span and 1 to 64 coefficients");
    while (static_cast<double>(block.coefficients.size()) < count) {
      const std::vector<std::string> words = next_words();
      if (words.empty()) fail(fmt::format("ends after {} of {} coefficients", block.coefficients.size(), count));
      for (const std::string& word : words) block.coefficients.push_back(number_of(word, name, number));
    }
    blocks.push_back(std::move(block));
    if (blocks.size() > 100000) fail("more than 100000 blocks");
  }
  if (blocks.empty()) throw Error(ErrorKind::io, name + ": contains no polyco block");
  return blocks;
}

}  // namespace ridge::search

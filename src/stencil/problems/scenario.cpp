// Parsing of borders and reproducible random numbers for scenarios.
#include "stencil/problems/scenario.hpp"

#include <array>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "stencil/problems/scenario_parts.hpp"

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

Border kind_of(const std::string& word, const std::string& whole) {
  for (const Border border : {Border::fixed, Border::mirror, Border::periodic}) {
    if (word == to_string(border)) return border;
  }
  refuse(fmt::format("--border {}: no kind \"{}\": use fixed, mirror or periodic", whole, word));
}

}  // namespace

void check_shape(const std::vector<std::size_t>& shape, std::size_t least_axes, std::size_t most_axes) {
  if (shape.size() < least_axes || shape.size() > most_axes) {
    refuse(fmt::format(
        "a grid of {} axes; this problem has {}", shape.size(),
        least_axes == most_axes ? fmt::to_string(least_axes) : fmt::format("{} to {}", least_axes, most_axes)));
  }
  std::size_t cells = 1;
  for (const std::size_t side : shape) {
    if (side == 0 || __builtin_mul_overflow(cells, side, &cells) || cells > (std::size_t{1} << 48)) {
      refuse(
          fmt::format("a grid of {} cells; sides must be 1 or more and not too large to count", fmt::join(shape, "x")));
    }
  }
}

Borders parse_borders(const std::string& text, std::size_t dimensions) {
  if (text.find('=') == std::string::npos && text.find(',') == std::string::npos) {
    const std::size_t slash = text.find('/');
    Borders borders = Borders::all(kind_of(text.substr(0, slash), text));
    if (slash != std::string::npos) borders.high.fill(kind_of(text.substr(slash + 1), text));
    return borders;
  }
  Borders borders;
  std::array<bool, 3> known{};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const std::string axes = "zyx";
    const std::size_t axis = part.size() > 2 && part[1] == '=' ? axes.find(part[0]) : std::string::npos;
    if (axis == std::string::npos || axis < 3 - dimensions) {
      refuse(fmt::format("--border {}: \"{}\" names no axis of this grid; write {}", text, part,
                         dimensions == 1   ? "x=periodic"
                         : dimensions == 2 ? "x=periodic,y=fixed/mirror"
                                           : "x=periodic,y=fixed,z=fixed/mirror"));
    }
    const std::string kinds = part.substr(2);
    const std::size_t slash = kinds.find('/');
    const std::size_t index = axis - (3 - dimensions);  // axes are ordered slowest first
    borders.low[index] = kind_of(kinds.substr(0, slash), text);
    borders.high[index] = slash == std::string::npos ? borders.low[index] : kind_of(kinds.substr(slash + 1), text);
    known[index] = true;
  }
  for (std::size_t index = 0; index < dimensions; ++index) {
    if (!known[index]) {
      refuse(fmt::format("--border {}: the axis {} is missing", text, "zyx"[index + 3 - dimensions]));
    }
  }
  return borders;
}

std::string borders_text(const Borders& borders, std::size_t dimensions) {
  std::string text;
  for (std::size_t index = dimensions; index-- > 0;) {
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : ",", "zyx"[index + 3 - dimensions], to_string(borders.low[index]));
    if (borders.high[index] != borders.low[index]) text += fmt::format("/{}", to_string(borders.high[index]));
  }
  return text;
}

double random_share(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed * 0x9E3779B97F4A7C15u + index + 1;  // splitmix64
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace ridge::stencil

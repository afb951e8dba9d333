// Reads the result dumps of the two programs and computes their largest relative difference.
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include <ridge/error.hpp>

#include "place/judge/judge.hpp"

namespace ridge::place::judge {
namespace {

// Largest difference relative to the largest value; infinite if only one of two values is NaN or infinite.
template <class T>
double apart(const std::string& a, const std::string& b, bool exact) {
  const std::size_t n = a.size() / sizeof(T);
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < n; ++i) {
    T x{}, y{};
    std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (std::isfinite(x)) scale = std::max(scale, std::abs(static_cast<double>(x)));
      continue;
    }
    if (exact || !std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
    scale = std::max(scale, std::abs(static_cast<double>(x)));
    worst = std::max(worst, std::abs(static_cast<double>(x) - static_cast<double>(y)));
  }
  return worst == 0 ? 0 : worst / scale;
}

}  // namespace

double allowed(const Report& report) { return report.reassociates ? 1e-4 : report.libm ? 2e-5 : 0; }

std::vector<Array> read_dump(const std::string& dump) {
  std::vector<Array> all;
  std::size_t at = 0;
  while (at < dump.size()) {
    const std::size_t end = dump.find('\n', at);
    if (end == std::string::npos) throw Error(ErrorKind::io, "the results of the compared program are truncated");
    std::istringstream line(dump.substr(at, end - at));
    Array a;
    std::size_t bytes = 0;
    if (!(line >> a.name >> a.type >> bytes) || bytes > dump.size() - end - 1)
      throw Error(ErrorKind::io, "the results of the compared program are malformed");
    a.bytes = dump.substr(end + 1, bytes);
    at = end + 1 + bytes;
    all.push_back(std::move(a));
  }
  return all;
}

double difference(const std::vector<Array>& a, const std::vector<Array>& b, bool exact, std::string& where) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return infinite;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double d = infinite;
    if (a[i].name == b[i].name && a[i].type == b[i].type && a[i].bytes.size() == b[i].bytes.size()) {
      if (a[i].type == "float")
        d = apart<float>(a[i].bytes, b[i].bytes, exact);
      else if (a[i].type == "double")
        d = apart<double>(a[i].bytes, b[i].bytes, exact);
      else
        d = a[i].bytes == b[i].bytes ? 0 : infinite;
    }
    if (!(d <= worst)) {
      worst = d;
      where = a[i].name;
    }
  }
  return worst;
}

}  // namespace ridge::place::judge

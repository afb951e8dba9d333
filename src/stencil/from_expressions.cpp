// Updates that are given as expressions at run time.
#include <ridge/stencil/from_expressions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "stencil/host/kernels/linear_rows.hpp"

namespace ridge::stencil {
namespace {

bool sums_fit(const std::vector<Term>& terms, std::size_t fields, bool whole_numbers) {
  std::vector<bool> reached(fields);
  for (const Term& term : terms) {
    reached[term.to] = true;
    if (whole_numbers && (term.weight != std::nearbyint(term.weight) || std::fabs(term.weight) > 2147483647.0))
      return false;
  }
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

}  // namespace

template <class T>
Update<T> from_expressions(std::size_t dimensions, const std::vector<Expression>& outputs, std::string name) {
  Update<T> made;
  made.dimensions = dimensions;
  made.fields = outputs.size();
  made.outputs = outputs;
  made.name = name;
  detail::complete(made);
  if (made.linear && sums_fit(*made.linear, made.fields, !std::is_floating_point_v<T>)) {
    return linear<T>(dimensions, *made.linear, std::move(name));
  }
  made.row = tape_rows<T>(made.outputs, made.radius);
  made.rows_at_once = 1;
  return made;
}

template Update<float> from_expressions(std::size_t, const std::vector<Expression>&, std::string);
template Update<double> from_expressions(std::size_t, const std::vector<Expression>&, std::string);
template Update<std::int32_t> from_expressions(std::size_t, const std::vector<Expression>&, std::string);
template Update<std::uint8_t> from_expressions(std::size_t, const std::vector<Expression>&, std::string);

}  // namespace ridge::stencil

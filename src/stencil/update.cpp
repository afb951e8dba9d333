// Recording and validation of stencil updates.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/update.hpp>

#include "stencil/expression.hpp"
#include "stencil/host/kernels/linear_rows.hpp"

namespace ridge::stencil {
namespace {

constexpr int kMostRadius = 512;  // far beyond use; keeps every product of radii small

[[noreturn]] void refuse_update(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil update: " + what);
}

void check_dimensions(std::size_t dimensions) {
  if (dimensions < 1 || dimensions > 3) refuse_update(fmt::format("{} dimensions: 1, 2 or 3 are possible", dimensions));
}

void check_offset(const Offset& offset, std::size_t dimensions) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis < 3 - dimensions && offset[axis] != 0)
      refuse_update(fmt::format(
          "offset ({}, {}, {}) leaves the {} dimensions: write the slowest axis first and 0 for unused axes", offset[0],
          offset[1], offset[2], dimensions));
    if (offset[axis] < -kMostRadius || offset[axis] > kMostRadius)
      refuse_update(fmt::format("offset ({}, {}, {}) is beyond the largest radius of {} cells", offset[0], offset[1],
                                offset[2], kMostRadius));
  }
}

double linear_flops(const std::vector<Term>& terms, std::size_t fields) {
  return 2 * static_cast<double>(terms.size()) - static_cast<double>(fields);
}

template <class Keep>
std::vector<Offset> offsets_where(std::size_t dimensions, int order, bool centre, const Keep& keep) {
  check_dimensions(dimensions);
  if (order < 0 || order > kMostRadius)
    refuse_update(fmt::format("a shape needs an order from 0 to {}, got order {}", kMostRadius, order));
  const int rz = dimensions > 2 ? order : 0, ry = dimensions > 1 ? order : 0;
  std::vector<Offset> offsets;
  for (int z = -rz; z <= rz; ++z) {
    for (int y = -ry; y <= ry; ++y) {
      for (int x = -order; x <= order; ++x) {
        const bool is_centre = z == 0 && y == 0 && x == 0;
        if (is_centre ? centre : keep(std::abs(z), std::abs(y), std::abs(x))) offsets.push_back({z, y, x});
      }
    }
  }
  return offsets;
}

}  // namespace

std::vector<Offset> von_neumann(std::size_t dimensions, int order, bool centre) {
  return offsets_where(dimensions, order, centre,
                       [](int z, int y, int x) { return (z != 0) + (y != 0) + (x != 0) == 1; });
}

std::vector<Offset> diamond(std::size_t dimensions, int order, bool centre) {
  return offsets_where(dimensions, order, centre, [order](int z, int y, int x) { return z + y + x <= order; });
}

std::vector<Offset> moore(std::size_t dimensions, int order, bool centre) {
  return offsets_where(dimensions, order, centre, [](int, int, int) { return true; });
}

std::vector<Term> weighted(const std::vector<Offset>& offsets, double weight) {
  std::vector<Term> terms;
  for (const Offset& offset : offsets) terms.push_back({.offset = offset, .weight = weight});
  return terms;
}

namespace detail {

template <class T>
void Recorder<T>::check(std::size_t offsets) const {
  check_dimensions(dimensions_);
  if (offsets != dimensions_)
    refuse_update(fmt::format("a neighbour is read with {} offsets, the update needs {} (one per dimension)", offsets,
                              dimensions_));
}

namespace {

// Extends the radius and the number of coefficients to include one read. Error for a read that no stencil can have.
template <class T>
void include_read(Update<T>& update, Node::Kind kind, std::size_t field, const Offset& offset) {
  check_offset(offset, update.dimensions);
  for (std::size_t axis = 0; axis < 3; ++axis)
    update.radius[axis] = std::max(update.radius[axis], std::abs(offset[axis]));
  if (kind == Node::Kind::coefficient) {
    if (field > 255) refuse_update(fmt::format("coefficient {} does not exist: at most 256 are possible", field));
    update.coefficients = std::max(update.coefficients, field + 1);
  } else if (field >= update.fields) {
    refuse_update(fmt::format("field {} is read, but the function returns {} new {} (one per field is needed)", field,
                              update.fields, update.fields == 1 ? "value" : "values"));
  }
}

}  // namespace

template <class T>
void complete(Update<T>& update, const std::vector<Expression>& reads) {
  check_dimensions(update.dimensions);
  if (update.outputs.empty() || update.outputs.size() != update.fields) refuse_update("it needs one output per field");
  const Tape tape = flatten(update.outputs);
  update.radius = {};
  update.coefficients = 0;
  for (const Operation& operation : tape.operations) {
    if (operation.kind == Node::Kind::constant && !std::isfinite(operation.value))
      refuse_update(fmt::format("constants must be finite, got {}", operation.value));
    if (operation.kind == Node::Kind::square_root && !std::is_floating_point_v<T>)
      refuse_update("square roots need floating-point cells");
    if (operation.kind == Node::Kind::read || operation.kind == Node::Kind::coefficient)
      include_read(update, operation.kind, operation.field, operation.offset);
  }
  for (const Expression& read : reads) include_read(update, read->kind, read->field, read->offset);
  if (!update.sums_terms) update.linear = linear_form(tape);
  update.flops = update.linear ? linear_flops(*update.linear, update.fields) : count_flops(tape);
  if (update.name.empty()) {
    update.name =
        fmt::format("{}D {} {}", update.dimensions,
                    update.linear ? fmt::format("{}-point", update.linear->size()) : "function", fingerprint(tape));
  }
}

}  // namespace detail

template <class T>
Update<T> linear(std::size_t dimensions, const std::vector<Term>& terms, std::string name) {
  using C = Compute<T>;
  check_dimensions(dimensions);
  if (terms.empty()) refuse_update("a linear stencil without terms: at least 1 is needed");
  Update<T> made;
  made.dimensions = dimensions;
  made.fields = 0;
  made.name = std::move(name);
  made.sums_terms = true;
  for (const Term& term : terms) {
    if (term.to > 255 || term.field > 255)
      refuse_update(fmt::format("a term reads field {} and writes field {}: at most 256 fields are possible",
                                term.field, term.to));
    made.fields = std::max({made.fields, term.to + 1, term.field + 1});
  }
  made.outputs.resize(made.fields);
  made.linear.emplace();
  for (Term term : terms) {
    check_offset(term.offset, dimensions);
    if (!std::isfinite(term.weight))
      refuse_update(fmt::format("weights must be finite: the one at ({}, {}, {}) is {}", term.offset[0], term.offset[1],
                                term.offset[2], term.weight));
    if constexpr (std::is_floating_point_v<C>) {
      const double given = std::exchange(term.weight, static_cast<C>(term.weight));
      if (!std::isfinite(term.weight))
        refuse_update(fmt::format("weights of float cells must be below 3.4e38, got {}", given));
    } else if (term.weight != std::nearbyint(term.weight) || std::fabs(term.weight) > 2147483647.0) {
      refuse_update(fmt::format("the weight {} is not an integer of 32 bits, which integer cells need", term.weight));
    }
    const Expression weight = make_constant(term.weight), read = make_read(Node::Kind::read, term.field, term.offset);
    Expression& sum = made.outputs[term.to];
    sum = sum ? make_node(Node::Kind::fma, {weight, read, sum}) : make_node(Node::Kind::multiply, {weight, read});
    made.linear->push_back(term);
  }
  for (std::size_t field = 0; field < made.fields; ++field) {
    if (!made.outputs[field]) refuse_update(fmt::format("no term leads to field {}: every field needs one", field));
  }
  detail::complete(made);
  made.row = linear_rows<T>(*made.linear, made.radius, made.fields);
  return made;
}

template Update<float> linear(std::size_t, const std::vector<Term>&, std::string);
template Update<double> linear(std::size_t, const std::vector<Term>&, std::string);
template Update<std::int32_t> linear(std::size_t, const std::vector<Term>&, std::string);
template Update<std::uint8_t> linear(std::size_t, const std::vector<Term>&, std::string);
namespace detail {
template void complete(Update<float>&, const std::vector<Expression>&);
template void complete(Update<double>&, const std::vector<Expression>&);
template void complete(Update<std::int32_t>&, const std::vector<Expression>&);
template void complete(Update<std::uint8_t>&, const std::vector<Expression>&);
template class Recorder<float>;
template class Recorder<double>;
template class Recorder<std::int32_t>;
template class Recorder<std::uint8_t>;
}  // namespace detail

}  // namespace ridge::stencil

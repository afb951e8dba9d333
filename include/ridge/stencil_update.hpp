// What a stencil does to a cell, written once: as a function of neighbours, or as offsets and weights.
//
// update<T>(dimensions, f): f is a generic lambda. It gets an accessor u with u(dy, dx) for the single field, u.field(k, dy,
// dx) for field k, u.coefficient(k, dy, dx) for per-cell coefficients, and returns the new value (or a std::array of them, a
// value a field). It may use + - * /, min, max, abs, sqrt, fma, select(a < b, x, y) from ridge::stencil. It is called with
// plain values on the host, inlined into the row loop (no call a cell), and with expressions when a device's source, the
// linear form or the flop count is wanted: so it must not branch on values (use select).
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ridge::stencil {

using Offset = std::array<int, 3>;  // slowest axis first; unused axes are 0 and come first: 2D is {0, dy, dx}

// u(new) of field `to` += weight * u(old) of field `field` at `offset`
struct Term {
  Offset offset{};
  double weight = 0;
  std::size_t field = 0;
  std::size_t to = 0;
};

// The tree of an update, for devices and for counting. Nodes are immutable and shared.
struct Node;
using Expression = std::shared_ptr<const Node>;
struct Node {
  enum class Kind { constant, read, coefficient, add, subtract, multiply, divide, fma, minimum, maximum, absolute, square_root,
                    negate, less, equal, select };
  Kind kind{};
  double value = 0;       // constant
  std::size_t field = 0;  // read, coefficient
  Offset offset{};        // read, coefficient
  std::vector<Expression> operands{};
};

// One output row from its neighbour rows: what a host engine calls, once a row, whatever the update is.
template <class T>
struct Rows {
  // in[((field * (2 rz + 1) + dz + rz) * (2 ry + 1) + dy + ry] points at x = 0 of that row; x + dx may be read for |dx| <= rx
  const T* const* in = nullptr;
  const T* const* coefficients = nullptr;  // the same order
  T* const* out = nullptr;                 // a row a field
  std::size_t begin = 0, end = 0;          // x range to compute
};

template <class T>
struct Update {
  std::size_t dimensions = 2;
  std::size_t fields = 1;
  std::size_t coefficients = 0;
  Offset radius{};                                 // along each axis
  std::vector<Expression> outputs;                 // a field each
  std::optional<std::vector<Term>> linear;         // constant weights, no constant term: what the fastest kernels take
  std::function<void(const Rows<T>&)> row;         // the inlined loop
  double flops = 0;                                // a cell: 2 l - 1 for l weighted points
  std::string name;                                // for keys and explain: equal for equal updates
};

// From offsets and weights. Points are summed in the order given, starting with the first, with FMA from the second on
// (documented, so that host and device agree bit for bit).
template <class T>
Update<T> linear(std::size_t dimensions, const std::vector<Term>& terms, std::string name = "");

// Shapes: every offset with |dx| + |dy| + |dz| <= order (Von Neumann), or with max <= order (Moore).
std::vector<Offset> von_neumann(std::size_t dimensions, int order, bool centre = true);
std::vector<Offset> moore(std::size_t dimensions, int order, bool centre = true);

}  // namespace ridge::stencil

// Number types for update functions: Value<C>, a plain number on the host, and Recorded<C>, which records the same
// operations as an expression for devices. Both support the same operations, so one generic lambda works with both: + -
// * / (also with plain numbers, which are rounded to C first), < <= > >= == !=, && || !, and the functions min, max,
// abs, sqrt, fma, select. Results are bit-identical everywhere unless the compiler contracts products and sums to FMA:
// GCC does so unless the translation unit with the lambda is compiled with -ffp-contract=off.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace ridge::stencil {

using Offset = std::array<int, 3>;  // slowest axis first; unused axes are 0 and come first: 2D is {0, dy, dx}

// Integers narrower than int are computed as int and truncated on store; integers wrap.
template <class T>
using Compute = std::conditional_t<std::is_floating_point_v<T>, T, std::int32_t>;

// --- the tree of an update ------------------------------------------------------------------------------------------
// Nodes are immutable and shared. less, less_equal, equal, both, either and opposite yield a truth value, which only
// select, both, either and opposite accept. minimum(a, b) is b < a ? b : a, maximum(a, b) is a < b ? b : a. absolute(a)
// is a < 0 ? -a : a for integers and clears the sign bit of floats, so that NaN and -0 behave the same everywhere.
struct Node;
using Expression = std::shared_ptr<const Node>;
struct Node {
  enum class Kind {
    constant,
    read,
    coefficient,
    add,
    subtract,
    multiply,
    divide,
    fma,
    minimum,
    maximum,
    absolute,
    square_root,
    negate,
    less,
    less_equal,
    equal,
    both,
    either,
    opposite,
    select
  };
  Kind kind{};
  double value = 0;       // constant
  std::size_t field = 0;  // read, coefficient
  Offset offset{};        // read, coefficient
  std::vector<Expression> operands{};
};
inline Expression make_node(Node::Kind kind, std::vector<Expression> operands) {
  return std::make_shared<const Node>(Node{kind, 0, 0, {}, std::move(operands)});
}
inline Expression make_constant(double value) {
  return std::make_shared<const Node>(Node{Node::Kind::constant, value, 0, {}, {}});
}
inline Expression make_read(Node::Kind kind, std::size_t field, const Offset& offset) {
  return std::make_shared<const Node>(Node{kind, 0, field, offset, {}});
}

// --- on the host ----------------------------------------------------------------------------------------------------
template <class C>
struct Truth {
  bool value = false;
  friend Truth operator&&(Truth a, Truth b) { return {static_cast<bool>(a.value & b.value)}; }
  friend Truth operator||(Truth a, Truth b) { return {static_cast<bool>(a.value | b.value)}; }
  friend Truth operator!(Truth a) { return {!a.value}; }
};

template <class C>
struct Value {
  C value{};
  Value() = default;
  template <class A>
  requires std::is_arithmetic_v<A> Value(A number) : value(static_cast<C>(number)) {}  // NOLINT: implicit on purpose

  friend Value operator+(Value a, Value b) {
    return wrapped(a, b, [](auto p, auto q) { return p + q; });
  }
  friend Value operator-(Value a, Value b) {
    return wrapped(a, b, [](auto p, auto q) { return p - q; });
  }
  friend Value operator*(Value a, Value b) {
    return wrapped(a, b, [](auto p, auto q) { return p * q; });
  }
  friend Value operator/(Value a, Value b) { return Value(static_cast<C>(a.value / b.value)); }
  friend Value operator-(Value a) {
    if constexpr (std::is_floating_point_v<C>) {
      return Value(-a.value);
    } else {
      return Value(C{0}) - a;
    }
  }
  friend Value operator+(Value a) { return a; }
  Value& operator+=(Value b) { return *this = *this + b; }
  Value& operator-=(Value b) { return *this = *this - b; }
  Value& operator*=(Value b) { return *this = *this * b; }
  Value& operator/=(Value b) { return *this = *this / b; }

  friend Truth<C> operator<(Value a, Value b) { return {a.value < b.value}; }
  friend Truth<C> operator<=(Value a, Value b) { return {a.value <= b.value}; }
  friend Truth<C> operator>(Value a, Value b) { return {b.value < a.value}; }
  friend Truth<C> operator>=(Value a, Value b) { return {b.value <= a.value}; }
  friend Truth<C> operator==(Value a, Value b) { return {a.value == b.value}; }
  friend Truth<C> operator!=(Value a, Value b) { return {!(a.value == b.value)}; }

  friend Value min(Value a, Value b) { return b.value < a.value ? b : a; }
  friend Value max(Value a, Value b) { return a.value < b.value ? b : a; }
  friend Value abs(Value a) {
    if constexpr (std::is_floating_point_v<C>) {
      return Value(std::fabs(a.value));
    } else {
      return a.value < 0 ? -a : a;
    }
  }
  friend Value sqrt(Value a) {
    static_assert(std::is_floating_point_v<C>, "ridge::stencil: integers have no square root here");
    return Value(std::sqrt(a.value));
  }
  friend Value fma(Value a, Value b, Value c) {
    if constexpr (std::is_floating_point_v<C>) {
      return Value(std::fma(a.value, b.value, c.value));
    } else {
      return a * b + c;
    }
  }

 private:
  template <class Operation>
  static Value wrapped(Value a, Value b, Operation operation) {
    if constexpr (std::is_floating_point_v<C>) {
      return Value(operation(a.value, b.value));
    } else {
      using Unsigned = std::make_unsigned_t<C>;
      return Value(static_cast<C>(operation(static_cast<Unsigned>(a.value), static_cast<Unsigned>(b.value))));
    }
  }
};
template <class C>
Value<C> select(Truth<C> truth, std::type_identity_t<Value<C>> yes, std::type_identity_t<Value<C>> no) {
  return truth.value ? yes : no;
}

// --- recorded -------------------------------------------------------------------------------------------------------
template <class C>
struct RecordedTruth {
  Expression expression{};
  friend RecordedTruth operator&&(const RecordedTruth& a, const RecordedTruth& b) {
    return {make_node(Node::Kind::both, {a.expression, b.expression})};
  }
  friend RecordedTruth operator||(const RecordedTruth& a, const RecordedTruth& b) {
    return {make_node(Node::Kind::either, {a.expression, b.expression})};
  }
  friend RecordedTruth operator!(const RecordedTruth& a) { return {make_node(Node::Kind::opposite, {a.expression})}; }
};

template <class C>
struct Recorded {
  Expression expression{};
  Recorded() : Recorded(0) {}
  explicit Recorded(Expression made) : expression(std::move(made)) {}
  template <class A>
  requires std::is_arithmetic_v<A> Recorded(A number)  // NOLINT: implicit on purpose
      : expression(make_constant(static_cast<double>(static_cast<C>(number)))) {}

  friend Recorded operator+(const Recorded& a, const Recorded& b) { return two(Node::Kind::add, a, b); }
  friend Recorded operator-(const Recorded& a, const Recorded& b) { return two(Node::Kind::subtract, a, b); }
  friend Recorded operator*(const Recorded& a, const Recorded& b) { return two(Node::Kind::multiply, a, b); }
  friend Recorded operator/(const Recorded& a, const Recorded& b) { return two(Node::Kind::divide, a, b); }
  friend Recorded operator-(const Recorded& a) { return one(Node::Kind::negate, a); }
  friend Recorded operator+(const Recorded& a) { return a; }
  Recorded& operator+=(const Recorded& b) { return *this = *this + b; }
  Recorded& operator-=(const Recorded& b) { return *this = *this - b; }
  Recorded& operator*=(const Recorded& b) { return *this = *this * b; }
  Recorded& operator/=(const Recorded& b) { return *this = *this / b; }

  friend RecordedTruth<C> operator<(const Recorded& a, const Recorded& b) { return truth(Node::Kind::less, a, b); }
  friend RecordedTruth<C> operator<=(const Recorded& a, const Recorded& b) {
    return truth(Node::Kind::less_equal, a, b);
  }
  friend RecordedTruth<C> operator>(const Recorded& a, const Recorded& b) { return b < a; }
  friend RecordedTruth<C> operator>=(const Recorded& a, const Recorded& b) { return b <= a; }
  friend RecordedTruth<C> operator==(const Recorded& a, const Recorded& b) { return truth(Node::Kind::equal, a, b); }
  friend RecordedTruth<C> operator!=(const Recorded& a, const Recorded& b) { return !(a == b); }

  friend Recorded min(const Recorded& a, const Recorded& b) { return two(Node::Kind::minimum, a, b); }
  friend Recorded max(const Recorded& a, const Recorded& b) { return two(Node::Kind::maximum, a, b); }
  friend Recorded abs(const Recorded& a) { return one(Node::Kind::absolute, a); }
  friend Recorded sqrt(const Recorded& a) { return one(Node::Kind::square_root, a); }
  friend Recorded fma(const Recorded& a, const Recorded& b, const Recorded& c) {
    return Recorded(make_node(Node::Kind::fma, {a.expression, b.expression, c.expression}));
  }

 private:
  static Recorded one(Node::Kind kind, const Recorded& a) { return Recorded(make_node(kind, {a.expression})); }
  static Recorded two(Node::Kind kind, const Recorded& a, const Recorded& b) {
    return Recorded(make_node(kind, {a.expression, b.expression}));
  }
  static RecordedTruth<C> truth(Node::Kind kind, const Recorded& a, const Recorded& b) {
    return {make_node(kind, {a.expression, b.expression})};
  }
};
template <class C>
Recorded<C> select(const RecordedTruth<C>& truth, const std::type_identity_t<Recorded<C>>& yes,
                   const std::type_identity_t<Recorded<C>>& no) {
  return Recorded<C>(make_node(Node::Kind::select, {truth.expression, yes.expression, no.expression}));
}

}  // namespace ridge::stencil

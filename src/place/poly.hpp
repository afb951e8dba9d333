// Integer polynomials: what subscripts and bounds become. A symbol is an iterator, a parameter or a quotient rounded
// down; affine means that no term multiplies two symbols.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ridge::place {

class Poly {
 public:
  using Term = std::vector<std::string>;  // symbols in order, repeated for powers; empty: the constant

  static Poly constant(long value);
  static Poly symbol(const std::string& name);
  // floor(poly / divisor) as a new symbol. C rounds to zero: only the same where the poly is not negative.
  static Poly quotient(const Poly& poly, long divisor);
  static Poly extreme(bool largest, const Poly& a, const Poly& b);  // max or min of two affine ones

  const std::map<Term, long>& terms() const { return terms_; }
  void set(const Term& term, long factor);
  Poly plus(const Poly& other, long factor = 1) const;
  std::optional<Poly> times(const Poly& other) const;  // nothing where the numbers would not fit
  Poly substituted(const std::map<std::string, Poly>& values) const;

  std::optional<long> value() const;  // where it is a constant
  bool affine() const;
  bool fits() const { return fits_; }  // false: a coefficient has overflowed on the way
  bool operator==(const Poly& other) const { return terms_ == other.terms_; }
  std::vector<std::string> symbols() const;  // every name, those inside quotients included
  std::string text() const;                  // in isl's notation, in parentheses

 private:
  std::map<Term, long> terms_{};
  bool fits_ = true;
};

// poly >= 0, or poly = 0.
struct Constraint {
  Poly poly{};
  bool equality = false;
  std::string text() const;
};
using Conjunction = std::vector<Constraint>;
using Condition = std::vector<Conjunction>;  // any of them; an empty list is never true

Condition both(const Condition& a, const Condition& b);
Condition either(Condition a, const Condition& b);
std::string text(const Conjunction& all);  // "true" where there is none

}  // namespace ridge::place

// Integer polynomials for subscripts and bounds. A symbol is an iterator, a parameter, a quotient rounded down or a
// minimum or maximum. Affine: no term multiplies two symbols.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ridge::place {

class Poly {
 public:
  using Term = std::vector<std::string>;  // symbols in order, repeated for powers; empty: the constant term

  static Poly constant(long value);
  static Poly symbol(const std::string& name);
  // floor(poly / divisor) as a new symbol. C rounds towards zero, which is the same only for poly >= 0.
  static Poly quotient(const Poly& poly, long divisor);
  static Poly extreme(bool largest, const Poly& a, const Poly& b);  // max or min of two affine polynomials

  const std::map<Term, long>& terms() const { return terms_; }
  void set(const Term& term, long factor);
  Poly plus(const Poly& other, long factor = 1) const;
  std::optional<Poly> times(const Poly& other) const;  // empty if a coefficient overflows or there are over 256 terms
  Poly substituted(const std::map<std::string, Poly>& values) const;

  std::optional<long> value() const;  // set if it is a constant
  bool affine() const;
  bool fits() const { return fits_; }  // false: a coefficient has overflowed
  bool operator==(const Poly& other) const { return terms_ == other.terms_; }
  std::vector<std::string> symbols() const;  // all names, also those inside quotients
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
using Condition = std::vector<Conjunction>;  // disjunction; an empty list is never true

Condition both(const Condition& a, const Condition& b);
Condition either(Condition a, const Condition& b);
std::string conjunction_text(const Conjunction& all);  // "true" if empty

}  // namespace ridge::place

// Arithmetic of integer polynomials with overflow checks, and their text in isl's notation.
#include "place/poly.hpp"

#include <algorithm>
#include <set>

namespace ridge::place {
namespace {

struct Composed {
  enum class Kind { quotient, largest, smallest } kind = Kind::quotient;
  Poly first{}, second{};
  long divisor = 1;
};

// Definitions of the symbols that stand for quotients, minima and maxima. Global: a process analyzes one program.
std::map<std::string, Composed>& composed() {
  static std::map<std::string, Composed> all;
  return all;
}

}  // namespace

Poly Poly::constant(long value) {
  Poly p;
  if (value != 0) p.terms_[{}] = value;
  return p;
}

Poly Poly::symbol(const std::string& name) {
  Poly p;
  p.terms_[{name}] = 1;
  return p;
}

Poly Poly::quotient(const Poly& poly, long divisor) {
  const std::string name = "floor(" + poly.text() + "/" + std::to_string(divisor) + ")";
  composed()[name] = {Composed::Kind::quotient, poly, {}, divisor};
  return symbol(name);
}

Poly Poly::extreme(bool largest, const Poly& a, const Poly& b) {
  const std::string name = (largest ? "max(" : "min(") + a.text() + ", " + b.text() + ")";
  composed()[name] = {largest ? Composed::Kind::largest : Composed::Kind::smallest, a, b, 1};
  return symbol(name);
}

void Poly::set(const Term& term, long factor) {
  if (factor == 0)
    terms_.erase(term);
  else
    terms_[term] = factor;
}

Poly Poly::plus(const Poly& other, long factor) const {
  Poly result = *this;
  result.fits_ = fits_ && other.fits_;
  for (const auto& [term, count] : other.terms_) {
    long product = 0, sum = 0;
    const auto at = result.terms_.find(term);
    const long before = at == result.terms_.end() ? 0 : at->second;
    if (__builtin_mul_overflow(factor, count, &product) || __builtin_add_overflow(before, product, &sum)) {
      result.fits_ = false;
      sum = 0;
    }
    result.set(term, sum);
  }
  return result;
}

std::optional<Poly> Poly::times(const Poly& other) const {
  if (terms_.size() * other.terms_.size() > 256) return {};
  Poly result;
  result.fits_ = fits_ && other.fits_;
  for (const auto& [a, x] : terms_)
    for (const auto& [b, y] : other.terms_) {
      Term term = a;
      term.insert(term.end(), b.begin(), b.end());
      std::sort(term.begin(), term.end());
      long product = 0;
      if (__builtin_mul_overflow(x, y, &product)) return {};
      Poly one;
      one.set(term, product);
      result = result.plus(one);
    }
  if (!result.fits_) return {};
  return result;
}

Poly Poly::substituted(const std::map<std::string, Poly>& values) const {
  Poly result;
  result.fits_ = fits_;
  for (const auto& [term, count] : terms_) {
    std::optional<Poly> product = constant(count);
    for (const std::string& name : term) {
      Poly factor = symbol(name);
      if (const auto at = values.find(name); at != values.end()) {
        factor = at->second;
      } else if (const auto inner = composed().find(name); inner != composed().end()) {
        const Composed c = inner->second;
        const Poly first = c.first.substituted(values);
        factor = c.kind == Composed::Kind::quotient
                     ? quotient(first, c.divisor)
                     : extreme(c.kind == Composed::Kind::largest, first, c.second.substituted(values));
        result.fits_ = result.fits_ && first.affine();  // isl allows no products inside floor, min and max
      }
      product = product->times(factor);
      if (!product) {
        result.fits_ = false;
        return result;
      }
    }
    result = result.plus(*product);
  }
  return result;
}

std::optional<long> Poly::value() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return {};
}

bool Poly::affine() const {
  return fits_ && std::all_of(terms_.begin(), terms_.end(), [](const auto& term) { return term.first.size() <= 1; });
}

std::vector<std::string> Poly::symbols() const {
  std::set<std::string> found;
  for (const auto& [term, count] : terms_)
    for (const std::string& name : term) {
      const auto inner = composed().find(name);
      if (inner == composed().end()) {
        found.insert(name);
        continue;
      }
      for (const Poly* part : {&inner->second.first, &inner->second.second})
        for (const std::string& deeper : part->symbols()) found.insert(deeper);
    }
  return {found.begin(), found.end()};
}

std::string Poly::text() const {
  std::string text;
  for (const auto& [term, count] : terms_) {
    if (!text.empty()) text += " + ";
    text += std::to_string(count);
    for (const std::string& name : term) text += "*" + name;
  }
  return "(" + (text.empty() ? "0" : text) + ")";
}

std::string Constraint::text() const { return poly.text() + (equality ? " = 0" : " >= 0"); }

Condition both(const Condition& a, const Condition& b) {
  Condition result;
  for (const Conjunction& x : a)
    for (const Conjunction& y : b) {
      Conjunction all = x;
      all.insert(all.end(), y.begin(), y.end());
      result.push_back(all);
    }
  return result;
}

Condition either(Condition a, const Condition& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string conjunction_text(const Conjunction& all) {
  std::string text;
  for (const Constraint& one : all) text += (text.empty() ? "" : " and ") + one.text();
  return text.empty() ? "true" : text;
}

}  // namespace ridge::place

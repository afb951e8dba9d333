// Writes the guard function of a transformed nest and its call.
#include <algorithm>
#include <map>
#include <set>

#include "place/analysis/footprint.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

struct Range {
  std::string data{}, bytes{};  // bytes: text over the guard's parameters
  std::string first{};          // first byte, if it is not at `data`
  bool written = false;
};

// The address as C: reinterpret_cast<T*>(a) becomes (T*)(a).
std::string in_c(std::string text) {
  const std::string cast = "reinterpret_cast<";
  for (std::size_t at = text.find(cast); at != std::string::npos; at = text.find(cast, at)) {
    const std::size_t end = text.find(">(", at);
    if (end == std::string::npos) return text;
    text =
        text.substr(0, at) + "(" + text.substr(at + cast.size(), end - at - cast.size()) + ")" + text.substr(end + 1);
  }
  return text;
}

class Maker {
 public:
  Guard run(const std::vector<const State*>& states) {
    for (const State* s : states) read(*s);
    std::vector<Range> all = ranges_;
    const bool several =
        all.size() > 1 && std::any_of(all.begin(), all.end(), [](const Range& r) { return r.written; });
    Guard made;
    if (!several) all.clear();
    if (several && unknown_) return made.possible = false, made;
    if (!several && tests_.empty()) return made;
    std::string body, formals, actuals;
    const auto pass = [&](const std::string& formal, const std::string& actual) {
      formals += (formals.empty() ? "" : ", ") + formal;
      actuals += (actuals.empty() ? "" : ", ") + actual;
    };
    std::string test;
    for (const std::string& t : tests_) test += (test.empty() ? "" : " &&\n         ") + ("(" + t + ")");
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string name = "a" + std::to_string(k);
      pass("const void* " + name, in_c(all[k].data));
      body += "  const char* const " + name + "_from = (const char*)" + name +
              (all[k].first.empty() ? "" : " + (" + all[k].first + ")") + ";\n  const char* const " + name +
              "_to = " + "(const char*)" + name + " + (" + all[k].bytes + ");\n";
    }
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t m = k + 1; m < all.size(); ++m) {
        if (!all[k].written && !all[m].written) continue;
        const std::string a = "a" + std::to_string(k), b = "a" + std::to_string(m);
        test += (test.empty() ? "" : " &&\n         ") +
                ("(" + a + "_to <= " + b + "_from || " + b + "_to <= " + a + "_from)");
      }
    for (const auto& [host, formal] : formals_)
      if (text::names(body, formal) || text::names(test, formal)) pass("long " + formal, "(long)(" + host + ")");
    std::string name;
    for (int k = 1; name.empty() || states[0]->text.find(name + "(") != std::string::npos; ++k)
      name = kGuard + std::to_string(k);
    std::string helpers;  // functions, because the file may be C
    const std::pair<const char*, const char*> known[] = {
        {"min", "(long a, long b) { return b < a ? b : a; }"},
        {"max", "(long a, long b) { return a < b ? b : a; }"},
        {"floord", "(long n, long d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }"}};
    for (const auto& [word, text] : known)
      if (text::names(body, word) || text::names(test, word)) {
        helpers += "static long " + name + "_" + word + text + "\n";
        body = text::replaced(body, word, name + "_" + word);
        test = text::replaced(test, word, name + "_" + word);
      }
    made.function =
        helpers +
        "// True if the arrays do not overlap and the sizes allow the loops below to run in another order.\nstatic "
        "int " +
        name + "(" + formals + ") {\n" + body + "  return " + test + ";\n}\n\n";
    made.call = name + "(" + actuals + ")";
    return made;
  }

 private:
  std::vector<Range> ranges_{};
  std::vector<std::string> tests_{};
  std::map<std::string, std::string> formals_{};  // by C++ expression
  bool unknown_ = false;

  std::string formal(const std::string& host) {
    const auto [at, fresh] = formals_.emplace(host, "");
    if (fresh) at->second = "n" + std::to_string(formals_.size());
    return at->second;
  }

  void add(const Range& r) {
    for (Range& known : ranges_)
      if (known.data == r.data) {
        known.written |= r.written;
        if (known.bytes != r.bytes) known.bytes = "max(" + known.bytes + ", " + r.bytes + ")";
        if (known.first != r.first)
          known.first =
              "min(" + (known.first.empty() ? "0" : known.first) + ", " + (r.first.empty() ? "0" : r.first) + ")";
        return;
      }
    ranges_.push_back(r);
  }

  void read(const State& state) {
    const Nest& nest = state.nest;
    std::map<std::string, std::string> words;
    for (const std::string& p : nest.parameters)
      for (const Variable& v : nest.variables)
        if (v.name == p) {
          words[p] = formal(v.host);
          if (v.bytes > 4 || v.is_unsigned)
            tests_.push_back(words[p] + " <= 2147483647 && " + words[p] + " >= -2147483647");
        }
    for (const analysis::Assumption& a : state.relations.assumptions)
      tests_.push_back(text::replaced(analysis::condition_text(a.holds), words));
    const auto all = analysis::footprints(state.relations, 0);
    const bool own_apart = std::all_of(all.begin(), all.end(), [&](const analysis::Footprint& f) {
      return !nest.variables[f.variable].outlives || nest.variables[f.variable].given;
    });
    for (const analysis::Footprint& f : all) {
      const Variable& v = nest.variables[f.variable];
      if (!v.outlives && own_apart) continue;
      Range r{v.data, "",
              f.first.empty() ? "" : "(" + text::replaced(f.first, words) + ") * " + std::to_string(v.bytes),
              f.written};
      if (f.known)
        r.bytes = "(" + text::replaced(f.elements, words) + ") * " + std::to_string(v.bytes);
      else if (!v.count.empty())
        r.bytes = formal(v.count) + " * " + std::to_string(v.bytes);
      else
        unknown_ = true;
      if (f.why.find("before its first") != std::string::npos) unknown_ = true;
      add(r);
    }
    std::set<int> changed;
    text::visit_accesses(nest.root, [&](const Access& a) {
      if (a.write) changed.insert(a.variable);
    });
    for (std::size_t k = 0; k < nest.variables.size(); ++k) {
      const Variable& v = nest.variables[k];
      const bool written = !v.array() && changed.count(static_cast<int>(k)) > 0;
      const bool meets = std::any_of(all.begin(), all.end(), [&](const analysis::Footprint& f) {
        return (f.written || written) && may_change(nest.variables[f.variable], v);
      });
      if (meets || (written && !v.home.empty())) add({v.home, formal(v.home_bytes), "", written});
    }
  }
};

}  // namespace

Guard guard(const std::vector<const State*>& states) { return Maker().run(states); }

}  // namespace ridge::place::transform

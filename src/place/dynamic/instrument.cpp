#include "place/dynamic/instrument.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::place::dynamic {
namespace {

// A tree of loops by the loops around them when they ran. One thread, the first that enters a loop, is measured.
constexpr const char* kRuntime = R"(#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace ridge_run {
using Clock = std::chrono::steady_clock;
struct Node {
  int loop = -1, parent = -1, last = -1;
  long entries = 0, turns = 0;
  Clock::duration time{};
};
struct Branch {
  long held = 0, failed = 0;
};
struct Table {
  std::vector<Node> nodes{1};
  std::vector<Branch> branches;
  int current = 0;
  Clock::time_point start = Clock::now();
  ~Table() {
    const char* name = std::getenv("RIDGE_RUN_OUT");
    std::FILE* out = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (out == nullptr) return;
    const auto ns = [](Clock::duration d) {
      return static_cast<long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
    };
    nodes[0].time = Clock::now() - start;
    for (const Node& n : nodes) std::fprintf(out, "%d %d %ld %ld %lld\n", n.loop, n.parent, n.entries, n.turns, ns(n.time));
    for (std::size_t i = 0; i < branches.size(); ++i)
      if (branches[i].held + branches[i].failed > 0) std::fprintf(out, "if %zu %ld %ld\n", i, branches[i].held, branches[i].failed);
    std::fclose(out);
  }
};
inline Table& whole() {
  static Table table;
  return table;
}
inline Table& started = whole();
inline std::atomic<bool> taken{false};
inline thread_local Table* mine = taken.exchange(true) ? nullptr : &whole();
template <bool timed>
class Loop {
 public:
  explicit Loop(int loop) {
    Table* t = mine;
    if (t == nullptr) return;
    before_ = t->current;
    int at = t->nodes[static_cast<std::size_t>(before_)].last;
    if (at < 0 || t->nodes[static_cast<std::size_t>(at)].loop != loop) {
      at = -1;
      for (std::size_t i = 1; i < t->nodes.size() && at < 0; ++i)
        if (t->nodes[i].loop == loop && t->nodes[i].parent == before_) at = static_cast<int>(i);
      if (at < 0) {
        at = static_cast<int>(t->nodes.size());
        t->nodes.push_back({loop, before_});
      }
      t->nodes[static_cast<std::size_t>(before_)].last = at;
    }
    t->current = at;
    ++t->nodes[static_cast<std::size_t>(at)].entries;
    if (timed) start_ = Clock::now();
  }
  ~Loop() {
    Table* t = mine;
    if (t == nullptr || before_ < 0) return;
    if (timed) t->nodes[static_cast<std::size_t>(t->current)].time += Clock::now() - start_;
    t->current = before_;
  }
  bool once() { return first_ && !(first_ = false); }

 private:
  int before_ = -1;
  bool first_ = true;
  Clock::time_point start_{};
};
inline void turn() {
  if (Table* t = mine) ++t->nodes[static_cast<std::size_t>(t->current)].turns;
}
inline bool asked(std::size_t branch, bool holds) {
  if (Table* t = mine) {
    if (branch >= t->branches.size()) t->branches.resize(branch + 1);
    ++(holds ? t->branches[branch].held : t->branches[branch].failed);
  }
  return holds;
}
}  // namespace ridge_run
)";

struct Insert {
  unsigned at = 0;
  int order = 0;  // at one place: ends of inner loops before ends of outer ones, then beginnings
  std::string text{};
};

// Where the condition of if (...) begins and ends; nothing where it declares a name or is not plain to see.
std::pair<unsigned, unsigned> condition(const std::string& text) {
  if (text.compare(0, 2, "if") != 0) return {};
  const auto from = text.find_first_not_of(" \n\t", 2);
  if (from == std::string::npos || text[from] != '(') return {};
  int open = 0;
  for (std::size_t k = from; k < text.size(); ++k) {
    if (std::string("\"';#").find(text[k]) != std::string::npos || text.compare(k, 2, "//") == 0 ||
        text.compare(k, 2, "/*") == 0)
      return {};
    open += text[k] == '(';
    open -= text[k] == ')';
    if (open == 0) return {static_cast<unsigned>(from) + 1, static_cast<unsigned>(k)};
  }
  return {};
}

}  // namespace

std::string instrumented(const Report& report, const std::string& source, const std::set<std::string>& timed,
                         bool count) {
  std::vector<Insert> inserts;
  std::set<unsigned> seen, branches;
  for (std::size_t k = 0; k < report.loops.size(); ++k) {
    const LoopVerdict& l = report.loops[k];
    if (l.end <= l.begin || l.end > source.size() || !seen.insert(l.begin).second) continue;
    if (!count && timed.count(l.id) == 0) continue;
    // A for that runs once rather than braces: it may stand wherever the loop does, before an else too.
    inserts.push_back({l.begin, 2,
                       fmt::format("for (::ridge_run::Loop<{}> ridge_run_{}({}); ridge_run_{}.once();) ",
                                   count ? "false" : "true", k, k, k)});
    if (!count || l.body < l.begin || l.body >= l.end) continue;
    if (source[l.body] == '{') {
      inserts.push_back({l.body + 1, 3, " ::ridge_run::turn(); "});
    } else if (l.kind != "do") {
      inserts.push_back({l.body, 1, "{ ::ridge_run::turn(); "});
      inserts.push_back({l.end, 0, " }"});
    }
  }
  for (std::size_t k = 0; count && k < report.spine.size(); ++k) {
    const SpineNode& n = report.spine[k];
    if (n.kind != "branch" || n.end <= n.begin || n.end > source.size()) continue;
    const auto [from, to] = condition(source.substr(n.begin, n.end - n.begin));
    if (to == 0 || !branches.insert(n.begin).second) continue;
    inserts.push_back({n.begin + from, 2, fmt::format("::ridge_run::asked({}, bool((", k)});
    inserts.push_back({n.begin + to, 0, ")))"});
  }
  std::stable_sort(inserts.begin(), inserts.end(),
                   [](const Insert& a, const Insert& b) { return a.at != b.at ? a.at < b.at : a.order < b.order; });
  std::string text = kRuntime;
  text += "#line 1\n";
  unsigned at = 0;
  for (const Insert& i : inserts) {
    text += source.substr(at, i.at - at) + i.text;
    at = i.at;
  }
  return text + source.substr(at);
}

Records read_records(const std::string& text) {
  Records all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "if") {
      Asked a;
      if (words >> a.node >> a.held >> a.failed) all.branches.push_back(a);
      continue;
    }
    Record r;
    double ns = 0;
    if (!(std::istringstream(line) >> r.loop >> r.parent >> r.entries >> r.turns >> ns)) break;
    r.seconds = ns * 1e-9;
    if (all.loops.empty()) all.seconds = r.seconds;
    if (!all.loops.empty() && (r.parent < 0 || r.parent >= static_cast<int>(all.loops.size())))
      throw Error(ErrorKind::io, "the instrumented program's record is damaged");
    all.loops.push_back(r);
  }
  if (all.loops.empty())
    throw Error(ErrorKind::io, "the instrumented program left no record: did it end by abort or _exit?");
  return all;
}

}  // namespace ridge::place::dynamic

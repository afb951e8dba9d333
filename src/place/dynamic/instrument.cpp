// Text of the instrumented program, its counting run time, and the parser of its records.
#include "place/dynamic/instrument.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::place::dynamic {
namespace {

// Run time of the instrumented program: a tree of loops and functions by their enclosing loops and callers. Only the
// first thread that enters one is measured. A recursive call is counted at the node of the outermost call, so that
// recursion neither grows the tree nor counts time twice.
constexpr const char* kRuntime = R"(#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>
namespace ridge_run {
inline long long now_ns() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1000000000LL * now.tv_sec + now.tv_nsec;
}
struct Node {
  int loop = -1, parent = -1, last = -1, active = 0;
  long entries = 0, turns = 0;
  long long time = 0, start = 0;  // ns
};
struct Branch {
  long held = 0, failed = 0;
};
struct Table {
  std::vector<Node> nodes{1};
  std::vector<Branch> branches;
  std::vector<long> calls;
  int current = 0;
  long long start = now_ns();
  Node& node(int at) { return nodes[static_cast<std::size_t>(at)]; }
  int child(int what) {
    int at = node(current).last;
    if (at >= 0 && node(at).loop == what) return at;
    at = -1;
    for (std::size_t i = 1; i < nodes.size() && at < 0; ++i)
      if (nodes[i].loop == what && nodes[i].parent == current) at = static_cast<int>(i);
    if (at < 0) {
      at = static_cast<int>(nodes.size());
      Node made;
      made.loop = what;
      made.parent = current;
      nodes.push_back(made);
    }
    node(current).last = at;
    return at;
  }
  void enter(int at, bool timed) {
    current = at;
    ++node(at).entries;
    if (node(at).active++ == 0 && timed) node(at).start = now_ns();
  }
  void leave(int at, int before, bool timed) {
    if (--node(at).active == 0 && timed) node(at).time += now_ns() - node(at).start;
    current = before;
  }
  ~Table() {
    const char* name = std::getenv("RIDGE_RUN_OUT");
    std::FILE* out = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (out == nullptr) return;
    const long long now = now_ns();
    nodes[0].time = now - start;
    for (Node& n : nodes)
      if (n.active > 0 && n.start != 0) n.time += now - n.start;  // still active: the program called exit()
    for (const Node& n : nodes) std::fprintf(out, "%d %d %ld %ld %lld\n", n.loop, n.parent, n.entries, n.turns, n.time);
    for (std::size_t i = 0; i < branches.size(); ++i)
      if (branches[i].held + branches[i].failed > 0) std::fprintf(out, "if %zu %ld %ld\n", i, branches[i].held, branches[i].failed);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i] > 0) std::fprintf(out, "call %zu %ld\n", i, calls[i]);
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
    t->enter(at_ = t->child(loop), timed);
  }
  ~Loop() {
    if (before_ >= 0) mine->leave(at_, before_, timed);
  }
  bool once() { return first_ && !(first_ = false); }

 private:
  int before_ = -1, at_ = -1;
  bool first_ = true;
};
template <bool timed>
class Function {
 public:
  explicit Function(int function) {
    Table* t = mine;
    if (t == nullptr) return;
    if (!timed) {
      const auto k = static_cast<std::size_t>(function);
      if (k >= t->calls.size()) t->calls.resize(k + 1);
      if (++t->calls[k] > 10000000) return;  // called too often for a clock: gets no node
    }
    const int what = -2 - function;
    before_ = t->current;
    for (int at = before_; at > 0 && at_ < 0; at = t->node(at).parent)
      if (t->node(at).loop == what) at_ = at;
    if (at_ < 0) at_ = t->child(what);
    t->enter(at_, timed);
  }
  Function(const Function&) = delete;
  ~Function() {
    if (before_ >= 0) mine->leave(at_, before_, timed);
  }

 private:
  int before_ = -1, at_ = -1;
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
  int order = 0;  // at equal positions: ends of inner loops, ends of outer loops, then beginnings
  std::string text{};
};

// Byte range of the condition in if (...); {0, 0} if it declares a variable or contains strings or comments.
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
                         const std::set<int>& functions, bool count) {
  std::vector<Insert> inserts;
  std::set<unsigned> seen, branches;
  for (std::size_t k = 0; k < report.loops.size(); ++k) {
    const LoopVerdict& l = report.loops[k];
    if (l.end <= l.begin || l.end > source.size() || !seen.insert(l.begin).second) continue;
    if (!count && timed.count(l.id) == 0) continue;
    // A for statement that runs once instead of braces: it is valid wherever the loop is, also before an else.
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
  for (std::size_t k = 0; k < report.functions.size(); ++k) {
    const unsigned at = report.functions[k].body;
    if (at >= source.size() || source[at] != '{' || (!count && functions.count(static_cast<int>(k)) == 0)) continue;
    inserts.push_back(
        {at + 1, 0,
         fmt::format(" const ::ridge_run::Function<{}> ridge_run_function({}); ", count ? "false" : "true", k)});
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
      BranchCount a;
      if (words >> a.node >> a.held >> a.failed) all.branches.push_back(a);
      continue;
    }
    if (first == "call") {
      std::size_t function = 0;
      double calls = 0;
      if (words >> function >> calls) all.calls[static_cast<int>(function)] = calls;
      continue;
    }
    Record r;
    double ns = 0;
    if (!(std::istringstream(line) >> r.loop >> r.parent >> r.entries >> r.turns >> ns)) break;
    r.seconds = ns * 1e-9;
    if (all.loops.empty()) all.seconds = r.seconds;
    if (!all.loops.empty() && (r.parent < 0 || r.parent >= static_cast<int>(all.loops.size())))
      throw Error(ErrorKind::io, "--run: the record of the instrumented program is malformed");
    all.loops.push_back(r);
  }
  if (all.loops.empty())
    throw Error(ErrorKind::io, "--run: the instrumented program wrote no record; it must not end by abort or _exit");
  return all;
}

}  // namespace ridge::place::dynamic

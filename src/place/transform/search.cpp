// Applies transformations one at a time, keeps those that place more loops, and maps loops back to the user's file.
#include "place/transform/search.hpp"

#include <isl/ctx.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "place/analysis/memo.hpp"
#include "place/edited.hpp"
#include "place/text/words.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

constexpr int kReadings = 12;  // plus kReadingsOfANest per nest
constexpr int kReadingsOfANest = 3;
constexpr double kSeconds = 10;                                    // no further proposal is tried
constexpr double kMostSeconds = 20;                                // the current one is given up
constexpr unsigned long kNestOperations = 2000000;                 // of isl, per nest of a transformed program
constexpr char kOriginal[] = "\n} else { /* original loops */\n";  // after the transformed loops of a guard

int number(const std::string& id) {
  const auto at = id.rfind('l');
  return std::atoi(id.c_str() + at + 1);
}

// Maps each loop of the current text to the loops of the user's file that it comes from, per function.
class Origins {
 public:
  std::vector<std::string> of(const std::string& prefix, int loop) const {
    const auto function = map_.find(prefix);
    if (function == map_.end() || loop > static_cast<int>(function->second.size()))
      return {prefix + "l" + std::to_string(loop)};
    return function->second[static_cast<std::size_t>(loop - 1)];
  }
  std::vector<std::string> of(const std::string& id) const {
    const auto dot = id.rfind('.');
    return of(dot == std::string::npos ? "" : id.substr(0, dot + 1), number(id));
  }
  // Replaces the loops first .. first + count - 1 by `loops`.
  Origins with(const std::string& prefix, int first, int count, const std::vector<std::string>& loops) const {
    Origins next = *this;
    std::vector<std::vector<std::string>> list;
    for (int k = 1; k < first; ++k) list.push_back(of(prefix, k));
    for (const std::string& from : loops) {
      std::vector<std::string> all;
      std::istringstream words(from);
      for (std::string id; std::getline(words, id, ',');)
        for (const std::string& old : of(prefix, number(id))) all.push_back(old);
      list.push_back(all);
    }
    for (int k = first + count; k < first + count + 200; ++k) list.push_back(of(prefix, k));
    next.map_[prefix] = list;
    return next;
  }

 private:
  std::map<std::string, std::vector<std::vector<std::string>>> map_{};
};

int worth(const Report& report, const Origins& origins) {
  std::set<std::string> placed, grid;
  int around = 0;
  for (const LoopVerdict& l : report.loops)
    for (const std::string& id : origins.of(l.id)) {
      if (l.placed) placed.insert(id);
      if (l.placed && l.axis >= 0) grid.insert(id);
    }
  for (const KernelReport& k : report.kernels) {
    std::string at = k.loops.empty() ? "" : k.loops[0];
    for (bool found = true; found && !at.empty();) {
      found = false;
      for (const LoopVerdict& l : report.loops)
        if (l.id == at) {
          at = l.parent;
          around += at.empty() ? 0 : 1;
          found = true;
          break;
        }
    }
  }
  return 10 * static_cast<int>(placed.size()) + 5 * static_cast<int>(grid.size()) - 3 * around -
         static_cast<int>(report.kernels.size());
}

// Kernels with much work per launch: not a single loop that a wavefront launches once per step.
long substantial_kernels(const Report& report) {
  return std::count_if(report.kernels.begin(), report.kernels.end(), [&](const KernelReport& k) {
    std::string parent;
    bool inner = k.loops.size() > 1;
    for (const LoopVerdict& l : report.loops) {
      if (!k.loops.empty() && l.id == k.loops[0]) parent = l.parent;
      inner |= !k.loops.empty() && l.parent == k.loops[0];
    }
    return inner || std::none_of(report.loops.begin(), report.loops.end(), [&](const LoopVerdict& l) {
             return l.id == parent && l.source.find(" wave") != std::string::npos;
           });
  });
}

struct Found {  // a nest of the program
  int function = -1, nest = -1;
  std::string prefix{};
  const Part* next = nullptr;  // the nest directly after it
};

class Search {
 public:
  Search(AnalyzedProgram program, const Analyze& reanalyze, analysis::Memo& memo, Report& report)
      : now_(std::move(program)), analyze_(reanalyze), memo_(memo), report_(report), start_(std::clock()) {
    memo.operations = kNestOperations;
    for (const Function& f : now_.program.functions) most_ += kReadingsOfANest * static_cast<int>(f.nests.size());
  }

  std::optional<AnalyzedProgram> run() {
    {
      const Watch watch(*this);
      while (step()) {
      }
    }
    if (spent())
      report_.notes.push_back("the search for transformations stopped after " + std::to_string(readings_) +
                              " parses of the program: more may be possible");
    report_.readings += readings_;
    if (!changed_) return {};
    for (LoopVerdict& l : report_.loops) l.placed = false, l.axis = -1;
    for (const LoopVerdict& l : now_.report.loops)
      for (const std::string& id : origins_.of(l.id))
        if (LoopVerdict* old = loop(id)) {
          old->placed |= l.placed;
          if (l.axis >= 0) old->axis = l.axis;
          if (l.placed) old->not_placed.clear();
        }
    report_.kernels = now_.report.kernels;
    for (KernelReport& k : report_.kernels) {
      std::vector<std::string> ids;
      for (const std::string& id : k.loops)
        for (const std::string& old : origins_.of(id)) ids.push_back(old);
      if (ids.empty()) ids.emplace_back();  // a single statement
      k.loops = ids;
    }
    return std::move(now_);
  }

 private:
  AnalyzedProgram now_;
  const Analyze& analyze_;
  analysis::Memo& memo_;
  Report& report_;
  std::clock_t start_;  // CPU time, so that the result does not depend on the load of the machine
  Origins origins_{};
  std::set<std::string> tried_{}, exhausted_{};  // proposals; transformations of a nest without further proposals
  int readings_ = 0, most_ = kReadings;
  bool changed_ = false;

  // Stops isl when the time is spent: a single operation on a large system of constraints may take seconds, and isl's
  // own quota counts operations.
  class Watch {
   public:
    explicit Watch(const Search& search)
        : context_(search.memo_.context()), thread_([this, &search] {
            std::unique_lock lock(mutex_);
            while (!wake_.wait_for(lock, std::chrono::milliseconds(20), [this] { return done_; }))
              if (search.seconds() > kMostSeconds) isl_ctx_abort(context_.get());
          }) {}
    ~Watch() {
      {
        const std::lock_guard lock(mutex_);
        done_ = true;
      }
      wake_.notify_one();
      thread_.join();
      isl_ctx_resume(context_.get());
    }

   private:
    isl::ctx context_;
    std::mutex mutex_{};
    std::condition_variable wake_{};
    bool done_ = false;
    std::thread thread_;
  };

  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }

  LoopVerdict* loop(const std::string& id) {
    for (LoopVerdict& l : report_.loops)
      if (l.id == id) return &l;
    return nullptr;
  }

  void note(const Found& at, const std::vector<std::string>& loops, const std::string& text, bool taken) {
    std::set<std::string> ids;
    for (const std::string& from : loops) {
      std::istringstream words(from);
      for (std::string id; std::getline(words, id, ',');)
        for (const std::string& old : origins_.of(at.prefix, number(id))) ids.insert(old);
    }
    const std::string said =
        text::each_word(text, [&](const std::string& word, std::size_t&) {  // with the loop ids of the user's file
          if (word.size() < 2 || word[0] != 'l' || word.find_first_not_of("0123456789", 1) != std::string::npos)
            return word;
          const auto old = origins_.of(at.prefix, number(word));
          return old.empty() ? word : old.front().substr(old.front().rfind('.') + 1);
        });
    for (const std::string& id : ids)
      if (LoopVerdict* l = loop(id)) {
        auto& list = taken ? l->transformed : l->tried;
        if (std::find(list.begin(), list.end(), said) == list.end()) list.push_back(said);
      }
  }

  void gather(const Part& part, int function, const std::string& prefix, std::vector<Found>& all) const {
    if (part.kind == PartKind::nest) {
      all.push_back({function, part.nest, prefix, nullptr});
      if (now_.chains.count({function, part.nest}) > 0) return;
    }
    for (std::size_t k = 0; k < part.children.size(); ++k) {
      const std::size_t at = all.size();
      gather(part.children[k], function, prefix, all);
      if (part.kind == PartKind::sequence && k + 1 < part.children.size() && part.children[k].kind == PartKind::nest &&
          part.children[k + 1].kind == PartKind::nest)
        all[at].next = &part.children[k + 1];
    }
  }

  bool spent() const { return readings_ >= most_ || seconds() > kSeconds; }

  // True if the nest's loops are numbered consecutively; otherwise it contains loops that the model does not show.
  static bool numbered(const Nest& nest, int& first, int& count) {
    const auto ids = loops_in_order(nest, nest.root);
    if (ids.empty() || nest.opaque || std::find(ids.begin(), ids.end(), "") != ids.end()) return false;
    first = number(ids[0]);
    count = static_cast<int>(ids.size());
    for (int k = 0; k < count; ++k)
      if (number(ids[static_cast<std::size_t>(k)]) != first + k) return false;
    return true;
  }

  bool step() {
    std::vector<Found> all;
    for (std::size_t f = 0; f < now_.program.functions.size(); ++f) {
      const Function& function = now_.program.functions[f];
      if (!function.refused.empty() || !function.in_main_file) continue;
      const bool last = f + 1 == now_.program.functions.size();
      gather(function.root, static_cast<int>(f), last ? "" : function.name + ".", all);
    }
    for (const Found& at : all) {
      if (spent()) return false;
      try {
        if (one(at)) return true;
      } catch (const isl::exception&) {  // isl quota exceeded: the nest stays unchanged
      }
    }
    return !now_.on_host && single_statement();
  }

  struct Single {  // a statement, with the number of the last loop before it
    const Part* part;
    int last;
  };

  // Statements between the kernels of a host loop, which would move their arrays to the host and back in each
  // iteration.
  void gather_singles(const Part& part, int function, bool beside_kernel, int& last, std::vector<Single>& all) const {
    if (part.kind == PartKind::nest) {
      const Nest& nest = now_.program.functions[function].nests[part.nest];
      const bool placed = now_.chains.count({function, part.nest}) > 0;
      for (const Loop& l : nest.loops)
        if (placed || &l == &nest.loops[0]) last = std::max(last, number(l.id));
      if (placed) return;
    }
    if (part.kind == PartKind::loop || part.kind == PartKind::nest) {
      if (part.kind == PartKind::loop) last = std::max(last, number(part.id));
      std::vector<Found> nests;
      for (const Part& child : part.children) gather(child, function, "", nests);
      beside_kernel = std::any_of(nests.begin(), nests.end(), [&](const Found& at) {
        return now_.chains.count({function, at.nest}) > 0;
      });
    }
    const auto names = [&](const char* word) { return text::names(part.source, word); };
    if (part.kind == PartKind::statement && beside_kernel && part.span.known && !part.pure && !part.declares &&
        part.source.find('=') != std::string::npos && !names("break") && !names("continue") && !names("return") &&
        !names("goto") && !names("case") && !names("default"))
      all.push_back({&part, last});
    for (const Part& child : part.children) gather_singles(child, function, beside_kernel, last, all);
  }

  // Makes one of these statements a kernel of one work-item: a loop of one iteration.
  bool single_statement() {
    for (std::size_t f = 0; f < now_.program.functions.size(); ++f) {
      const Function& function = now_.program.functions[f];
      if (!function.refused.empty() || !function.in_main_file) continue;
      const std::string prefix = f + 1 == now_.program.functions.size() ? "" : function.name + ".";
      std::vector<Single> all;
      int last = 0;
      gather_singles(function.root, static_cast<int>(f), false, last, all);
      for (const Single& s : all) {
        if (spent()) return false;
        if (!tried_.insert("single " + prefix + std::to_string(s.last) + s.part->source).second) continue;
        ++readings_;
        const std::string i = kOnce, loop = "for (int " + i + " = 0; " + i + " < 1; ++" + i + ") ";
        const unsigned at = s.part->span.begin;
        const Text text = applied(now_.program.text, lines_of(now_.program), {{at, at, loop}});
        AnalyzedProgram next = analyze_(text.bytes, text.lines);
        if (!next.program.errors.empty() || next.program.functions.size() != now_.program.functions.size() ||
            next.report.kernels.size() != now_.report.kernels.size() + 1)
          continue;
        origins_ = origins_.with(prefix, s.last + 1, 0, {""});
        now_ = std::move(next);
        changed_ = true;
        return true;
      }
    }
    return false;
  }

  // True if the loops must stay as written: a claim of the user is about them, or the rows of a table are tested for
  // them.
  static bool fixed(const Nest& nest) {
    return std::any_of(nest.loops.begin(), nest.loops.end(), [](const Loop& l) { return !l.claim.empty(); }) ||
           std::any_of(nest.variables.begin(), nest.variables.end(), [](const Variable& v) { return v.table(); });
  }

  // True if all loops inside the outermost one are placed: another order of the whole nest would gain little.
  bool only_outermost_is_left(const std::string& prefix, const Nest& nest) const {
    return nest.loops.size() > 1 && std::all_of(nest.loops.begin() + 1, nest.loops.end(), [&](const Loop& l) {
             return std::any_of(now_.report.loops.begin(), now_.report.loops.end(),
                                [&](const LoopVerdict& v) { return v.placed && v.id == prefix + l.id; });
           });
  }

  bool one(const Found& at) {
    const Nest& nest = now_.program.functions[at.function].nests[at.nest];
    int first = 0, count = 0;
    if (!numbered(nest, first, count) || fixed(nest)) return false;
    const auto chain = now_.chains.find({at.function, at.nest});
    const bool placed = chain != now_.chains.end();
    const bool thin = placed && !now_.on_host && chain->second.size() == 1 && nest.loops.size() > 1;
    const auto [relations, verdicts] = memo_.analyzed(nest);
    const State state{now_.program.text, nest, relations, verdicts, now_.on_host, thin};
    std::optional<Legality> legality;
    const std::string identity = analysis::fingerprint(nest) + slice(state, nest.span);
    const std::size_t marked = std::min(sizeof kOriginal - 1, std::size_t{nest.span.begin});
    const bool original = state.text.compare(nest.span.begin - marked, marked, kOriginal) == 0;
    for (const Transformation& t : registry()) {
      const bool always = t.propose == dead_writes || t.propose == tiling ||
                          t.propose == lanes;  // kept also if no more loops are placed
      if (t.propose == rescheduling && only_outermost_is_left(at.prefix, nest)) continue;
      const bool widens = thin && !original && (t.propose == fission || t.propose == interchange);  // the grid
      if (((placed || original) && !always && !widens) || !exhausted_.insert(t.name + identity).second) continue;
      try {
        const analysis::Quota quota(memo_.context(), kNestOperations);
        int which = 0;
        for (const Proposal& p : t.propose(state)) {
          if (spent()) return false;
          const std::string what = std::string(t.name) + ": " + p.what;
          // Loops after a guard are renumbered, so the key must not contain ids.
          const std::string key = always ? t.name + std::to_string(which++) : what;
          if (!tried_.insert(slice(state, nest.span) + key).second) continue;
          if (!legality && p.reorders()) legality.emplace(state);
          const std::string why = !p.reorders() ? "" : legality->broken_by(p);
          if (!why.empty()) {
            note(at, p.loops, what + ": " + why, false);
            continue;
          }
          if (!take(at, p, what, nest.span, {&state}, first, count, always, {})) continue;
          exhausted_.erase(t.name + identity);
          return true;
        }
      } catch (const isl::exception&) {  // quota exceeded: this transformation is not tried again
      }
    }
    return placed && at.next != nullptr && fuse(at, state, first, count);
  }

  bool fuse(const Found& at, const State& state, int first, int count) {
    const auto other = now_.chains.find({at.function, at.next->nest});
    const auto& mine = now_.chains.at({at.function, at.nest});
    if (other == now_.chains.end() || other->second.size() != mine.size()) return false;
    const Nest& behind = now_.program.functions[at.function].nests[at.next->nest];
    int second = 0, more = 0;
    if (fixed(behind) || !numbered(behind, second, more) || second != first + count) return false;
    const auto [relations, verdicts] = memo_.analyzed(behind);
    const int levels = static_cast<int>(mine.size());
    const State last{now_.program.text, behind, relations, verdicts};
    const analysis::Quota quota(memo_.context(), kNestOperations);
    const auto p = fusion(state, last, levels);
    if (!p) return false;
    const std::string what = "fusion: " + p->what;
    if (!tried_.insert(slice(state, state.nest.span) + what).second) return false;
    const auto check = [&](const AnalyzedProgram& next) -> std::string {
      for (const Nest& n : next.program.functions[at.function].nests)
        if (n.span.known && next.program.text.compare(n.span.begin, n.span.end - n.span.begin, p->edits[0].text) == 0) {
          const auto [r, v] = memo_.analyzed(n);
          return fusion_illegal(State{next.program.text, n, r, v}, levels);
        }
      return "the fused text is not recognized as one nest";
    };
    const Span both{state.nest.span.begin, behind.span.end, true};
    return take(at, *p, what, both, {&state, &last}, first, count + more, false, check);
  }

  bool take(const Found& at, Proposal p, const std::string& what, const Span& region,
            const std::vector<const State*>& states, int first, int count, bool always,
            const std::function<std::string(const AnalyzedProgram&)>& check) {
    const Function& function = now_.program.functions[at.function];
    const bool apart = p.reorders() || p.renames || p.test.empty();  // otherwise overlapping arrays do no harm
    Guard test = apart ? guard(states) : Guard{};
    if (test.call.empty())
      test.call = p.test;
    else if (!p.test.empty())
      test.call += " && " + p.test;
    if (!test.possible || !function.whole.known) {
      note(at, p.loops, what + ": overlap of the arrays cannot be tested", false);
      return false;
    }
    const std::string& old = now_.program.text;
    const std::vector<int> lines = lines_of(now_.program);
    if (!test.call.empty()) {
      const Text changed = applied(old.substr(0, region.end), lines, p.edits);
      const auto line = [&](unsigned byte) { return std::count(old.begin(), old.begin() + byte, '\n'); };
      const long first_line = line(region.begin), last_line = line(region.end);
      std::vector<int> from{lines[static_cast<std::size_t>(first_line)]};
      from.insert(from.end(), changed.lines.begin() + first_line, changed.lines.end());
      from.push_back(from.back());
      from.insert(from.end(), lines.begin() + first_line, lines.begin() + last_line + 1);
      from.push_back(from.back());
      p.edits = {
          {function.whole.begin, function.whole.begin, test.function},
          {region.begin, region.end,
           std::string("if (") + (always ? "" : kReordered) + test.call + ") {\n" + changed.bytes.substr(region.begin) +
               kOriginal + old.substr(region.begin, region.end - region.begin) + "\n}",
           from}};
      for (int k = 0; k < count; ++k) p.loops.push_back("l" + std::to_string(first + k));
    }
    ++readings_;
    const Text text = applied(old, lines, p.edits);
    AnalyzedProgram next = analyze_(text.bytes, text.lines);
    if (!next.program.errors.empty()) {
      note(at, p.loops, what + ": the transformed text does not compile (" + next.program.errors[0] + ")", false);
      return false;
    }
    if (next.program.functions.size() != now_.program.functions.size()) return false;
    if (check) {
      const std::string why = check(next);
      if (!why.empty()) {
        note(at, p.loops, what + ": " + why, false);
        return false;
      }
    }
    const Origins origins = origins_.with(at.prefix, first, count, p.loops);
    const int before = worth(now_.report, origins_), after = worth(next.report, origins);
    const int copies = always && !test.call.empty() ? count : 0;  // original loops, kept behind the guard
    if (after + copies < before || (after == before && !always)) {
      note(at, p.loops, what + ": legal, but no more loops can be placed", false);
      return false;
    }
    if (states[0]->on_host && what.rfind("rescheduling", 0) == 0 &&
        substantial_kernels(next.report) <= substantial_kernels(now_.report)) {
      note(at, p.loops, what + ": legal, but its parallel loops have too little work for threads", false);
      return false;
    }
    note(at, p.loops, what, true);
    origins_ = origins;
    now_ = std::move(next);
    changed_ = true;
    return true;
  }
};

}  // namespace

std::optional<AnalyzedProgram> search(AnalyzedProgram program, const Analyze& reanalyze, analysis::Memo& memo,
                                      Report& report) {
  return Search(std::move(program), reanalyze, memo, report).run();
}

}  // namespace ridge::place::transform

// Entry point of the plugin: takes a request as JSON, runs front end, analysis, search and emitter, returns a report as
// JSON.
#include <isl/ctx.h>
#include <isl/options.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "place/analysis/memo.hpp"
#include "place/analysis/same_images.hpp"
#include "place/analysis/scans.hpp"
#include "place/emit/kernel_summary.hpp"
#include "place/emit/program_text.hpp"
#include "place/pragmas.hpp"
#include "place/report/report.hpp"
#include "place/spine/spine.hpp"
#include "place/text/node_text.hpp"
#include "place/transform/search.hpp"

namespace ridge::place {
namespace {

// State shared by all readings of one program.
struct Shared {
  Shared(isl::ctx context, ReadRequest request) : reader(std::move(request)), memo(context) {}
  FileReader reader;
  analysis::Memo memo;
  std::map<std::string, emit::Kernel> kernels{};  // by name and fingerprint of the nest
};

void fill(LoopVerdict& into, const Nest& nest, const analysis::Verdict& v) {
  const Loop& loop = nest.loops[v.loop];
  into.line = loop.line;
  into.kind = loop.kind;
  into.source = loop.source;
  into.iterator = loop.counted ? (loop.host_iterator.empty() ? loop.iterator : loop.host_iterator) : "";
  into.parallel = v.parallel;
  into.why = v.why;
  into.claim = v.claim;
  const auto names = [&](const std::vector<int>& list, std::vector<std::string>& to) {
    for (const int x : list) to.push_back(nest.variables[x].host);
  };
  names(v.privates, into.privates);
  names(v.expanded, into.privates);
  names(v.reductions, into.reductions);
  for (const analysis::Dependence& d : v.dependences)
    into.dependences.push_back({analysis::to_string(d.kind), nest.variables[d.variable].host, d.from_line, d.to_line,
                                d.from, d.to, d.example, d.certain});
}

void find_accesses(const Node& node, int loop, bool inside, const Nest& nest, std::set<std::string>& reads,
                   std::set<std::string>& writes) {
  inside |= node.kind == NodeKind::loop && node.loop == loop;
  if (inside)
    for (const Access& a : node.accesses)
      if (nest.variables[a.variable].array()) (a.write ? writes : reads).insert(nest.variables[a.variable].host);
  for (const Node& child : node.children) find_accesses(child, loop, inside, nest, reads, writes);
}

class Work {
 public:
  explicit Work(const nlohmann::json& request) : emit_(request.at("emit").get<std::string>()) {
    read_.file = request.at("file").get<std::string>();
    read_.function = request.at("function").get<std::string>();
    read_.models = request.value("models", std::string());
    threads_ = request.value("threads", false) && emit_ != "openmp";
    session_ = request.value("session", false);
    bool threads = emit_ == "openmp" || threads_;  // the placed program defines _OPENMP
    for (const std::string& flag : request.at("flags").get<std::vector<std::string>>())
      if (flag.rfind("-fopenmp", 0) == 0)
        threads = true;
      else if (flag.rfind("-fopenacc", 0) != 0)
        read_.flags.push_back(flag);
    if (threads) read_.flags.insert(read_.flags.begin(), "-D_OPENMP=201511");
    without_ = request.at("without").get<std::set<std::string>>();
    any_size_ = request.value("any_size", false);
    for (const std::string& pin : request.value("pins", std::vector<std::string>()))
      pins_[pin.substr(0, pin.rfind('='))] = pin.substr(pin.rfind('=') + 1);
    const auto& memories = request.at("memories");
    memories_ = {memories.at("cached").get<double>(),
                 memories.at("local").get<double>(),
                 memories.at("local_bytes").get<std::size_t>(),
                 memories.at("constant").get<bool>(),
                 emit_ == "openmp" ? "never" : memories.at("tiles").get<std::string>(),
                 emit_ != "openmp" && memories.value("strips", false)};
  }

  Report run() {
    isl_ctx* context = isl_ctx_alloc();
    isl_options_set_on_error(context, ISL_ON_ERROR_CONTINUE);
    isl_options_set_ast_build_prefer_pdiv(context, 1);
    shared_ = std::make_shared<Shared>(isl::ctx(context), read_);
    Program program = shared_->reader.read();
    Report report = analyzed(program);
    report.source = program.source;
    drop_unneeded_claims(program, report);
    report.readings = 1;
    report.judged = shared_->memo.analyzed_nests();
    if (!report.errors.empty() || read_.function.empty()) return report;
    if (program.functions.back().refused.empty()) {
      const auto with_chains = [&](const Program& read, const Report& said, const auto& made) {
        transform::AnalyzedProgram result{read, said, {}, emit_ == "openmp"};
        for (const auto& [where, kernel] : made) result.chains[where] = kernel.chain;
        return result;
      };
      const transform::Analyze reanalyze = [&](const std::string& text, const std::vector<int>& lines) {
        const Program read = shared_->reader.read(text, lines);
        Work other(*this);
        const Report said = other.analyzed(read);
        return with_chains(read, said, other.kernels_);
      };
      if (auto better = transform::search(with_chains(program, report, kernels_), reanalyze, shared_->memo, report)) {
        // The emitted text comes from the transformed program; the verdicts describe the loops of the user's file.
        program = std::move(better->program);
        const Report now = analyzed(program);
        report.assumptions = now.assumptions;
        report.libm = now.libm;
        report.reassociates = now.reassociates;
      }
    }
    for (const LoopVerdict& l : report.loops)
      for (const std::string& t : l.transformed)
        if (t.rfind("lanes", 0) == 0) report.enough = 140;  // more than one block of 64 iterations
    report.judged = shared_->memo.analyzed_nests();
    const Function& top = program.functions.back();
    restore_other_pragmas(program);
    if (top.refused.empty() && !kernels_.empty()) {
      const emit::Output out = emit_ == "openmp" ? emit::openmp_text(program, kernels_) : on_device(program, report);
      report.placed = out.text;
      report.permuted = out.permuted;
      report.header = out.header;
      report.device_part = out.device;
      report.varies = out.varies;
      if (!out.why.empty()) report.diagnostics.push_back({read_.file, 0, top.name + "() cannot be placed: " + out.why});
    }
    if (report.placed.empty()) {
      for (LoopVerdict& l : report.loops) l.placed = false;
      report.kernels.clear();
    }
    return report;
  }

  // The program for a device, with the other nests on threads of the host if they were asked for.
  emit::Output on_device(const Program& program, Report& report) {
    const emit::Target target = emit_ == "cuda"     ? emit::Target::cuda
                                : emit_ == "opencl" ? emit::Target::opencl
                                                    : emit::Target::ridge;
    if (!threads_) return emit::program_text(program, kernels_, target, {}, session_);
    Work host(*this);
    host.emit_ = "openmp";
    host.suffix_ = "_threads";
    host.memories_.tiles = "never";
    host.memories_.strips = host.threads_ = false;
    host.pins_.clear();
    host.pinned_.clear();
    const Report threads = host.analyzed(program);
    for (std::size_t f = 0; f < program.functions.size(); ++f)
      prefer_threads(program, program.functions[f].root, static_cast<int>(f), host, false, report);
    if (kernels_.empty()) return {};
    const std::string name = target == emit::Target::ridge ? "ridge::placed" : "placed";
    bool varies = false;
    const auto text = [&](bool permuted) {
      const emit::HostThreads made = emit::host_threads(program, host.kernels_, permuted, name);
      varies |= made.varies;
      return emit::program_text(program, kernels_, target, made, session_);
    };
    emit::Output out = text(false);
    out.permuted = text(true).text;
    out.varies |= varies;
    report.reassociates |= threads.reassociates;
    for (LoopVerdict& l : report.loops)
      l.threads = std::any_of(threads.loops.begin(), threads.loops.end(),
                              [&](const LoopVerdict& t) { return t.id == l.id && t.placed; });
    return out;
  }

  // Removes kernels inside loops that run on threads: they would be launched once per iteration.
  void prefer_threads(const Program& program, const Part& part, int function, const Work& host, bool inside,
                      Report& report) {
    const std::pair<int, int> where{function, part.nest};
    const auto kernel = part.kind == PartKind::nest ? kernels_.find(where) : kernels_.end();
    if (kernel != kernels_.end()) {
      if (!inside || pinned(program.functions[function], program.functions[function].nests[part.nest], "device"))
        return;
      const auto same = [&](const KernelReport& k) { return k.name == kernel->second.name; };
      const auto made = std::find_if(report.kernels.begin(), report.kernels.end(), same);
      for (LoopVerdict& l : report.loops)
        if (made != report.kernels.end() && std::count(made->loops.begin(), made->loops.end(), l.id) > 0) {
          l.placed = false;
          l.axis = -1;
          l.not_placed = "an enclosing loop runs on threads";
        }
      if (made != report.kernels.end()) report.kernels.erase(made);
      kernels_.erase(kernel);
      return;
    }
    inside |= part.kind == PartKind::nest && host.kernels_.count(where) > 0;
    for (const Part& child : part.children) prefer_threads(program, child, function, host, inside, report);
  }

  // Verdicts on all loops; fills kernels_ with every kernel that can be made.
  Report analyzed(const Program& program) {
    Report report;
    report.file = read_.file;
    report.emit = emit_;
    report.function = read_.function;
    report.errors = program.errors;
    kernels_.clear();
    reported_.clear();
    if (!report.errors.empty()) return report;
    report.has_main = program.has_main;
    for (const FunctionBody& b : program.bodies) report.functions.push_back({b.name, b.line, b.begin});
    own_text_ = program.lines.empty();
    find_pinned(program);
    std::set<std::string> said;
    for (const Refusal& r : program.refusals)
      if (said.insert(std::to_string(r.line) + r.what).second)
        report.diagnostics.push_back({r.file.empty() ? read_.file : r.file, r.line, r.what});
    for (std::size_t f = 0; f < program.functions.size(); ++f) {
      const Function& function = program.functions[f];
      const bool last = f + 1 == program.functions.size();
      prefix_ =
          last && !read_.function.empty() ? "" : function.name + ".";  // without a name: all functions of the file
      if (!function.refused.empty() && (last || loops_in(function.root)))
        report.diagnostics.push_back(
            {read_.file, function.line, function.name + " cannot be placed: " + function.refused});
      part(program, static_cast<int>(f), function.root, "", 0, report);
    }
    const Function& top = program.functions.back();
    report.result = top.result;
    report.qualified = top.qualified;
    for (const place::Parameter& p : parameters(top)) report.parameters.push_back(p);
    report.spine = spine(program, !read_.function.empty());
    return report;
  }

 private:
  ReadRequest read_{};
  std::string emit_{};
  std::set<std::string> without_{};
  bool any_size_ = false;  // tests: loops are placed that are too short or run too often to pay
  Memories memories_{};
  bool threads_ = false;  // nests that are no kernels run on threads of the host
  bool session_ = false;  // also a function that is called with a session of the caller
  std::string suffix_{};  // of kernel names
  std::string prefix_{};
  bool own_text_ = true;
  std::shared_ptr<Shared> shared_{};
  std::map<std::pair<int, int>, emit::Kernel> kernels_{};
  std::set<std::string> reported_{};
  std::map<std::string, std::string> pins_{};  // loop of the user's file: host or device
  std::map<std::string, std::string>
      pinned_{};  // the same by function, line and iterator, which survive transformations
  LoopVerdict unreported_{};

  static std::vector<place::Parameter> parameters(const Function& top);

  // Claims about nests that are parallel without them are dropped, so that these nests may be transformed.
  static void drop_unneeded_claims(Program& program, const Report& report) {
    std::set<unsigned> needed;
    const auto each = [&](const auto& visit) {
      for (Function& f : program.functions)
        for (Nest& n : f.nests) visit(f, n);
    };
    each([&](const Function& f, const Nest& n) {
      const bool uses = std::any_of(report.loops.begin(), report.loops.end(), [&](const LoopVerdict& l) {
        return !l.claim.empty() && l.function == f.name &&
               std::any_of(n.loops.begin(), n.loops.end(), [&](const Loop& x) { return x.line == l.line; });
      });
      const bool rows = std::any_of(n.variables.begin(), n.variables.end(), [](const Variable& v) {
        return v.table();  // read only because of the claim
      });
      if (uses || rows)
        for (const Loop& l : n.loops) needed.insert(l.claim_at);
    });
    each([&](const Function&, Nest& n) {
      for (Loop& l : n.loops) {
        if (l.claim.empty() || needed.count(l.claim_at) > 0) continue;
        drop_claim(program.text, l.claim_at);
        l.claim.clear();
      }
    });
  }

  // Pragmas of functions in which nothing runs in parallel by this program stay as written.
  void restore_other_pragmas(Program& program) const {
    if (program.text.find("ridge omp threadprivate") != std::string::npos) return;  // all of them, or none
    std::vector<std::pair<unsigned, unsigned>> changed;
    std::set<std::string> placed;
    for (std::size_t f = 0; f < program.functions.size(); ++f) {  // callees come first
      const Function& function = program.functions[f];
      bool any = std::any_of(function.calls.begin(), function.calls.end(),
                             [&](const std::string& callee) { return placed.count(callee) > 0; });
      for (const auto& [where, kernel] : kernels_) any |= where.first == static_cast<int>(f);
      if (!any) continue;
      placed.insert(function.name);
      if (function.whole.known) changed.emplace_back(function.whole.begin, function.whole.end);
    }
    std::sort(changed.begin(), changed.end());
    std::size_t at = 0;
    for (const auto& [begin, end] : changed) {
      restore_pragmas(program.text, at, begin);
      at = std::max<std::size_t>(at, end);
    }
    restore_pragmas(program.text, at, program.text.size());
  }

  static bool loops_in(const Part& p) {
    return p.kind == PartKind::loop || p.kind == PartKind::nest ||
           std::any_of(p.children.begin(), p.children.end(), loops_in);
  }

  static std::string key_of(const Function& function, const Loop& l) {
    return function.name + " " + std::to_string(l.line) + " " + l.host_iterator;
  }

  // Finds the pinned loops in the first text that is analyzed, whose loops have the user's numbers.
  void find_pinned(const Program& program) {
    if (pins_.empty() || !pinned_.empty()) return;
    for (const Function& f : program.functions)
      for (const Nest& n : f.nests)
        for (const Loop& l : n.loops) {
          const bool top = &f == &program.functions.back() && !read_.function.empty();
          const auto at = pins_.find(top ? l.id : f.name + "." + l.id);
          if (!l.id.empty() && at != pins_.end()) pinned_[key_of(f, l)] = at->second;
        }
  }

  const Loop* pinned(const Function& function, const Nest& nest, const std::string& to) const {
    for (const Loop& l : nest.loops)
      if (const auto at = pinned_.find(key_of(function, l)); at != pinned_.end() && at->second == to) return &l;
    return nullptr;
  }

  // The loop's verdict; a loop of a called function, which has no number here, is not reported.
  LoopVerdict& verdict(Report& report, const std::string& id) {
    if (id == prefix_) return unreported_ = {};
    for (LoopVerdict& l : report.loops)
      if (l.id == id) return l;
    report.loops.emplace_back().id = id;
    return report.loops.back();
  }

  void part(const Program& program, int f, const Part& p, const std::string& around, int depth, Report& report) {
    const Function& function = program.functions[f];
    if (p.kind == PartKind::loop && !p.id.empty()) {
      const std::string id = prefix_ + p.id;
      if (reported_.insert(id).second) {
        LoopVerdict& l = verdict(report, id);
        l.parent = around;
        l.function = function.name;
        l.line = p.line;
        l.kind = p.loop_kind;
        l.source = p.source;
        // Only loops of the user's own text can be instrumented by --run.
        if (p.span.known && program.lines.empty() && function.refused.find("constexpr") == std::string::npos) {
          l.begin = p.span.begin;
          l.end = p.span.end;
          if (!p.children.empty() && p.children[0].span.known) l.body = p.children[0].span.begin;
        }
        l.why =
            p.why.empty()
                ? ""
                : (p.why_line > 0 && p.why_line != p.line ? "line " + std::to_string(p.why_line) + ": " : "") + p.why;
      }
      for (const Part& child : p.children) part(program, f, child, id, depth + 1, report);
      return;
    }
    if (p.kind == PartKind::nest) {
      nest(program, f, p, around, depth, report);
      if (kernels_.count({f, p.nest}) == 0)
        for (const Part& child : p.children) part(program, f, child, around, depth, report);
      return;
    }
    for (const Part& child : p.children) part(program, f, child, around, depth, report);
  }

  void nest(const Program& program, int f, const Part& p, const std::string& around, int depth, Report& report) {
    const Function& function = program.functions[f];
    const Nest& nest = function.nests[p.nest];
    try {
      const analysis::Quota quota(shared_->memo.context(), shared_->memo.operations);
      const analysis::NestAnalysis analysis = shared_->memo.analyzed(nest);
      const auto& [relations, verdicts] = analysis;
      const bool again =
          reported_.count(prefix_ + nest.loops[0].id) > 0;  // part of a nest that was already analyzed as a whole
      for (const analysis::Verdict& v : verdicts) report_loop(function, nest, relations, v, around, report);
      if (!again) report_notes(nest, relations, report);
      LoopVerdict& root = verdict(report, prefix_ + nest.loops[0].id);
      if (const Loop* kept = pinned(function, nest, "host")) {
        verdict(report, prefix_ + kept->id).not_placed = "pinned to the host";
        return;
      }
      const bool forced = pinned(function, nest, "device") != nullptr;
      criteria::Choice choice = criteria::choose(nest, verdicts);
      choice.threads = emit_ == "openmp";
      if (choice.chain.empty() || (choice.some_stay && emit_ != "openmp")) {
        if (root.parallel) root.not_placed = choice.why;
        return;
      }
      if (depth >= 2 && !any_size_ && !forced) {
        root.not_placed =
            "it would be launched once per iteration of the " + std::to_string(depth) + " loops around it";
        return;
      }
      if (!function.refused.empty()) {
        root.not_placed = function.refused;
        return;
      }
      if (choice.copies.empty() && choice.atomics.empty())
        choice.same = analysis::same_images(nest, analysis, choice.chain, shared_->memo);
      emit::Kernel kernel = make_kernel(function, nest, relations, verdicts, choice, forced);
      if (kernel.why.empty() && emit_ == "openmp") kernel.why = emit::not_on_threads(program, {f, p.nest}, kernel);
      if (!kernel.why.empty()) {
        root.not_placed = kernel.why;
        return;
      }
      // The overlap of arrays without a known extent cannot be tested: only a claim excludes it.
      if (emit_ == "openmp" && !nest.loops[0].claim.empty() && root.claim.empty() &&
          std::any_of(kernel.arrays.begin(), kernel.arrays.end(),
                      [&](const emit::KernelArray& a) { return !a.sized && nest.variables[a.variable].count.empty(); }))
        root.claim = nest.loops[0].claim + ": arrays of unknown extent may overlap";
      for (const analysis::Assumption& a : relations.assumptions)
        if (reported_.insert("assumption " + a.text).second)
          report.assumptions.push_back(a.text + ": " + analysis::condition_text(a.holds));
      for (const std::string& said : kernel.inside_texts)
        if (emit_ != "openmp" && reported_.insert("assumption " + said).second) report.assumptions.push_back(said);
      report_kernel(nest, kernel, report);
      kernels_.emplace(std::make_pair(f, p.nest), std::move(kernel));
    } catch (const isl::exception& error) {
      LoopVerdict& l = verdict(report, prefix_ + nest.loops[0].id);
      l.function = function.name;
      l.line = nest.line;
      l.source = nest.loops[0].source;
      l.kind = nest.loops[0].kind;
      l.why = std::string("isl did not complete the dependence test (") + error.what() + ")";
    }
  }

  void report_loop(const Function& function, const Nest& nest, const analysis::Relations& relations,
                   const analysis::Verdict& v, const std::string& around, Report& report) {
    const Loop& loop = nest.loops[v.loop];
    const std::string id = prefix_ + loop.id;
    if (loop.id.empty()) return;
    if (!reported_.insert(id).second) {
      // This time the enclosing loops are fixed parameters: a loop proved parallel this way is parallel.
      LoopVerdict& l = verdict(report, id);
      if (!l.parallel && v.parallel) {
        l.parallel = true;
        l.why.clear();
        l.dependences.clear();
        l.privates.clear();
        l.reductions.clear();
        fill(l, nest, v);
      }
      return;
    }
    LoopVerdict& l = verdict(report, id);
    l.function = function.name;
    l.parent = loop.parent >= 0 ? prefix_ + nest.loops[loop.parent].id : around;
    fill(l, nest, v);
    if (loop.span.known && own_text_ && function.refused.find("constexpr") == std::string::npos) {
      l.begin = loop.span.begin;
      l.end = loop.span.end;
      l.body = loop.body.known ? loop.body.begin : 0;
    }
    std::set<std::string> reads, writes;
    find_accesses(nest.root, v.loop, false, nest, reads, writes);
    l.reads.assign(reads.begin(), reads.end());
    l.writes.assign(writes.begin(), writes.end());
    std::set<std::string> scans;
    if (loop.counted) analysis::find_scans(nest.root, loop, nest, relations, scans);
    l.scans.assign(scans.begin(), scans.end());
  }

  void report_notes(const Nest& nest, const analysis::Relations& relations, Report& report) {
    for (const std::string& n : relations.notes)
      if (reported_.insert("note " + n).second) report.notes.push_back(n);
    text::visit_accesses(nest.root, [&](const Access& a) {
      for (const Poly& subscript : a.subscripts)
        for (const auto& [term, factor] : subscript.terms())
          if (!term.empty() && std::abs(factor) >= (1L << 30)) {
            const std::string n =
                "line " + std::to_string(a.line) + ": " + a.source + " leaves 32 bits within two iterations";
            if (reported_.insert("note " + n).second) report.notes.push_back(n);
          }
    });
  }

  // The nest's kernel, made once per fingerprint; Kernel::why also says if it would not pay.
  emit::Kernel make_kernel(const Function& function, const Nest& nest, const analysis::Relations& relations,
                           const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice,
                           bool forced) {
    const std::string name = function.name + "_" + nest.loops[0].id + suffix_;
    std::string key = name + " " + analysis::fingerprint(nest);
    for (const Loop& l : nest.loops) key += " " + l.id;
    auto known = shared_->kernels.find(key);
    if (known == shared_->kernels.end())
      known =
          shared_->kernels.emplace(key, emit::make_kernel(name, nest, relations, verdicts, choice, memories_)).first;
    emit::Kernel kernel = known->second;
    const bool once = nest.loops[0].iterator == kOnce;
    if (kernel.why.empty() && !any_size_ && !forced && !once && emit::few_iterations(kernel))
      kernel.why = "fewer than 64 iterations: a launch does not pay";
    if (kernel.why.empty() && emit_ != "openmp") kernel.why = kernel.not_on_device;
    if (nest.asserts && emit_ != "openmp")
      kernel.why = "a failed assertion cannot end the program on a device: --emit openmp runs it on threads";
    for (const Variable& v : nest.variables)
      if ((v.scattered || v.packed) && emit_ != "openmp")
        kernel.why = (v.packed ? "the fields of the structs in " + v.host + " are not aligned"
                               : "the rows of " + v.host + " may be separate allocations") +
                     ": --emit openmp runs it on threads";
    if (without_.count(kernel.name) > 0 && !forced) kernel.why = "slower than on the host at these sizes";
    return kernel;
  }

  void report_kernel(const Nest& nest, const emit::Kernel& kernel, Report& report) {
    KernelReport made{kernel.name, {}, {}};
    if (emit_ != "openmp") {
      made.text = emit::criteria_text(nest, kernel);
      for (const std::string& helper : nest.functions) made.text += helper + "\n";
      made.text += kernel.text;
    }
    for (std::size_t i = 0; i < kernel.chain.size(); ++i) {
      LoopVerdict& l = verdict(report, prefix_ + nest.loops[kernel.chain[i]].id);
      const auto at = std::find(kernel.axes.begin(), kernel.axes.end(), kernel.chain[i]) - kernel.axes.begin();
      l.axis = static_cast<int>(std::min<std::ptrdiff_t>(at, 2));
      if (emit_ != "openmp" && kernel.chain.size() > 3 && at >= 2)
        l.transformed.push_back("coalescing: " + std::to_string(kernel.chain.size() - 2) +
                                " loops share the third axis of the grid");
      if (!kernel.copies_of.empty()) report.enough = 140;  // a work-group covers 32 x 4 columns
      if (emit_ != "openmp" && !kernel.copies_of.empty() && kernel.copies_of[l.axis] != "1")
        l.transformed.push_back(kernel.copies_of[l.axis] +
                                " iterations per work-item, so that data they share is read once");
      for (const std::string& said : kernel.tiles) l.transformed.push_back("tiling in local memory: " + said);
      if (!l.id.empty()) made.loops.push_back(l.id);
    }
    for (const Loop& l : nest.loops) verdict(report, prefix_ + l.id).placed = true;
    if (emit_ != "openmp") note_unrolled(nest.root, nest, report);
    for (const int c : kernel.copies)
      for (const std::string& id : made.loops)
        verdict(report, id)
            .transformed.push_back("reads a copy of " + nest.variables[c].host + " made before the nest");
    report.kernels.push_back(made);
    report.libm |= kernel.libm;
    report.reassociates |= kernel.reassociates;
  }

  void note_unrolled(const Node& node, const Nest& nest, Report& report) {
    if (node.kind == NodeKind::loop && text::unrolls(node, nest.loops[node.loop]) &&
        verdict(report, prefix_ + nest.loops[node.loop].id).axis < 0)
      verdict(report, prefix_ + nest.loops[node.loop].id)
          .transformed.push_back("unrolling: " + std::to_string(text::constant_iterations(nest.loops[node.loop])) +
                                 " iterations");
    for (const Node& child : node.children) note_unrolled(child, nest, report);
  }
};

std::vector<place::Parameter> Work::parameters(const Function& top) {
  static const char* const kinds[] = {"integer", "real",    "pointer",        "vector", "array", "reference", "span",
                                      "mat",     "structs", "struct_pointer", "rows",   "view",  "other"};
  std::vector<place::Parameter> all;
  for (const auto& p : top.parameters)
    all.push_back({p.name, p.type, p.element, kinds[static_cast<int>(p.kind)], p.constant, p.length, p.fields, p.bytes,
                   p.is_unsigned});
  return all;
}

}  // namespace
}  // namespace ridge::place

extern "C" __attribute__((visibility("default"))) char* ridge_place_work(const char* request) {
  nlohmann::json answer;
#ifdef __GLIBC__  // isl allocates and frees many small blocks: freed memory stays with the process, which ends soon
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  try {
    answer = ridge::place::report_to_json(ridge::place::Work(nlohmann::json::parse(request)).run());
  } catch (const std::exception& error) {
    answer = ridge::place::report_to_json({});
    answer["errors"] = {std::string("the reader failed: ") + error.what()};
  }
  return strdup(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

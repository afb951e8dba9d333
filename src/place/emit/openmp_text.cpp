// Writes the placed nests as OpenMP threads: a pragma before each parallel nest and, in an else branch, the nest as it
// was, which runs if arrays overlap, an assumption fails, or the work is too little for threads. Floating-point sums
// are added in blocks whose size does not depend on the number of threads, and the blocks in order: every run gives the
// same result.
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <utility>

#include "place/emit/c_text.hpp"
#include "place/emit/openmp_helpers.hpp"
#include "place/emit/openmp_loops.hpp"
#include "place/emit/program_text.hpp"
#include "place/emit/vectors.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

const Part* part_of(const Part& part, int nest) {
  if (part.kind == PartKind::nest && part.nest == nest) return &part;
  for (const Part& child : part.children)
    if (const Part* found = part_of(child, nest)) return found;
  return nullptr;
}

bool identifier(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), text::letter) &&
         std::isdigit(static_cast<unsigned char>(s[0])) == 0;
}

// Replaces local vectors of which only elements are used and of which no thread has a copy by placed::Array, accessed
// through a pointer if possible: compilers do not vectorize accesses through the object.
void own_arrays(const Part& part, const std::set<std::string>& copied, const std::string& everything,
                std::vector<std::pair<Span, std::string>>& all) {
  if (part.in_sequence && !part.leaves && !part.locals.empty() &&
      std::all_of(part.locals.begin(), part.locals.end(),
                  [&](const Part::Local& l) { return !l.birth.empty() && copied.count(l.name) == 0; })) {
    std::string text;
    for (const Part::Local& l : part.locals) {
      const bool plain = everything.find(l.name + ".") == std::string::npos;
      text += (text.empty() ? "" : " ") + ("placed::Array<" + l.element + "> ") + l.name + (plain ? "_memory(" : "(") +
              l.birth + ");";
      if (plain) text += " " + l.element + "* const " + l.name + " = " + l.name + "_memory.data();";
    }
    all.emplace_back(part.span, text);
  }
  for (const Part& child : part.children) own_arrays(child, copied, everything, all);
}

struct Insert {
  unsigned at = 0;
  std::string text{};
  unsigned end = 0;  // end of the replaced text
};

// One nest as threads: its pragma, the test under which more than one thread runs, and the edits of the user's text.
class ThreadedNest {
 public:
  // `permuted`: with the iterations of the placed loops in another order, for the comparison.
  ThreadedNest(const Program& program, const std::pair<int, int>& where, const Kernel& kernel, bool permuted)
      : program_(program),
        nest_(program.functions[where.first].nests[where.second]),
        part_(part_of(program.functions[where.first].root, where.second)),
        k_(kernel),
        permuted_(permuted),
        only_vectors_(kernel.vectors == std::vector<int>{0}),
        first_of_all_(first_part(program, nest_.loops[0])) {
    const auto line = program.text.rfind('\n', nest_.span.begin);
    for (auto i = line + 1; i < nest_.span.begin && program.text[i] == ' '; ++i) pad_ += ' ';
  }

  // Appends the edits and the host functions they use. If OpenMP cannot express the nest, returns the reason.
  std::string write(std::vector<Insert>& inserts, std::string& functions, bool& varies) {
    blocks_ = reduces_in_blocks();
    pragma_ = "#pragma omp parallel for";
    if (permuted_)
      pragma_ += " schedule(runtime)";
    else if (blocks_)
      pragma_ += " schedule(dynamic)";
    else
      pragma_ += (only_vectors_ ? " simd" : "") + schedule_clauses(k_, nest_);
    if (const std::string why = fault(); !why.empty()) return why;
    std::vector<Insert> reads;
    for (const int c : k_.copies)
      if (!redirect_reads(c, reads))
        return "iterations overwrite elements of " + nest_.variables[c].host +
               " that others read, and these reads were not found in its text";
    const std::set<std::string> images = own_images(k_, nest_);
    std::string outside, inside;
    for (const std::string& image : images) {
      outside += "const cv::Mat& " + k_.name + "_" + image + " = " + image + "; ";
      inside += " cv::Mat " + image + " = " + k_.name + "_" + image + ".clone();";
    }
    if (!images.empty()) {
      inserts.push_back({nest_.span.begin, "{ " + outside + "\n" + pad_});
      inserts.push_back({nest_.loops[0].body.begin + 1, inside});
    }
    add_private_clauses();
    varies |= add_reduction_clauses();
    std::string tests = scalar_tests();
    if (!add_overlap_test(tests)) return why_;
    const std::string work = "(" + call_text(k_.work, nest_) + ")";
    if (blocks_) pragma_ += " if (placed::pays" + work + ")";
    if (blocks_ || !tests.empty())  // the cheap test first
      tests = (blocks_ ? "placed::sums" : "placed::may_pay") + work + (tests.empty() ? "" : " && ") + tests;
    if (!blocks_) tests += (tests.empty() ? "" : " && ") + ("placed::pays" + work);
    std::string before, after;
    for (const int c : k_.copies) make_copy(c, tests, before, after);
    const std::string headers = replace_headers(before + "if (" + tests + ") {\n" + copies_, inserts);
    add_functions(pragma_ + tests + headers, functions);
    inserts.push_back({nest_.span.end, "\n" + pad_ + "} else {\n" + pad_ +
                                           program_.text.substr(nest_.span.begin, nest_.span.end - nest_.span.begin) +
                                           "\n" + pad_ + "}" + (before.empty() ? "" : " " + after + "}")});
    inserts.insert(inserts.end(), reads.begin(), reads.end());
    if (!images.empty()) inserts.push_back({nest_.span.end, "\n" + pad_ + "}"});
    if (!permuted_ && !only_vectors_)
      for (const int l : k_.vectors) inserts.push_back({nest_.loops[l].span.begin, "\n#pragma omp simd\n" + pad_});
    return "";
  }

 private:
  const Variable& target(const Reduction& r) const { return nest_.variables[r.target]; }

  // Blocks are possible if the header can be rewritten and the variables shadowed.
  bool reduces_in_blocks() const {
    return !first_of_all_.empty() && std::any_of(k_.reductions.begin(), k_.reductions.end(), [&](const Reduction& r) {
      return blockwise(r, nest_);
    }) && std::all_of(k_.reductions.begin(), k_.reductions.end(), [&](const Reduction& r) {
      return !blockwise(r, nest_) ||
             (identifier(target(r).host) && std::all_of(r.payload.begin(), r.payload.end(), [&](int p) {
                return identifier(nest_.variables[p].host) && !nest_.variables[p].captured;
              }));
    });
  }

  // Reason why OpenMP cannot express the nest; "" if it can.
  std::string fault() const {
    const Loop& l = nest_.loops[0];
    if (l.kind != "for") return "OpenMP has no pragma for a " + l.kind + " loop";
    if (!canonical(l) && (first_of_all_.empty() || l.counters != 1))
      return "its test does not compare the iterator with a bound, as OpenMP requires";
    if (k_.atomic) return "several iterations may add to the same element";
    for (const auto* list : {&k_.privates, &k_.expanded})
      for (const int p : *list)
        if (nest_.variables[p].captured && nest_.variables[p].loops.empty())
          return nest_.variables[p].host + " is captured by a lambda: threads cannot have their own";
    if (!own_images(k_, nest_).empty() &&
        !(l.body.known && program_.text[l.body.begin] == '{' && part_ != nullptr && part_->in_sequence))
      return "its threads need images of their own: put the body of the loop in braces";
    for (const Reduction& r : k_.reductions) {
      if (target(r).captured) return target(r).host + " is captured by a lambda: threads cannot have their own";
      for (const int p : r.payload)
        if (!nest_.variables[p].part_of.empty())
          return nest_.variables[p].host + " is a field of a struct: use a variable";
      if (!target(r).part_of.empty()) return target(r).host + " is a field of a struct: sum into a variable";
      if (!(blocks_ && blockwise(r, nest_)) && !r.payload.empty())
        return "OpenMP has no clause for the position of an extreme";
    }
    return "";
  }

  void add_private_clauses() {
    std::set<std::string> privates, copied;
    for (const int p : k_.privates)
      if (const Variable& v = nest_.variables[p]; v.loops.empty() && !v.part_of.empty())
        copied.insert(v.part_of);  // the threads read its other numbers
      else if (v.loops.empty())
        privates.insert(v.host);
    for (const Loop& l : nest_.loops)
      if (l.iterator_outside && l.depth > 0) privates.insert(l.host_iterator);
    for (const int e : k_.expanded)
      if (!nest_.variables[e].shares) copied.insert(nest_.variables[e].host);
    if (!privates.empty()) pragma_ += " private(" + text::joined(privates) + ")";
    if (!copied.empty()) pragma_ += " firstprivate(" + text::joined(copied) + ")";
  }

  std::string copy_name(int array) const { return k_.name + "_" + nest_.variables[array].name + "_before"; }

  const KernelArray* used(int array) const {
    for (const KernelArray& a : k_.arrays)
      if (a.variable == array) return &a;
    return nullptr;
  }

  // Copies an array before the nest, as a further test, because there may be no memory for it.
  void make_copy(int array, std::string& asked, std::string& before, std::string& after) {
    const Variable& v = nest_.variables[array];
    const KernelArray& a = *used(array);
    const std::string count = a.sized ? call_text(a.size, nest_) : "placed::Int(" + v.count + ")",
                      from = a.sized && !a.first.empty() ? call_text(a.first, nest_) : "", name = copy_name(array),
                      memory = name + "_memory";
    before += (before.empty() ? "{ " : "") + ("void* " + memory + " = nullptr;\n");
    asked += (asked.empty() ? "" : " && ") + ("(" + memory + " = placed::copied(" + v.data) +
             (from.empty() ? ", " + count : " + " + from + ", (" + count + " - " + from + ")") +
             " * placed::Int(sizeof(" + v.host_element + ")))) != nullptr";
    const std::string start = "((" + v.host_element + "*)" + memory + (from.empty() ? ")" : " - " + from + ")");
    const std::string row = "__typeof__(" + v.host + "[0])";  // an array, or a struct with fields of one type
    copies_ += v.inner.empty() ? "const " + v.host_element + "* const " + name + " = " + start + ";\n"
                               : "const " + row + "* const " + name + " = (const " + row + "*)" + start + ";\n";
    after += "std::free(" + memory + "); ";
  }

  // Replaces the array's name in one read of a statement; false if the text may also mean something else.
  bool redirect(const Variable& array, const std::string& read, const Node& node, const Span& span,
                const std::string& name, std::vector<Insert>& edits) const {
    if (node.kind != NodeKind::statement || !span.known || read.rfind(array.host + "[", 0) != 0) return false;
    for (const Access& other : node.accesses)
      if (other.source == read && (&nest_.variables[other.variable] != &array || other.write)) return false;
    const std::string text = program_.text.substr(span.begin, span.end - span.begin);
    bool any = false;
    for (std::size_t at = text.find(read); at != std::string::npos; at = text.find(read, at + 1)) {
      if (at > 0 && (text::letter(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '>'))
        continue;  // another name
      const unsigned from = span.begin + static_cast<unsigned>(at);
      const Insert edit{from, name, from + static_cast<unsigned>(array.host.size())};
      if (std::none_of(edits.begin(), edits.end(), [&](const Insert& e) { return e.at == from; }))
        edits.push_back(edit);
      any = true;
    }
    return any;
  }

  // Replaces the array's name where it is read by the name of its copy; false if a read is not found in the text.
  bool redirect_reads(int array, std::vector<Insert>& edits) const {
    const Variable& v = nest_.variables[array];
    const KernelArray* a = used(array);
    if (!identifier(v.host) || a == nullptr || v.scattered || (!a->sized && v.count.empty())) return false;
    bool found = true;
    std::size_t instance = 0;  // in the order of Relations::instances
    const std::function<void(const Node&, const Span&)> visit = [&](const Node& node, const Span& around) {
      const Span& span = node.span.known ? node.span : around;
      for (const analysis::OldRead& old : k_.old_reads)
        if (old.variable == array && old.instance == instance && node.kind != NodeKind::block)
          found = found && redirect(v, old.source, node, span, copy_name(array), edits);
      instance += node.kind == NodeKind::block ? 0 : 1;
      const Span body = node.kind == NodeKind::loop                                 ? nest_.loops[node.loop].body
                        : node.kind == NodeKind::block && node.children.size() == 1 ? span
                                                                                    : Span{};
      for (const Node& child : node.children) visit(child, body);
    };
    visit(nest_.root, {});
    return found;
  }

  // Returns true if a sum depends on the order in which threads finish.
  bool add_reduction_clauses() {
    bool varies = false;
    for (const Reduction& r : k_.reductions) {
      if (blocks_ && blockwise(r, nest_)) continue;
      varies |= rounds(r, nest_);
      const char* sign = r.combine == Combine::sum       ? "+"
                         : r.combine == Combine::product ? "*"
                         : r.combine == Combine::minimum ? "min"
                                                         : "max";
      pragma_ += std::string(" reduction(") + sign + ":" + target(r).host + ")";
    }
    return varies;
  }

  // Assumptions, and extremes that do not start as NaN: they stay NaN in the original, but not with a reduction clause.
  std::string scalar_tests() {
    std::string tests;
    if (!k_.fits.empty()) tests = call_text(k_.fits, nest_);
    for (const Reduction& r : k_.reductions)
      if ((r.combine == Combine::minimum || r.combine == Combine::maximum) && !target(r).integer) {
        const std::string& x = target(r).host;
        tests += (tests.empty() ? "" : " && ") + x + " == " + x;
      }
    return tests;
  }

  // Adds the test that arrays and scalars do not overlap; false if it is needed but an extent is unknown.
  bool add_overlap_test(std::string& tests) {
    std::vector<std::string> ranges;
    bool unknown = false;
    const auto add = [&](const std::string& data, const std::string& bytes, bool written) {
      if (program_.c)
        ranges.push_back("(const char*)(" + data + "), placed::Int(" + bytes + "), " + (written ? "1" : "0"));
      else
        ranges.push_back("{" + data + ", " + bytes + (written ? ", true}" : "}"));
    };
    // Local arrays overlap neither each other nor the function's arguments.
    const bool own_apart = std::all_of(k_.arrays.begin(), k_.arrays.end(), [&](const KernelArray& a) {
      return !nest_.variables[a.variable].outlives || nest_.variables[a.variable].given;
    });
    for (const KernelArray& a : k_.arrays) {
      const Variable& v = nest_.variables[a.variable];
      if (!v.outlives && own_apart) continue;
      if (v.table() && a.rows.empty() && nest_.loops[0].claim.empty()) {
        why_ = "it is not known which rows of " + v.host + " are accessed, so their overlap cannot be tested";
        return false;
      }
      if (!a.rows.empty()) {
        const std::string table = "(" + v.host + ")", size = " * placed::Int(sizeof(" + v.host_element + "))",
                          first = call_text(a.rows[0], nest_), last = call_text(a.rows[1], nest_),
                          from = call_text(a.rows[2], nest_) + size,
                          to = "(" + call_text(a.rows[3], nest_) + " + 1)" + size,
                          rows = table + ", " + first + ", " + last + ", ",
                          low = "placed::row(" + rows + first + ", " + from + ")";
        tests += (tests.empty() ? "" : " && ") + ("placed::stacked(" + rows + from + ", " + to + ")");
        add(low, "placed::Int(placed::row(" + rows + last + ", " + to + ") - " + low + ")", a.written);
        add(table + " + " + first, "(" + last + " + 1 - " + first + ") * placed::Int(sizeof(void*))", false);
        continue;
      }
      std::string count = !v.count.empty() ? "placed::Int(" + v.count + ")" : a.sized ? call_text(a.size, nest_) : "";
      unknown |= count.empty();
      count = apart_count(k_, nest_, a.variable, count);
      const std::string first = a.first.empty() ? "" : call_text(a.first, nest_);
      add(v.data + (first.empty() ? "" : " + " + first),
          (first.empty() ? count : "(" + count + " - " + first + ")") + " * placed::Int(sizeof(" + v.host_element +
              "))",
          a.written);
    }
    numbers_ = held(k_, nest_);
    for (const Held& h : numbers_) add(h.number->home, h.number->home_bytes, h.written);
    if (ranges.size() <= 1 || (unknown && !nest_.loops[0].claim.empty())) return true;
    const std::string all = text::joined(ranges);
    tests += (tests.empty() ? "" : " && ") +
             ("placed::apart(" + (program_.c ? std::to_string(ranges.size()) + ", " + all : "{" + all + "}") + ")");
    return !unknown;
  }

  // Loops whose iterations run in another order.
  std::vector<int> permuted_loops() const {
    std::vector<int> all;
    for (int l = 0; permuted_ && !blocks_ && l < std::max(1, collapsible(k_, nest_)); ++l)
      if (!first_part(program_, nest_.loops[k_.chain[static_cast<std::size_t>(l)]]).empty())
        all.push_back(k_.chain[static_cast<std::size_t>(l)]);
    if (!all.empty() && all[0] != 0) all.clear();
    return all;
  }

  // Puts `first` and the pragma before the nest and rewrites headers where needed; returns the text of the new headers.
  std::string replace_headers(const std::string& first, std::vector<Insert>& inserts) const {
    const std::vector<int> others = permuted_loops();
    std::string headers;
    if (blocks_) {
      const std::string at = k_.name + "_at";
      const Rewritten made =
          in_blocks(k_, nest_, first_of_all_, pragma_,
                    permuted_ ? "placed::permuted(" + at + ", " + k_.name + "_in_blocks.count)" : at, pad_);
      inserts.push_back({nest_.span.begin, first + made.open, nest_.loops[0].body.begin});
      inserts.push_back({nest_.span.end, made.close});
      headers = made.open;
    } else if (!others.empty() || !canonical(nest_.loops[0])) {
      for (const int l : others.empty() ? std::vector<int>{0} : others) {
        const Loop& loop = nest_.loops[l];
        const Rewritten made =
            counted(k_, nest_, l, first_part(program_, loop), l == 0 ? pragma_ : std::string(), !others.empty());
        inserts.push_back({loop.span.begin, (l == 0 ? first : "") + made.open, loop.body.begin});
        inserts.push_back({loop.span.end, made.close});
        headers += made.open;
      }
    } else {
      inserts.push_back({nest_.span.begin, first + pragma_ + "\n" + pad_});
    }
    return headers;
  }

  // Appends the kernel's host functions that `used` names.
  void add_functions(const std::string& used, std::string& functions) const {
    for (std::size_t from = 0; from < k_.functions.size();) {
      const std::size_t end = std::min(k_.functions.find("\n}\n", from), k_.functions.size() - 3) + 3;
      const std::string one = k_.functions.substr(from, end - from);
      const std::size_t bracket = one.find('('), word = one.rfind(' ', bracket) + 1;
      if (text::names(used, one.substr(word, bracket - word))) functions += one;
      from = end;
    }
  }

  const Program& program_;
  const Nest& nest_;
  const Part* part_;
  const Kernel& k_;
  bool permuted_, only_vectors_;  // only_vectors_: the nest is a single loop
  std::string first_of_all_, pad_{}, pragma_{};
  std::string copies_{};  // declarations of the copies that the nest reads
  std::string why_ = "the extent of an array is unknown, so its overlap with others cannot be tested";
  bool blocks_ = false;
  std::vector<Held> numbers_{};
};

// Replaces local vectors of the functions with threads; true if there are any.
bool replace_vectors(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed,
                     std::vector<Insert>& inserts) {
  std::set<int> with_threads;
  std::set<std::string> copied;
  for (const auto& [where, k] : placed) {
    with_threads.insert(where.first);
    for (const auto* list : {&k.expanded, &k.privates})
      for (const int x : *list) copied.insert(program.functions[where.first].nests[where.second].variables[x].host);
  }
  bool arrays = false;
  for (const int f : with_threads) {
    std::vector<std::pair<Span, std::string>> own;
    const Span& whole = program.functions[f].whole;
    std::string everything = program.text.substr(whole.begin, whole.end - whole.begin);
    for (const Insert& i : inserts) everything += i.text;
    if (program.functions[f].refused.empty()) own_arrays(program.functions[f].root, copied, everything, own);
    for (const auto& [span, text] : own)
      if (span.known) {
        inserts.push_back({span.begin, text, span.end});
        arrays = true;
      }
  }
  return arrays;
}

// True if the text may declare the name: `int i = 0`, `size_t i;`.
bool declared_in(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at < 2 || text[at - 1] != ' ' || (end < text.size() && text::letter(text[end]))) continue;
    const std::size_t next = text.find_first_not_of(' ', end);
    const bool value = next != std::string::npos && (text[next] == '=' ? text[next + 1] != '=' : text[next] == ';');
    if (value && (text::letter(text[at - 2]) || text[at - 2] == '>')) return true;
  }
  return false;
}

// Reordered nests run only if threads may be faster: replaces each kReordered by a test of the longest nest after it.
// Not in programs whose sums are added in blocks, because their result must not depend on the number of threads.
void test_reordered(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed,
                    std::vector<Insert>& inserts, std::string& functions) {
  const std::string& text = program.text;
  const std::string mark = kReordered;
  if (std::any_of(placed.begin(), placed.end(), [](const auto& p) { return p.second.reassociates; })) return;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::size_t open = text.find('{', at), end = open;
    for (int depth = 0; end < text.size(); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (depth == 0) break;
    }
    const std::string region = text.substr(open, end - open);
    std::string works;
    int count = 0;
    bool known = true;
    for (const auto& [where, k] : placed) {
      const Nest& nest = program.functions[where.first].nests[where.second];
      if (nest.span.begin < open || nest.span.end > end) continue;
      for (const std::string& p : k.work.parameters)
        known = known && !declared_in(region, p) && region.find("for (" + p + " ") == std::string::npos;
      const std::string work = call_text(k.work, nest);
      works = count++ == 0 ? work : "placed::longer(" + works + ", " + work + ")";
      if (functions.find(" " + k.work.name + "(") == std::string::npos) known = false;
    }
    inserts.push_back({static_cast<unsigned>(at), "placed::may_pay(" + (known && count > 0 ? works : "1e30") + ") && ",
                       static_cast<unsigned>(at + mark.size())});
  }
}

constexpr const char* kOmpHeader = "#ifdef _OPENMP\n#include <omp.h>\n#endif\n";

bool tables(const std::map<std::pair<int, int>, Kernel>& placed) {
  return std::any_of(placed.begin(), placed.end(), [](const auto& p) {
    return std::any_of(p.second.arrays.begin(), p.second.arrays.end(), [](const auto& a) { return !a.rows.empty(); });
  });
}

bool copies(const std::map<std::pair<int, int>, Kernel>& placed) {
  return std::any_of(placed.begin(), placed.end(), [](const auto& p) { return !p.second.copies.empty(); });
}

// A range of the user's text with the edits inside it.
std::string with_inserts(const Program& program, unsigned begin, unsigned end, std::vector<Insert> inserts) {
  std::stable_sort(inserts.begin(), inserts.end(), [](const Insert& a, const Insert& b) { return a.at < b.at; });
  unsigned at = begin;
  std::string text;
  for (const Insert& i : inserts) {
    text += program.text.substr(at, i.at - at) + (program.c ? in_c(i.text) : i.text);
    at = std::max(i.at, i.end);
  }
  return text + program.text.substr(at, end - at);
}

std::string threads_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, bool permuted,
                         bool& varies) {
  std::vector<Insert> inserts;
  std::string functions;
  for (const auto& [where, k] : placed) ThreadedNest(program, where, k, permuted).write(inserts, functions, varies);
  if (inserts.empty()) return "";
  test_reordered(program, placed, inserts, functions);
  unsigned first = program.functions.front().whole.begin;
  for (const Function& f : program.functions)
    if (f.whole.known) first = std::min(first, f.whole.begin);
  inserts.push_back({first, functions});
  const bool arrays = replace_vectors(program, placed, inserts);
  const std::string text = with_inserts(program, 0, static_cast<unsigned>(program.text.size()), inserts);
  const std::string title =
                        "// Loops of " + program.functions.back().name + "() as threads of the host, by ridge place.\n",
                    helpers = openmp_helpers({.c = program.c,
                                              .copies = copies(placed),
                                              .permuted = permuted,
                                              .tables = tables(placed),
                                              .arrays = arrays});
  return title +
         (program.c ? "#include <stdarg.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include "
                      "<string.h>\n"
                    : "#include <cstdint>\n#include <cstdlib>\n#include <cstring>\n#include <initializer_list>\n"
                      "#include <new>\n") +
         kOmpHeader + helpers + text;
}

}  // namespace

std::string not_on_threads(const Program& program, const std::pair<int, int>& where, const Kernel& kernel) {
  std::vector<Insert> inserts;
  std::string functions;
  bool varies = false;
  return ThreadedNest(program, where, kernel, false).write(inserts, functions, varies);
}

HostThreads host_threads(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, bool permuted,
                         const std::string& name) {
  HostThreads made;
  std::string functions;
  for (const auto& [where, k] : placed) {
    std::vector<Insert> inserts;
    const Span& span = program.functions[where.first].nests[where.second].span;
    ThreadedNest(program, where, k, permuted).write(inserts, functions, made.varies);
    made.nests[where] = with_inserts(program, span.begin, span.end, inserts);
  }
  if (placed.empty()) return made;
  made.helpers =
      "#include <cstdlib>\n#include <cstring>\n" + std::string(kOmpHeader) +
      openmp_helpers({.copies = copies(placed), .permuted = permuted, .tables = tables(placed), .session = name}) +
      (name == "placed" ? "" : "namespace placed = " + name + ";\n") + functions + "\n";
  return made;
}

Output openmp_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed) {
  Output out;
  out.text = threads_text(program, placed, false, out.varies);
  out.permuted = threads_text(program, placed, true, out.varies);
  return out;
}

}  // namespace ridge::place::emit

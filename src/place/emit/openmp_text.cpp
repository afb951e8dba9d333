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
#include "place/emit/program_text.hpp"
#include "place/emit/vectors.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

// Helpers of the emitted program, in C. In C++ they are in the namespace placed, without the prefix.
constexpr const char* kHelpers = R"(
typedef int64_t placed_Int;
static inline placed_Int placed_max(placed_Int a, placed_Int b) { return a < b ? b : a; }
static inline placed_Int placed_min(placed_Int a, placed_Int b) { return b < a ? b : a; }
static inline double placed_longer(double a, double b) { return a < b ? b : a; }
static inline placed_Int placed_floord(placed_Int n, placed_Int d) { return n < 0 ? -((-n + d - 1) / d) : n / d; }
// Iterations per chunk: few, because with equal parts all wait for the slowest processor, but at least 2 us of work, and
// `line` if that many iterations write to one cache line. `work`: estimated time of all iterations on one thread, in ns.
#ifdef _OPENMP
static inline placed_Int placed_share(placed_Int iterations, double work, placed_Int line) {
  const placed_Int threads = omp_get_max_threads(), least = (placed_Int)(2000.0 * (double)iterations / (work + 1));
  return placed_max(1, placed_max(iterations / (32 * threads), placed_min(placed_max(line, least), iterations / (4 * threads))));
}
#endif
// PLACED_ALWAYS in the environment: threads run also where they do not pay, for comparisons.
static placed_Int placed_starts = 0;  // nests that ran on threads
static inline bool placed_always(void) {
  static int state = -1;
  int set;
#pragma omp atomic read
  set = state;
  if (set < 0) {
    const char* const value = getenv("PLACED_ALWAYS");
    set = value != 0 && *value != 0;
#pragma omp atomic write
    state = set;
  }
  return set != 0;
}
#ifdef _OPENMP
static inline double placed_region(void) {  // ns per parallel region: median of 7, after the one that creates the threads
  double times[7] = {0};
  for (int i = -1; i < 7; ++i) {
    const double start = omp_get_wtime();
#pragma omp parallel
    {
#pragma omp barrier
    }
    const double time = 1e9 * (omp_get_wtime() - start);
    int at = i;
    for (; at > 0 && times[at - 1] > time; --at) times[at] = times[at - 1];
    if (at >= 0) times[at] = time;
  }
  return times[3] + 1;
}
#endif
// True if threads may pay for loops whose longest nest takes `work` ns on one thread.
static inline bool placed_may_pay(double work) {
#ifdef _OPENMP
  return (work >= 5000 && omp_get_max_threads() > 1 && !omp_in_parallel()) || placed_always();
#else
  return work > 0 && placed_always();
#endif
}
// True if a nest that takes `work` ns on one thread is faster on all. A parallel region is timed when it may pay for the
// first time. Threads are not created before 50 us of such work per thread.
static inline bool placed_pays(double work) {
  if (!placed_may_pay(work)) return false;
  bool pays = placed_always();
#ifdef _OPENMP
  static double before = 0, known = 0;
  const int threads = omp_get_max_threads();
  double all, cost;
#pragma omp atomic read
  cost = known;
  if (!pays && cost == 0) {
#pragma omp atomic capture
    all = before += work;
    if (all < 50000.0 * threads) return false;
    cost = placed_region();
#pragma omp atomic write
    known = cost;
  }
  pays = pays || work * (threads - 1) > 2 * cost * threads;
#endif
  if (pays) {
#pragma omp atomic
    ++placed_starts;
  }
  return pays;
}
// Sums are added in blocks from 20 us of work on, and in the order of the original below: the result depends on the
// sizes only, never on the number of threads.
static inline bool placed_sums(double work) { return placed_always() || work >= 20000; }
typedef struct {  // blocks of iterations summed by one thread, at most 512
  placed_Int all, each, count;
} placed_Blocks;
static inline placed_Blocks placed_blocks(placed_Int iterations) {
  const placed_Int all = placed_max(0, iterations), each = placed_max(1, (all + 511) / 512);
  const placed_Blocks made = {all, each, (all + each - 1) / each};
  return made;
}
static inline placed_Int placed_block_from(placed_Blocks b, placed_Int block) { return block * b.each; }
static inline placed_Int placed_block_to(placed_Blocks b, placed_Int block) {
  return placed_min(b.all, block * b.each + b.each);
}
)";

constexpr const char* kCopied = R"(
static inline void* placed_copied(const void* from, placed_Int bytes) {  // to be freed; null if there is no memory
  char* const to = (char*)malloc((size_t)placed_max(1, bytes));
#pragma omp parallel for schedule(static) if (bytes > 65536)
  for (placed_Int i = 0; i < (to == 0 ? 0 : (bytes + 4095) / 4096); ++i)
    memcpy(to + i * 4096, (const char*)from + i * 4096, (size_t)placed_min(4096, bytes - i * 4096));
  return to;
}
)";

constexpr const char* kPermuted = R"(
static inline placed_Int placed_permuted(placed_Int at, placed_Int n) {  // odd numbers upwards, then even numbers downwards
  return at < n / 2 ? 2 * at + 1 : 2 * (n - 1 - at);
}
)";

// Tests ranges of memory: true if no written range overlaps another.
constexpr const char* kApart = R"(
namespace placed {
struct Range {
  const void* data;
  Int bytes;
  bool written = false;
};
inline bool apart(std::initializer_list<Range> ranges) {
  for (const Range& a : ranges)
    for (const Range& b : ranges) {
      const char *x = static_cast<const char*>(a.data), *y = static_cast<const char*>(b.data);
      if (&a != &b && (a.written || b.written) && a.bytes > 0 && b.bytes > 0 && x < y + b.bytes && y < x + a.bytes) return false;
    }
  return true;
}
}  // namespace placed

)";

constexpr const char* kApartInC = R"(
static inline bool placed_apart(int count, ...) {  // ranges as (address, bytes, written)
  const char* data[64];
  placed_Int bytes[64];
  int written[64];
  va_list ranges;
  va_start(ranges, count);
  for (int i = 0; i < count && count <= 64; ++i) {
    data[i] = va_arg(ranges, const char*);
    bytes[i] = va_arg(ranges, placed_Int);
    written[i] = va_arg(ranges, int);
  }
  va_end(ranges);
  for (int i = 0; i < count && count <= 64; ++i)
    for (int k = 0; k < i; ++k)
      if ((written[i] || written[k]) && bytes[i] > 0 && bytes[k] > 0 && data[i] < data[k] + bytes[k] && data[k] < data[i] + bytes[i])
        return false;
  return count <= 64;
}

)";

// The helpers as C++.
std::string in_namespace(const std::string& c) {
  return "namespace placed {" +
         text::each_word(c,
                         [&](const std::string& word, std::size_t& at) -> std::string {
                           if (word == "static" && c.compare(at, 8, " inline ") == 0) return at += 7, "inline";
                           if (word == "static" && c.compare(at, 8, " placed_") == 0) return "inline";
                           return word.rfind("placed_", 0) == 0 ? word.substr(7) : word;
                         }) +
         "}  // namespace placed\n";
}

// Replaces a local std::vector of zeros or a copy. Its pages are first touched by the threads that use them; those of a
// std::vector would all be touched by one thread. Large arrays use huge pages, because threads that touch thousands of
// small pages wait for each other in the kernel, and freeing them takes as long again. Each huge page is touched by one
// thread beforehand, because the others would wait while it is cleared.
constexpr const char* kArray = R"(
#ifdef __linux__
#include <sys/mman.h>
#endif
namespace placed {
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : count_(count) {
    if (count > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
#ifdef __linux__
    if (mapped()) {
      void* const pages = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED) throw std::bad_alloc();
      madvise(pages, count * sizeof(T), MADV_HUGEPAGE);
      data_ = static_cast<T*>(pages);
      char* const bytes = static_cast<char*>(pages);
#pragma omp parallel for schedule(static)
      for (Int at = 0; at < Int(count * sizeof(T)); at += Int(2) << 20) bytes[at] = 0;
      return;
    }
#endif
    data_ = static_cast<T*>(std::calloc(count > 0 ? count : 1, sizeof(T)));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  Array(const T* from, const T* to) : Array(static_cast<std::size_t>(to - from)) {
#pragma omp parallel for
    for (Int i = 0; i < Int(count_); ++i) data_[i] = from[i];
  }
  ~Array() {
#ifdef __linux__
    if (mapped()) {
      munmap(data_, count_ * sizeof(T));
      return;
    }
#endif
    std::free(data_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t count_;
  T* data_ = nullptr;
  bool mapped() const { return count_ * sizeof(T) >= std::size_t{4} << 20; }
};
}  // namespace placed

)";

bool has_loops(const Node& node) {
  return node.kind == NodeKind::loop || std::any_of(node.children.begin(), node.children.end(), has_loops);
}

const Part* part_of(const Part& part, int nest) {
  if (part.kind == PartKind::nest && part.nest == nest) return &part;
  for (const Part& child : part.children)
    if (const Part* found = part_of(child, nest)) return found;
  return nullptr;
}

// Images of which each iteration of the outermost loop needs its own: firstprivate would copy only their headers.
std::set<std::string> own_images(const Kernel& kernel, const Nest& nest) {
  std::set<std::string> all;
  for (const int e : kernel.expanded)
    if (nest.variables[e].shares) all.insert(nest.variables[e].host);
  return all;
}

// Number of loops for a collapse clause: perfectly nested, with bounds that do not depend on each other. The innermost
// loop is excluded, because the compiler vectorizes it only if it is left whole.
int collapsible(const Kernel& kernel, const Nest& nest) {
  if (!own_images(kernel, nest).empty()) return 1;  // declared in the body of the outermost loop
  const Node* at = &nest.root;
  int count = 0;
  std::set<std::string> iterators;
  while (count < static_cast<int>(kernel.chain.size())) {
    while (at->kind == NodeKind::block && at->children.size() == 1) at = &at->children[0];
    if (at->kind != NodeKind::loop || at->loop != kernel.chain[count]) break;
    const Loop& loop = nest.loops[at->loop];
    bool free = !loop.iterator_outside && !loop.host_iterator.empty() && loop.kind == "for" && canonical(loop);
    for (const Constraint& c : loop.bounds)
      for (const std::string& name : c.poly.symbols()) free = free && iterators.count(name) == 0;
    if (!free) break;
    if (count > 0 && !has_loops(at->children[0])) break;
    iterators.insert(loop.iterator);
    ++count;
    at = &at->children[0];
  }
  return count;
}

// True if neighbouring iterations read the same rows, as in x[(r + k) * columns + c]: then larger chunks reuse them.
bool reads_neighbours(const Kernel& k, const Nest& nest) {
  bool found = false;
  const std::string& outer = nest.loops[k.chain[0]].iterator;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.write || !a.exact) return;
    for (const Poly& p : a.subscripts)
      for (const auto& [term, factor] : p.terms()) {
        const auto at = std::find(term.begin(), term.end(), outer);
        if (at == term.end()) continue;
        for (std::size_t l = 0; l < nest.loops.size(); ++l) {
          if (std::find(k.chain.begin(), k.chain.end(), static_cast<int>(l)) != k.chain.end()) continue;
          auto other = term;
          other[static_cast<std::size_t>(at - term.begin())] = nest.loops[l].iterator;
          std::sort(other.begin(), other.end());
          const auto same = p.terms().find(other);
          found |= same != p.terms().end() && same->second == factor;
        }
      }
  });
  return found;
}

// Iterations of a loop whose written elements share a cache line of 64 bytes; 1 if each has its own.
long iterations_per_line(const Nest& nest, const std::string& iterator) {
  long most = 1;
  text::visit_accesses(nest.root, [&](const Access& a) {
    const Variable& v = nest.variables[a.variable];
    if (!a.write || !v.array() || v.local_memory || !a.exact) return;
    long stride = 0, size = v.bytes;
    for (std::size_t d = a.subscripts.size(); d-- > 0;) {
      for (const auto& [term, factor] : a.subscripts[d].terms())
        if (std::find(term.begin(), term.end(), iterator) != term.end())
          stride += term.size() == 1 ? std::abs(factor) * size : 64;
      if (d > 0) size *= d <= v.inner.size() && v.inner[d - 1] > 0 ? v.inner[d - 1] : 64;
    }
    if (stride > 0) most = std::max(most, 64 / stride);
  });
  return most;
}

std::string clause(const Kernel& k, const Nest& nest) {
  const int together = std::max(1, collapsible(k, nest));
  std::string count;
  for (int l = 0; l < together; ++l) {
    const auto axis = std::find(k.axes.begin(), k.axes.end(), k.chain[l]) - k.axes.begin();
    count += (l > 0 ? " * " : "") + call_text(k.iterations[static_cast<std::size_t>(axis)], nest);
  }
  return (together > 1 ? " collapse(" + std::to_string(together) + ")" : "") + " schedule(" +
         (reads_neighbours(k, nest) ? "guided" : "dynamic") + ", placed::share(" + count + ", " +
         call_text(k.work, nest) + ", " +
         std::to_string(iterations_per_line(nest, nest.loops[k.chain[together - 1]].iterator)) + "))";
}

// The init statement of a for loop as written; "" if the loop is not a plain for.
std::string first_part(const Program& program, const Loop& loop) {
  if (!loop.span.known || !loop.body.known || loop.kind != "for" || loop.host_iterator.empty()) return "";
  const std::string text = program.text.substr(loop.span.begin, loop.body.begin - loop.span.begin);
  const auto open = text.find('('), end = text.find(';');
  if (open == std::string::npos || end == std::string::npos || end < open) return "";
  const std::string first = text.substr(open + 1, end - open - 1);
  const bool comment = text.find("//") != std::string::npos || text.find("/*") != std::string::npos;
  return !comment && first.find_first_of("\"'{}#") == std::string::npos ? first : "";
}

HostCall count_of(const Kernel& k, int loop) {
  return k.iterations[static_cast<std::size_t>(std::find(k.axes.begin(), k.axes.end(), loop) - k.axes.begin())];
}

bool rounds(const Reduction& r, const Nest& nest) {
  return (r.combine == Combine::sum || r.combine == Combine::product) && !nest.variables[r.target].integer;
}

// True if blocks of iterations are reduced separately and combined in order: sums that round, and the first position of
// an extreme.
bool blockwise(const Reduction& r, const Nest& nest) { return r.payload.empty() ? rounds(r, nest) : r.strict; }

bool identifier(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), text::letter) &&
         std::isdigit(static_cast<unsigned char>(s[0])) == 0;
}

// Replacement for a loop's header: `open` before the body, `close` after it.
struct Rewritten {
  std::string open{}, close{};
};

// Reduces blocks of iterations, each into local variables that shadow the user's, then the blocks in order.
Rewritten in_blocks(const Kernel& k, const Nest& nest, const std::string& first, const std::string& pragma,
                    const std::string& order, const std::string& pad) {
  const Loop& l = nest.loops[0];
  const std::string &n = k.name, step = std::to_string(l.step), in = pad + "  ", inner = pad + "    ";
  Rewritten made;
  made.open = "{\n" + in + first + ";\n" + in + "const placed::Int " + n + "_starts_at = " + l.host_iterator + ";\n" +
              in + "const placed::Blocks " + n + "_in_blocks = placed::blocks(" + call_text(count_of(k, 0), nest) +
              ");\n";
  std::string start, kept, sum;
  const std::string each =
      "for (placed::Int " + n + "_block_at = 0; " + n + "_block_at < " + n + "_in_blocks.count; ++" + n + "_block_at) ";
  // One element per block of a variable that starts with `from`; returns the element's text.
  const auto keep = [&](const Variable& v, const std::string& from) {
    const std::string part = n + "_" + v.host + "_parts";
    made.open += in + v.host_element + " " + part + "[512];\n";
    start += inner + v.host_element + " " + v.host + " = " + from + ";\n";
    kept += inner + part + "[" + n + "_block_at] = " + v.host + ";\n";
    return part + "[" + n + "_block_at]";
  };
  for (const Reduction& r : k.reductions) {
    if (!blockwise(r, nest)) continue;
    const Variable& v = nest.variables[r.target];
    if (r.payload.empty()) {
      const std::string part = keep(v, r.combine == Combine::sum ? "0" : "1");
      sum += in + each + v.host + (r.combine == Combine::sum ? " += " : " *= ") + part + ";\n";
      continue;
    }
    // Every block starts with the extreme found before the loop; the first block with a better one wins.
    std::string better;
    std::set<int> all(r.payload.begin(), r.payload.end());
    all.insert(r.target);
    for (const int x : all) {
      const Variable& p = nest.variables[x];
      const std::string before = n + "_" + p.host + "_before";
      made.open += in + "const " + p.host_element + " " + before + " = " + p.host + ";\n";
      better += p.host + " = " + keep(p, before) + "; ";
    }
    sum += in + each + "if (" + n + "_" + v.host + "_parts[" + n + "_block_at]" +
           (r.combine == Combine::argmin ? " < " : " > ") + v.host + ") { " + better + "}\n";
  }
  made.open += pragma + "\n" + in + "for (placed::Int " + n + "_at = 0; " + n + "_at < " + n + "_in_blocks.count; ++" +
               n + "_at) {\n" + inner + "const placed::Int " + n + "_block_at = " + order + ";\n" + start + inner +
               "const placed::Int " + n + "_ends_at = " + n + "_starts_at + " + "placed::block_to(" + n +
               "_in_blocks, " + n + "_block_at) * " + step + ";\n" + inner + "for (" + l.host_type + " " +
               l.host_iterator + " = static_cast<" + l.host_type + ">(" + n + "_starts_at + " + "placed::block_from(" +
               n + "_in_blocks, " + n + "_block_at) * " + step + "); placed::Int(" + l.host_iterator + ")" +
               (l.step > 0 ? " < " : " > ") + n + "_ends_at; " + l.host_iterator + " += " + step + ")\n" + inner;
  made.close = "\n" + kept + in + "}\n" + sum + pad + "}";
  return made;
}

// Counts the loop's iterations, so that any test is possible.
Rewritten counted(const Kernel& k, const Nest& nest, int loop, const std::string& first, const std::string& pragma,
                  bool permuted) {
  const Loop& l = nest.loops[loop];
  const std::string n = k.name + "_" + l.host_iterator, at = n + "_at";
  return {"{ " + first + "; const placed::Int " + n + "_first = " + l.host_iterator + ", " + n + "_count = " +
              call_text(count_of(k, loop), nest) + ";\n" + pragma + "\nfor (placed::Int " + at + " = 0; " + at + " < " +
              n + "_count; ++" + at + ") { " + l.host_type + " " + l.host_iterator + " = static_cast<" + l.host_type +
              ">(" + n + "_first + " + (permuted ? "placed::permuted(" + at + ", " + n + "_count)" : at) + " * " +
              std::to_string(l.step) + "); ",
          " } }"};
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
      pragma_ += (only_vectors_ ? " simd" : "") + clause(k_, nest_);
    if (const std::string why = fault(); !why.empty()) return why;
    std::vector<Insert> reads;
    for (const int c : k_.copies)
      if (!redirect_reads(c, reads))
        return "iterations overwrite elements of " + nest_.variables[c].host +
               " that others read, and its text does not show where";
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
    if (!add_overlap_test(tests))
      return "the extent of an array is unknown, so its overlap with others cannot be tested";
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
      return "its threads need images of their own, which have no place in its text";
    for (const Reduction& r : k_.reductions) {
      if (target(r).captured) return target(r).host + " is captured by a lambda: threads cannot have their own";
      if (!(blocks_ && blockwise(r, nest_)) && !r.payload.empty())
        return "OpenMP has no clause for the position of an extreme";
    }
    return "";
  }

  void add_private_clauses() {
    std::set<std::string> privates, copied;
    for (const int p : k_.privates)
      if (nest_.variables[p].loops.empty()) privates.insert(nest_.variables[p].host);
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
    std::string rows;
    for (const long n : v.inner) rows += "[" + std::to_string(n) + "]";
    const std::string start = "((" + v.host_element + "*)" + memory + (from.empty() ? ")" : " - " + from + ")");
    copies_ += rows.empty() ? "const " + v.host_element + "* const " + name + " = " + start + ";\n"
                            : "const " + v.host_element + " (*const " + name + ")" + rows + " = (const " +
                                  v.host_element + " (*)" + rows + ")" + start + ";\n";
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
    if (!identifier(v.host) || a == nullptr || (!a->sized && v.count.empty())) return false;
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
      std::string count = !v.count.empty() ? "placed::Int(" + v.count + ")" : a.sized ? call_text(a.size, nest_) : "";
      unknown |= count.empty();
      count = apart_count(k_, nest_, a.variable, count);
      const std::string first = a.first.empty() || !v.count.empty() ? "" : call_text(a.first, nest_);
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

// Reordered nests run only if threads may pay: replaces each kReordered by a test of the longest nest after it. Not in
// programs whose sums are added in blocks, because their result must not depend on the number of threads.
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
        known = known && region.find("for (int " + p + " ") == std::string::npos &&
                region.find("for (" + p + " ") == std::string::npos;
      const std::string work = call_text(k.work, nest);
      works = count++ == 0 ? work : "placed::longer(" + works + ", " + work + ")";
      if (functions.find(" " + k.work.name + "(") == std::string::npos) known = false;
    }
    inserts.push_back({static_cast<unsigned>(at), "placed::may_pay(" + (known && count > 0 ? works : "1e30") + ") && ",
                       static_cast<unsigned>(at + mark.size())});
  }
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
  std::stable_sort(inserts.begin(), inserts.end(), [](const Insert& a, const Insert& b) { return a.at < b.at; });
  unsigned at = 0;
  std::string text;
  for (const Insert& i : inserts) {
    text += program.text.substr(at, i.at - at) + (program.c ? in_c(i.text) : i.text);
    at = std::max(i.at, i.end);
  }
  const bool copies = std::any_of(placed.begin(), placed.end(), [](const auto& p) { return !p.second.copies.empty(); });
  const std::string title =
                        "// Loops of " + program.functions.back().name + "() as threads of the host, by ridge place.\n",
                    threads = "#ifdef _OPENMP\n#include <omp.h>\n#endif\n",
                    helpers = std::string(kHelpers) + (copies ? kCopied : "") + (permuted ? kPermuted : "");
  if (program.c)
    return title +
           "#include <stdarg.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include "
           "<string.h>\n" +
           threads + helpers + kApartInC + text + program.text.substr(at);
  return title +
         "#include <cstdint>\n#include <cstdlib>\n#include <cstring>\n#include <initializer_list>\n#include <new>\n" +
         threads + in_namespace(helpers) + kApart + (arrays ? kArray : "") + text + program.text.substr(at);
}

}  // namespace

std::string not_on_threads(const Program& program, const std::pair<int, int>& where, const Kernel& kernel) {
  std::vector<Insert> inserts;
  std::string functions;
  bool varies = false;
  return ThreadedNest(program, where, kernel, false).write(inserts, functions, varies);
}

Output openmp_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed) {
  Output out;
  out.text = threads_text(program, placed, false, out.varies);
  out.permuted = threads_text(program, placed, true, out.varies);
  return out;
}

}  // namespace ridge::place::emit

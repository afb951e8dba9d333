// Fingerprints of nests, the isl quota, and the cache of relations and verdicts.
#include "place/analysis/memo.hpp"

#include <isl/ctx.h>

#include <stdexcept>

namespace ridge::place::analysis {
namespace {

class Writer {
 public:
  std::string text{};

  void add(const std::string& s) { text += std::to_string(s.size()) + ":" + s; }
  void add(long n) { text += std::to_string(n) + ","; }
  void add(int n) { add(static_cast<long>(n)); }
  void add(bool b) { text += b ? '1' : '0'; }
  void add(const Poly& p) {
    add(p.fits());
    add(p.text());
  }
  void add(const Constraint& c) {
    add(c.poly);
    add(c.equality);
  }
  void add(const Access& a) {
    all(a.variable, a.write, a.must, a.own, a.exact, a.subscripts, a.not_negative, a.exists, a.where, a.why, a.line,
        a.source);
  }
  void add(const Reduction& r) { all(static_cast<int>(r.combine), r.target, r.payload, r.strict, r.by_comparison); }
  void add(const Variable& v) {
    all(v.name, v.host, v.element, v.host_element, v.type, v.bytes, static_cast<int>(v.storage), v.inner, v.length,
        v.data, v.count, v.integer, v.is_unsigned, v.parameter, v.global, v.constant, v.member, v.captured, v.outlives,
        v.local_memory, v.scattered, v.mixed, v.packed, v.part_of, v.loops, v.line);
  }
  void add(const Loop& l) {
    all(l.parent, l.depth, l.counted, l.exact, l.iterator, l.type, l.host_type, l.host_iterator, l.axis, l.open,
        l.first, l.start, l.condition, l.step, l.bounds, l.leaves_early, l.claim, l.claim_except, l.claim_private,
        l.iterator_outside, l.line, l.kind, l.source, l.why);
  }
  void add(const Jump& j) { add(j.depth); }
  void add(const Node& n) {
    all(static_cast<int>(n.kind), n.line, n.loop, n.text, n.target, n.operation, n.source, n.accesses, n.guards,
        n.reduction, n.declaration, n.when.has_value(), n.otherwise.has_value());
    if (n.when) add(*n.when);
    if (n.otherwise) add(*n.otherwise);
    add(n.children);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(static_cast<long>(list.size()));
    for (const T& item : list) add(item);
  }
  template <class... T>
  void all(const T&... each) {
    (add(each), ...);
  }
};

// Lists nodes in the order in which Relations::instances are created.
void list_nodes(const Node& node, std::vector<const Node*>& all) {
  if (node.kind != NodeKind::block) all.push_back(&node);
  for (const Node& child : node.children) list_nodes(child, all);
}

}  // namespace

std::string fingerprint(const Nest& nest) {
  Writer w;
  w.all(nest.loops, nest.jumps, nest.variables, nest.parameters, nest.context, nest.assumptions, nest.assumption_texts,
        nest.functions, nest.notes, std::vector<int>(nest.live_after.begin(), nest.live_after.end()), nest.libm,
        nest.asserts, nest.line, nest.root);
  return w.text;
}

Quota::Quota(isl::ctx context, unsigned long operations)
    : context_(context), before_(isl_ctx_get_max_operations(context.get())) {
  isl_ctx_reset_operations(context_.get());
  isl_ctx_set_max_operations(context_.get(), operations);
}

Quota::~Quota() {
  isl_ctx_set_max_operations(context_.get(), before_);
  isl_ctx_reset_operations(context_.get());
}

NestAnalysis Memo::analyzed(const Nest& nest) {
  ++asked_;
  const std::string key = fingerprint(nest);
  if (const auto failed = failed_.find(key); failed != failed_.end()) throw failed->second;
  auto at = known_.find(key);
  if (at == known_.end()) {
    try {
      NestAnalysis fresh;
      fresh.relations = relate(context_, nest, parsed_);
      fresh.verdicts = loop_verdicts(fresh.relations);
      at = known_.emplace(key, std::move(fresh)).first;
    } catch (const isl::exception& error) {
      failed_.emplace(key, error);
      throw;
    }
  }
  NestAnalysis result = at->second;
  std::vector<const Node*> nodes;
  list_nodes(nest.root, nodes);
  if (nodes.size() != result.relations.instances.size())
    throw std::logic_error("a nest's instances are not its statements");
  result.relations.nest = &nest;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Instance& instance = result.relations.instances[i];
    instance.node = nodes[i];
    for (std::size_t k = 0; k < instance.relations.size(); ++k) instance.relations[k].access = &nodes[i]->accesses[k];
  }
  return result;
}

}  // namespace ridge::place::analysis

// Splits a function into nests that may be placed and host parts that stay unchanged.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <functional>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Fills in a parameter that is an array or an array-like object of the shape `v`.
void fill_array_parameter(QualType type, const Variable& v, FunctionParameter& made) {
  made.element = v.host_element;
  made.bytes = v.bytes;
  made.constant = v.constant;
  made.length = v.length;
  const bool plain = v.inner.empty();
  const bool structs = !plain && (v.storage == Storage::pointer || class_of(type) == "std::vector");
  for (const long n : v.inner) made.length = structs ? std::max(made.length, 1L) * n : made.length;
  made.kind = structs && v.storage == Storage::pointer                     ? FunctionParameter::Kind::struct_pointer
              : structs                                                    ? FunctionParameter::Kind::structs
              : v.length >= 0 && (!plain || v.storage == Storage::c_array) ? FunctionParameter::Kind::rows
              : !plain                                                     ? FunctionParameter::Kind::other
              : v.storage == Storage::pointer                              ? FunctionParameter::Kind::pointer
              : v.length >= 0                                              ? FunctionParameter::Kind::std_array
              : class_of(type) == "std::vector"                            ? FunctionParameter::Kind::vector
              : class_of(type) == "std::span"                              ? FunctionParameter::Kind::span
                                                                           : FunctionParameter::Kind::other;
}

// The struct that an array, pointer or vector of any dimension consists of.
QualType struct_in(const ASTContext& ast, QualType type) {
  for (type = type.getNonReferenceType();;) {
    const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record_of(type));
    if (type->isPointerType())
      type = type->getPointeeType();
    else if (const ArrayType* array = ast.getAsArrayType(type))
      type = array->getElementType();
    else if (made != nullptr && class_of(type).rfind("std::", 0) == 0 && made->getTemplateArgs().size() > 0 &&
             made->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
      type = made->getTemplateArgs()[0].getAsType();
    else
      return type;
  }
}

// Adds "OFFSET TYPE" for each number inside a struct; false if there are more than 256.
bool list_numbers(const Source& file, QualType type, long at, std::vector<std::string>& all) {
  const ASTContext& ast = file.ast();
  type = type.getCanonicalType().getUnqualifiedType();
  if (const ConstantArrayType* array = ast.getAsConstantArrayType(type)) {
    const QualType element = array->getElementType();
    const long each = ast.getTypeSizeInChars(element).getQuantity(), count = array->getSize().getSExtValue();
    for (long k = 0; k < count; ++k)
      if (all.size() > 256 || !list_numbers(file, element, at + k * each, all)) return false;
    return true;
  }
  if (const RecordDecl* record = type->getAsRecordDecl()) {
    for (const FieldDecl* field : record->fields())
      if (!list_numbers(file, field->getType(), at + offset_of(ast, field), all)) return false;
    return true;
  }
  if (const auto* e = type->getAs<EnumType>()) type = e->getDecl()->getIntegerType().getCanonicalType();
  if (file.dialect(type)) all.push_back(std::to_string(at) + " " + file.type_text(type));
  return all.size() <= 256;
}

bool has_loop(const Stmt* s) {
  bool found = false;
  visit(s, [&](const Stmt* x) {
    found |= is_loop(x) || (isa<CallExpr>(x) && cast<CallExpr>(x)->getDirectCallee() != nullptr);
  });
  return found;
}

}  // namespace

Function Reader::function(const FunctionDecl* decl, std::set<const FunctionDecl*>& called) {
  Function result;
  result_ = &result;
  facts_.function = decl;
  called_ = &called;
  const auto& sources = ast_.getSourceManager();
  result.name = decl->getNameAsString();
  result.result = type_text(decl->getReturnType());
  result.qualified = qualified_name(decl);
  result.line = line(decl->getLocation());
  result.last_line = line(decl->getEndLoc());
  result.whole = span(decl->getSourceRange());
  result.body = span(decl->getBody()->getSourceRange());
  result.name_span = span(SourceRange(decl->getLocation(), decl->getLocation()));
  result.in_main_file = sources.isInMainFile(decl->getLocation());
  result.is_static = decl->getStorageClass() == SC_Static || decl->isInAnonymousNamespace();
  for (const ParmVarDecl* p : decl->parameters()) result.parameters.push_back(parameter(p));
  if (decl->getNumParams() > 0)
    result.parameter_text = original(
        SourceRange(decl->getParamDecl(0)->getBeginLoc(), decl->getParamDecl(decl->getNumParams() - 1)->getEndLoc()));
  if (decl->isTemplateInstantiation() || decl->isTemplated()) result.refused = "templates are not supported";
  if (decl->isVariadic()) result.refused = "variadic functions are not supported";
  if (decl->isConstexpr()) result.refused = "constexpr functions are not supported";
  if (!result.whole.known || !result.body.known) result.refused = "its text is in a macro or in another file";
  if (const auto* method = dyn_cast<CXXMethodDecl>(decl)) {
    result.refused = loops_in(method) ? members.lift(method) : "";
    if (result.refused.empty()) result.refused = "member functions are not supported";  // read again as a free function
  }
  const std::size_t rewrites = members.rewrites.size();
  if (result.refused.empty()) rewrite_jumps(*this, decl->getBody(), members.rewrites);
  if (facts_.find(decl, result)) result.refused = "goto or setjmp: the order of its statements is unknown";
  if (result.refused.empty() &&
      (members.rewrites.size() > rewrites || !rewrite_pointers(facts_, decl->getBody(), members.rewrites)))
    rewrite_counters(facts_, decl->getBody(), members.rewrites);
  if (result.refused.empty()) expose_fields(*this, decl->getBody(), members.rewrites);
  result.root = part(decl->getBody(), false);
  for (FunctionParameter& p : result.parameters)  // the element type of a Mat is known from its uses
    for (const Nest& n : result.nests)
      for (const Variable& v : n.variables)
        if (p.kind == FunctionParameter::Kind::mat && v.host == p.name && v.array()) {
          p.element = v.host_element;
          p.length = v.inner.empty() ? 1 : v.inner[0];
        }
  return result;
}

FunctionParameter Reader::parameter(const ParmVarDecl* p) const {
  FunctionParameter made;
  made.name = p->getNameAsString();
  made.type = type_text(p->getType());
  Variable v;
  v.host = made.name;
  const QualType bare = p->getType().getNonReferenceType();
  if (const auto number = dialect(bare)) {
    made.bytes = number->bytes;
    made.is_unsigned = number->is_unsigned;
    made.constant = bare.isConstQualified();
    made.element = type_text(bare.getUnqualifiedType());
    made.kind = p->getType()->isReferenceType() && !made.constant ? FunctionParameter::Kind::reference
                : number->integer                                 ? FunctionParameter::Kind::integer
                                                                  : FunctionParameter::Kind::real;
  } else if (shape(p->getType(), v)) {
    fill_array_parameter(p->getType(), v, made);
    if (v.mixed) {
      const QualType each = struct_in(ast_, p->getType());
      made.fields = {std::to_string(ast_.getTypeSizeInChars(each).getQuantity())};
      const bool structs =
          made.kind == FunctionParameter::Kind::structs || made.kind == FunctionParameter::Kind::struct_pointer;
      if (!structs || !list_numbers(*this, each, 0, made.fields)) made.kind = FunctionParameter::Kind::other;
    }
  } else if (class_of(p->getType()) == "cv::Mat" || class_of(p->getType()) == "cv::Mat_") {
    made.kind = FunctionParameter::Kind::mat;
    made.constant = bare.isConstQualified();
  } else if (!p->getType()->isPointerType() && is_view(record_of(bare))) {
    const QualType element = pointer_of(record_of(bare), made.fields);
    const auto known = element.isNull() ? std::nullopt : dialect(element);
    if (known) {
      made.kind = FunctionParameter::Kind::view;
      made.element = type_text(element.getUnqualifiedType());
      made.bytes = known->bytes;
      made.constant = element.isConstQualified();
    }
  }
  return made;
}

// Reads a loop with its whole body; empty, with the reason in `into`, if something in it is not supported.
std::optional<Nest> Reader::nest(const Stmt* s, Part& into) {
  try {
    return NestReader(facts_, summaries_, s).nest();
  } catch (const Refused& refused) {
    into.why = refused.what;
    into.why_line = refused.line;
    refusals.push_back({refused.file, refused.line, refused.what});
    return {};
  }
}

// True if a statement only computes with local scalars and prints them: it accesses no array.
bool Reader::only_numbers(const Stmt* s) const {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    return var != nullptr && var->hasLocalStorage() && var->getType()->isArithmeticType() &&
           !var->getType().isVolatileQualified() && facts_.escaped.count(var) == 0;
  }
  if (isa<StringLiteral, IntegerLiteral, FloatingLiteral, CharacterLiteral, CXXBoolLiteralExpr>(s)) return true;
  if (isa<UnaryExprOrTypeTraitExpr>(s)) return true;  // sizeof does not evaluate its operand
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    static const std::set<std::string> prints{"printf", "puts", "putchar", "std::printf", "std::puts", "std::putchar"};
    const FunctionDecl* callee = call->getDirectCallee();
    const auto* shifts = dyn_cast<CXXOperatorCallExpr>(call);
    const bool stream =
        shifts != nullptr && shifts->getOperator() == OO_LessLess && class_of(call->getType()) == "std::basic_ostream";
    if (!stream && (callee == nullptr || isa<CXXMethodDecl>(callee) || !callee->getDeclName().isIdentifier() ||
                    prints.count(callee->getQualifiedNameAsString()) == 0))
      return false;
    return std::all_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) {
      const ValueDecl* named = referred(a);
      return only_numbers(a) || (stream && named != nullptr && named->getQualifiedNameAsString() == "std::cout") ||
             (stream && named != nullptr && isa<FunctionDecl>(named));  // endl, flush
    });
  }
  if (const auto* u = dyn_cast<UnaryOperator>(s))
    if (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf) return false;
  if (const auto* d = dyn_cast<DeclStmt>(s))
    for (const Decl* decl : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(decl);
          var == nullptr || !var->hasLocalStorage() || !var->getType()->isArithmeticType())
        return false;
  if (!isa<UnaryOperator, BinaryOperator, ConditionalOperator, ParenExpr, CastExpr, ExprWithCleanups, DeclStmt,
           CompoundStmt, IfStmt, BreakStmt, ContinueStmt, NullStmt>(s))
    return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return only_numbers(child); });
}

// True if an expression computes an address without accessing an array: of another pointer, or of new memory.
bool Reader::only_address(const Expr* e) const {
  e = e->IgnoreParens();
  if (const auto* cast = dyn_cast<CastExpr>(e))
    return cast->getType()->isPointerType() &&
           (cast->getCastKind() == CK_NullToPointer ||
            (cast->getSubExpr()->getType()->isPointerType() || cast->getCastKind() == CK_ArrayToPointerDecay)) &&
           (cast->getCastKind() == CK_NullToPointer || only_address(cast->getSubExpr()));
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    if (var == nullptr || var->getType().isVolatileQualified()) return false;
    return var->getType()->isArrayType() || (var->getType()->isPointerType() && !facts_.reachable(var));
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAdditiveOp() && b->getType()->isPointerType())
    return b->getLHS()->getType()->isPointerType() ? only_address(b->getLHS()) && only_numbers(b->getRHS())
                                                   : only_address(b->getRHS()) && only_numbers(b->getLHS());
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf)
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(u->getSubExpr()->IgnoreParens()))
      return only_address(element->getBase()) && only_numbers(element->getIdx());
  if (const auto* made = dyn_cast<CXXNewExpr>(e))
    return made->isArray() && made->getAllocatedType()->isArithmeticType() && made->getNumPlacementArgs() == 0 &&
           made->getArraySize().has_value() && only_numbers(*made->getArraySize());
  if (const auto* call = dyn_cast<CallExpr>(e); call != nullptr && call->getDirectCallee() != nullptr) {
    static const std::set<std::string> allocate{"malloc",      "calloc",      "aligned_alloc",
                                                "std::malloc", "std::calloc", "std::aligned_alloc"};
    return allocate.count(call->getDirectCallee()->getQualifiedNameAsString()) > 0 &&
           std::all_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) { return only_numbers(a); });
  }
  return false;
}

// True for statements that only set local pointers: p = q, float* t = a, p = malloc(n).
bool Reader::moves_addresses(const Stmt* s) const {
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->getOpcode() == BO_Assign) {
    const auto* to = dyn_cast_or_null<VarDecl>(referred(b->getLHS()));
    return to != nullptr && to->getType()->isPointerType() && !facts_.reachable(to) && only_address(b->getRHS());
  }
  const auto* d = dyn_cast<DeclStmt>(s);
  return d != nullptr && std::all_of(d->decl_begin(), d->decl_end(), [&](const Decl* decl) {
           const auto* var = dyn_cast<VarDecl>(decl);
           return var != nullptr && var->hasLocalStorage() && var->getType()->isPointerType() &&
                  (!var->hasInit() || only_address(var->getInit()));
         });
}

// Memory that a host part accesses. If it may access anything but named objects, it counts as accessing everything.
void Reader::touched(const Stmt* s, Part& into) {
  if (only_numbers(s) || moves_addresses(s)) {
    into.pure = true;
    return;
  }
  header_touches(s, into.touches, into.anything);
  into.pure = !into.anything && into.touches.empty();
}

// Memory that a statement or a header's expression accesses.
void Reader::header_touches(const Stmt* s, std::vector<Touch>& touches, bool& anything) {
  if (s != nullptr && !only_numbers(s)) NestReader(facts_, summaries_, s).touches(touches, anything);
}

// A loop that stays on the host: accesses of its header, and the parts of its body.
Part Reader::open_loop(const Stmt* s) {
  Part result;
  result.kind = PartKind::loop;
  facts_.around.push_back({s, 0});
  result.children.push_back(part(body_of(s), false));
  facts_.around.pop_back();
  const auto add = [&](const Stmt* h) { header_touches(h, result.touches, result.anything); };
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    add(f->getInit());
    add(f->getCond());
    add(f->getInc());
  } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
    add(w->getCond());
  } else if (const auto* d = dyn_cast<DoStmt>(s)) {
    add(d->getCond());
  } else if (const auto* r = dyn_cast<CXXForRangeStmt>(s);  // advancing a reference accesses no array
             !r->getLoopVariable()->getType()->isReferenceType() &&
             class_of(r->getRangeInit()->getType()) != "std::initializer_list") {
    NestReader(facts_, summaries_, s).touches(result.touches, result.anything);
  }
  return result;
}

Part Reader::part(const Stmt* s, bool in_sequence) {
  Part result;
  result.line = line(s);
  result.span = statement_span(s);
  if (!result.span.known) result.expanded = expanded_span(s);
  result.source = source(s);
  result.in_sequence = in_sequence;
  result.declares = isa<DeclStmt>(s);
  if (const auto* block = dyn_cast<CompoundStmt>(s)) {
    result.kind = PartKind::sequence;
    result.span = span(s->getSourceRange());
    facts_.around.push_back({s, 0});
    for (const Stmt* child : block->body()) {
      ++facts_.around.back().next;
      result.children.push_back(part(child, true));
    }
    facts_.around.pop_back();
    return result;
  }
  if (runs_once(s)) return part(body_of(s), in_sequence);
  if (is_loop(s)) return loop_part(s, std::move(result));
  if (const auto* branch = dyn_cast<IfStmt>(s);
      branch != nullptr && !branch->hasInitStorage() && !branch->hasVarStorage() && has_loop(s))
    return branch_part(branch, std::move(result));
  if (auto call = placeable_call(s)) {
    call->line = result.line;
    call->span = result.span;
    call->expanded = result.expanded;
    call->source = result.source;
    call->in_sequence = in_sequence;
    call->declares = result.declares;
    result = *call;
  }
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && makes(d, result)) return result;
  if (result.kind == PartKind::statement || result.kind == PartKind::call) {
    const auto* leaves = dyn_cast<ReturnStmt>(s);
    const Expr* value = leaves != nullptr ? leaves->getRetValue() : nullptr;
    if (value != nullptr && value->isPRValue() && dialect(value->getType()))  // a number: only its expression counts
      touched(value, result);
    else
      touched(s, result);
    if (const auto* e = dyn_cast<Expr>(s)) exchanges(e, result);
  }
  return result;
}

// A nest if the whole loop is supported, else a host loop around its parts.
Part Reader::loop_part(const Stmt* s, Part result) {
  result.kind = PartKind::loop;
  result.id = facts_.loop_ids[s];
  result.loop_kind = isa<WhileStmt>(s) ? "while" : isa<DoStmt>(s) ? "do" : "for";
  auto found = nest(s, result);
  bool inner = false;
  visit(body_of(s), [&](const Stmt* x) { inner |= is_loop(x); });
  if (found && !found->loops[0].counted && inner) {  // inner loops may be nests, with its variables fixed
    result.why = found->loops[0].why;
    result.why_line = result.line;
    found.reset();
  }
  if (found) {
    result.kind = PartKind::nest;
    result.nest = static_cast<int>(result_->nests.size());
    result.span = found->span;
    result_->nests.push_back(std::move(*found));
    if (inner && facts_.around.size() < 40) {  // also as a host loop, in case only inner loops can be placed
      const auto said = refusals.size();       // refusals inside a nest that is supported as a whole are dropped
      Part opened = open_loop(s);
      refusals.resize(said);
      opened.id = result.id;
      opened.loop_kind = result.loop_kind;
      opened.line = result.line;
      opened.span = result.span;
      opened.source = result.source;
      opened.in_sequence = result.in_sequence;
      result.children.push_back(std::move(opened));
    }
    return result;
  }
  Part opened = open_loop(s);
  result.children = std::move(opened.children);
  result.anything = opened.anything;
  result.touches = std::move(opened.touches);
  return result;
}

Part Reader::branch_part(const IfStmt* s, Part result) {
  result.kind = PartKind::branch;
  facts_.around.push_back({s, 0});
  result.children.push_back(part(s->getThen(), false));
  const Expr* first = s->getCond()->IgnoreParenImpCasts();  // of a && b && c
  std::vector<const Expr*> more;
  for (const auto* both = dyn_cast<BinaryOperator>(first); both != nullptr && both->getOpcode() == BO_LAnd;
       both = dyn_cast<BinaryOperator>(first)) {
    more.push_back(both->getRHS());
    first = both->getLHS()->IgnoreParenImpCasts();
  }
  const auto* asked = dyn_cast<CallExpr>(first);
  if (const FunctionDecl* test = asked != nullptr ? asked->getDirectCallee() : nullptr;
      test != nullptr && test->getDeclName().isIdentifier() && test->getNameAsString().rfind(kGuard, 0) == 0 &&
      s->getElse() != nullptr) {
    // A transformed nest behind its guard: the guard reads addresses and numbers only, and the original loops in the
    // else branch stay on the host.
    facts_.around.pop_back();
    for (const Expr* argument : asked->arguments())
      if (dialect(argument->getType())) header_touches(argument, result.touches, result.anything);
    for (const Expr* test_of_sizes : more) header_touches(test_of_sizes, result.touches, result.anything);
    Part before;
    before.line = line(s->getElse());
    before.span = span(s->getElse()->getSourceRange());
    before.source = source(s->getElse());
    before.anything = true;
    result.children.push_back(std::move(before));
    return result;
  }
  facts_.around.back().next = 1;
  if (s->getElse() != nullptr) result.children.push_back(part(s->getElse(), false));
  facts_.around.pop_back();
  header_touches(s->getCond(), result.touches, result.anything);
  return result;
}

}  // namespace ridge::place::frontend

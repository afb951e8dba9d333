// Local arrays of a function: their declarations, and statements that reallocate or swap them.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const CXXMemberCallExpr* asks(const Expr* e, std::initializer_list<const char*> names) {  // a call such as v.size()
  const auto* m = dyn_cast<CXXMemberCallExpr>(e->IgnoreImplicit());
  const CXXMethodDecl* method = m != nullptr ? m->getMethodDecl() : nullptr;
  if (method == nullptr || !method->getDeclName().isIdentifier()) return nullptr;
  for (const char* name : names)
    if (method->getName() == name) return m;
  return nullptr;
}

// Element type of a std::vector of numbers; null for other types.
QualType element_of(QualType type) {
  const auto* made =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(type.getNonReferenceType()->getAsCXXRecordDecl());
  if (made == nullptr || class_of(type) != "std::vector" || made->getTemplateArgs().size() == 0) return {};
  const QualType element = made->getTemplateArgs()[0].getAsType();
  const bool number = element->isSpecificBuiltinType(BuiltinType::Float) ||
                      element->isSpecificBuiltinType(BuiltinType::Double) ||
                      (element->isIntegerType() && !element->isBooleanType() && !element->isEnumeralType());
  return number ? element : QualType();
}

bool is_zero(const Expr* e, const ASTContext& ast) {  // positive zero
  Expr::EvalResult value;
  if (e->isValueDependent() || !e->EvaluateAsRValue(value, ast)) return false;
  return value.Val.isFloat() ? value.Val.getFloat().isPosZero() : value.Val.isInt() && value.Val.getInt().isZero();
}

// True if every use is v[i], v.data(), v.size() or v.empty(), so that another array class can replace the std::vector.
bool elements_only(const VarDecl* var, const Stmt* body) {
  std::set<const Stmt*> known;
  bool all = true;
  visit(body, [&](const Stmt* s) {
    const Expr* object = nullptr;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(s); o != nullptr && o->getOperator() == OO_Subscript)
      object = o->getArg(0);
    else if (const auto* e = dyn_cast<Expr>(s); e != nullptr && isa<CXXMemberCallExpr>(e))
      if (const auto* m = asks(e, {"data", "size", "empty"})) object = m->getImplicitObjectArgument();
    if (object != nullptr) known.insert(object->IgnoreParenImpCasts());
    if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && ref->getDecl() == var)
      all = all && known.count(s) > 0;  // a parent is visited before its children
  });
  return all;
}

}  // namespace

// True if an expression uses numbers, addresses and lengths only: it writes nothing and reads no array element.
bool Reader::quiet(const Expr* e) const {
  bool all = true;
  visit(e, [&](const Stmt* s) {
    const auto* call = dyn_cast<CallExpr>(s);
    all = all && !isa<LambdaExpr, ArraySubscriptExpr, CXXNewExpr, StmtExpr>(s) &&
          (call == nullptr || asks(call, {"data", "size", "begin", "end", "cbegin", "cend"}) != nullptr);
    if (const auto* u = dyn_cast<UnaryOperator>(s))
      all = all && !u->isIncrementDecrementOp() && u->getOpcode() != UO_Deref;
    if (const auto* b = dyn_cast<BinaryOperator>(s)) all = all && !b->isAssignmentOp();
    if (const auto* ref = dyn_cast<DeclRefExpr>(s))
      all = all &&
            !(ref->getDecl()->getType()->isReferenceType() && dialect(ref->getDecl()->getType().getNonReferenceType()));
  });
  return all;
}

// Length or source range of std::vector<float> v(n), v(n, 0.0f), v(p, p + n), v(w.begin(), w.end()) or v(w), from which
// the device can create it. "" if the host must create it.
std::string Reader::birth(const VarDecl* var) const {
  const auto* made = var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  const QualType element = element_of(var->getType());
  if (made == nullptr || element.isNull() || var->isStaticLocal() || !elements_only(var, facts_.function->getBody()))
    return "";
  std::vector<const Expr*> arguments;
  for (const Expr* a : made->arguments()) {
    if (isa<CXXDefaultArgExpr>(a)) continue;
    if (!span(a->getSourceRange()).known || !quiet(a)) return "";
    arguments.push_back(a);
  }
  const auto text = [&](const Expr* a) { return original(a->getSourceRange()); };
  const auto same = [&](QualType type) {
    return !type.isNull() && !type.isVolatileQualified() &&
           type.getCanonicalType().getUnqualifiedType() == element.getCanonicalType().getUnqualifiedType();
  };
  const auto whole = [&](const Expr* object) -> std::string {  // range of another vector with the same element type
    const ValueDecl* decl = referred(object);
    if (decl == nullptr || !same(element_of(decl->getType()))) return "";
    const std::string name = text(object);
    return name + ".data(), " + name + ".data() + " + name + ".size()";
  };
  if (arguments.size() == 1 && arguments[0]->getType()->isIntegerType()) return text(arguments[0]);
  if (arguments.size() == 1) return whole(arguments[0]);
  if (arguments.size() != 2) return "";
  const Expr *first = arguments[0], *second = arguments[1];
  if (first->getType()->isIntegerType() && is_zero(second, ast_)) return text(first);
  if (first->getType()->isPointerType() && second->getType()->isPointerType() &&
      same(first->getType()->getPointeeType()) && same(second->getType()->getPointeeType()))
    return text(first) + ", " + text(second);
  const auto *from = asks(first, {"begin", "cbegin"}), *to = asks(second, {"end", "cend"});
  if (from != nullptr && to != nullptr && referred(from->getImplicitObjectArgument()) != nullptr &&
      referred(from->getImplicitObjectArgument()) == referred(to->getImplicitObjectArgument()))
    return whole(from->getImplicitObjectArgument());
  return "";
}

// Reads a declaration. True: it accesses no array but those it declares.
bool Reader::makes(const DeclStmt* d, Part& result) {
  if (d->isSingleDecl())
    if (const auto* var = dyn_cast<VarDecl>(d->getSingleDecl()); var != nullptr)
      if (const CXXRecordDecl* record = var->getType()->getAsCXXRecordDecl();
          record != nullptr && record->isLambda() && var->hasInit()) {
        const auto* written = dyn_cast<LambdaExpr>(var->getInit()->IgnoreImplicit());
        bool numbers = written != nullptr;  // false if it captures a copy of an array
        if (written != nullptr)
          for (const auto& capture : written->captures())
            numbers = numbers && capture.capturesVariable() && !capture.getCapturedVar()->isInitCapture() &&
                      (capture.getCaptureKind() == LCK_ByRef || capture.getCapturedVar()->getType()->isPointerType() ||
                       dialect(capture.getCapturedVar()->getType()) ||
                       is_view(capture.getCapturedVar()->getType()->getAsCXXRecordDecl()));
        if (numbers) {
          result.pure = true;  // the body runs where it is called
          return true;
        }
      }
  if (std::all_of(d->decl_begin(), d->decl_end(),
                  [&](const Decl* decl) { return isa<VarDecl>(decl) && makes_view(cast<VarDecl>(decl)); })) {
    result.pure = true;
    return true;
  }
  for (const Decl* decl : d->decls())
    if (const auto* var = dyn_cast<VarDecl>(decl);
        var != nullptr && !var->getType()->isReferenceType() && !var->getType()->isPointerType()) {
      Variable v;
      v.host = var->getNameAsString();
      if (dialect(var->getType())) continue;
      const CXXRecordDecl* record = var->getType()->getAsCXXRecordDecl();
      const bool known = shape(var->getType(), v) && !v.count.empty();
      if (known && (record == nullptr || record->getQualifiedNameAsString() != "std::span"))
        result.locals.push_back({v.host, v.data, v.count, v.host_element, birth(var)});
      else if (var->getType().isDestructedType() != QualType::DK_none || var->getType()->isArrayType() ||
               (record != nullptr && !is_view(record)))
        result.leaves = true;
    }
  // std::vector<float> v(n): allocates memory and reads numbers only.
  bool plain = result.kind == PartKind::statement;
  for (const Decl* decl : d->decls()) {
    const auto* var = dyn_cast<VarDecl>(decl);
    const Expr* init = var != nullptr && var->hasInit() ? var->getInit()->IgnoreImplicit() : nullptr;
    const auto* made = dyn_cast_or_null<CXXConstructExpr>(init);
    Variable v;
    if (var != nullptr) v.host = var->getNameAsString();
    if (var == nullptr || dialect(var->getType()) || var->getType()->isReferenceType() || !shape(var->getType(), v) ||
        v.storage == Storage::pointer) {
      plain = false;
      continue;
    }
    if (made == nullptr) {
      plain = plain && init == nullptr;
      continue;
    }
    for (const Expr* a : made->arguments())
      plain = plain && (isa<CXXDefaultArgExpr>(a) || dialect(a->getType().getNonReferenceType()));
  }
  if (plain) {
    bool reads = false;
    for (const Decl* decl : d->decls())
      if (const auto* var = cast<VarDecl>(decl); var->hasInit()) {
        const auto* made = dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit());
        for (unsigned a = 0; made != nullptr && a < made->getNumArgs(); ++a)
          reads |= !isa<CXXDefaultArgExpr>(made->getArg(a)) && !quiet(made->getArg(a));
      }
    if (!reads) {
      result.pure = true;
      return true;
    }
  }
  return false;
}

// Recognizes v.resize(n), v = w and swap(v, w), which access no other arrays.
void Reader::exchanges(const Expr* e, Part& result) {
  // v.resize(n), v = w: only these vectors are accessed, and memory may be reallocated.
  if (result.kind == PartKind::statement && result.anything) {
    const Expr* inner = e->IgnoreImplicit();
    const auto vector_of = [&](const Expr* x, Part::Local& into) {
      const ValueDecl* decl = referred(x);
      Variable v;
      if (decl == nullptr) return false;
      v.host = qualified_name(decl);
      const CXXRecordDecl* record = decl->getType().getNonReferenceType()->getAsCXXRecordDecl();
      if (record == nullptr || record->getQualifiedNameAsString() != "std::vector" || !shape(decl->getType(), v))
        return false;
      into = {v.host, v.data, v.count, v.host_element, "", false};
      return true;
    };
    Part::Local to, from;
    if (const auto* m = dyn_cast<CXXMemberCallExpr>(inner); m != nullptr && m->getMethodDecl() != nullptr &&
                                                            m->getMethodDecl()->getDeclName().isIdentifier() &&
                                                            vector_of(m->getImplicitObjectArgument(), to)) {
      static const std::set<std::string> own{"resize",    "assign",        "clear",   "reserve",
                                             "push_back", "shrink_to_fit", "pop_back"};
      const std::string name = m->getMethodDecl()->getNameAsString();
      bool numbers = own.count(name) > 0;
      to.dead = name == "assign" || name == "clear";
      for (const Expr* a : m->arguments()) {
        numbers = numbers && (isa<CXXDefaultArgExpr>(a) || dialect(a->getType().getNonReferenceType()));
        visit(a, [&](const Stmt* x) {
          const auto* ref = dyn_cast<DeclRefExpr>(x);
          const auto* unary = dyn_cast<UnaryOperator>(x);
          const auto* field = dyn_cast<MemberExpr>(x);
          const bool element = isa<CallExpr>(x) || isa<ArraySubscriptExpr>(x) ||
                               (unary != nullptr && unary->getOpcode() == UO_Deref) ||
                               (ref != nullptr && ref->getDecl()->getType()->isReferenceType()) ||
                               (field != nullptr && field->isArrow() && !isa<CXXThisExpr>(field->getBase()));
          numbers = numbers && !element;  // it may be one of any array
        });
      }
      if (numbers) {
        result.anything = false;
        result.touches.clear();
        result.moves.push_back(to);
      }
    } else if (const auto* o = dyn_cast<CXXOperatorCallExpr>(inner);
               o != nullptr && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && vector_of(o->getArg(0), to) &&
               vector_of(o->getArg(1), from)) {
      result.anything = false;
      result.touches.clear();
      result.touches.push_back({from.data, from.count, from.element, false});
      to.dead = true;
      result.moves.push_back(to);
    }
  }
  // swap(a, b) and a.swap(b) of whole arrays swap addresses, not elements.
  const auto* c = dyn_cast<CallExpr>(e->IgnoreImplicit());
  const FunctionDecl* callee = c != nullptr ? c->getDirectCallee() : nullptr;
  const auto* member = dyn_cast_or_null<CXXMemberCallExpr>(c);
  const std::string name = callee != nullptr ? callee->getQualifiedNameAsString() : "";
  if ((name == "std::swap" && c->getNumArgs() == 2) ||
      (name == "std::vector::swap" && member != nullptr && c->getNumArgs() == 1)) {
    const ValueDecl *a = referred(member != nullptr ? member->getImplicitObjectArgument() : c->getArg(0)),
                    *b = referred(c->getArg(member != nullptr ? 0 : 1));
    const auto whole = [](const ValueDecl* d) {
      if (d == nullptr) return false;
      const QualType type = d->getType().getNonReferenceType();
      const CXXRecordDecl* record = type->getAsCXXRecordDecl();
      const std::string kind = record != nullptr ? record->getQualifiedNameAsString() : "";
      return type->isPointerType() || kind == "std::vector" || kind == "std::unique_ptr";
    };
    if (whole(a) && whole(b)) {
      result.anything = false;
      result.pure = true;
    }
  }
}

// The only call of a function of this file in an expression, if it returns an image: m = f(a), f(a) < limit. Such a
// function ends with all data on the host, so the rest of the expression can use them.
const CallExpr* Reader::call_inside(const Expr* e) const {
  const CallExpr* found = nullptr;
  bool others = false;
  visit(e, [&](const Stmt* s) {
    others |= isa<LambdaExpr, AbstractConditionalOperator>(s);
    if (const auto* b = dyn_cast<BinaryOperator>(s)) others |= b->isLogicalOp();
    const auto* call = dyn_cast<CallExpr>(s);
    const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
    const FunctionDecl* body = nullptr;
    if (callee == nullptr || isa<CXXMethodDecl>(callee) || !callee->hasBody(body) ||
        !ast_.getSourceManager().isInMainFile(body->getLocation()))
      return;
    others |= found != nullptr || class_of(callee->getReturnType()) != "cv::Mat" ||
              callee->getReturnType()->isReferenceType();
    found = call;
  });
  return others ? nullptr : found;
}

namespace {

// True for v.back(), v.front(), v.at(i) and v[i] of a std::vector or std::array of objects, such as images: the call
// returns a reference and accesses no array.
bool is_object_in_container(const CallExpr* call) {
  const auto* member = dyn_cast<CXXMemberCallExpr>(call);
  const auto* subscript = dyn_cast<CXXOperatorCallExpr>(call);
  if (subscript != nullptr && subscript->getOperator() != OO_Subscript) return false;
  if (subscript == nullptr && asks(call, {"back", "front", "at"}) == nullptr) return false;
  const Expr* object = member != nullptr ? member->getImplicitObjectArgument() : call->getArg(0);
  const std::string container = class_of(object->getType());
  return (container == "std::vector" || container == "std::array") && call->getType()->isRecordType() &&
         call->isLValue();
}

// True if the arguments call no functions with effects.
bool quiet_arguments(const CallExpr* call, const FunctionDecl* body) {
  for (const Expr* argument : call->arguments()) {  // arguments must not call functions with effects
    if (isa<CXXDefaultArgExpr>(argument)) {         // the placed version has the default of the definition
      const auto at =
          static_cast<unsigned>(std::find(call->arg_begin(), call->arg_end(), argument) - call->arg_begin());
      if (!body->getParamDecl(at)->hasDefaultArg() || body->getParamDecl(at)->hasInheritedDefaultArg()) return false;
      continue;
    }
    bool hidden = false;
    visit(argument, [&](const Stmt* x) { hidden |= isa<LambdaExpr>(x) || isa<CallExpr>(x); });
    if (hidden) {
      bool harmless = true;
      visit(argument, [&](const Stmt* x) {
        if (isa<LambdaExpr>(x)) harmless = false;
        if (const auto* c = dyn_cast<CallExpr>(x)) {
          const auto* m = dyn_cast<CXXMemberCallExpr>(c);
          const std::string name =
              m != nullptr && m->getMethodDecl() != nullptr && m->getMethodDecl()->getDeclName().isIdentifier()
                  ? m->getMethodDecl()->getNameAsString()
                  : "";
          harmless = harmless && (name == "size" || name == "data" || is_object_in_container(c));
        }
      });
      if (!harmless) return false;
    }
  }
  return true;
}

}  // namespace

// Recognizes f(a, b); and x = f(a, b); for a function of this file.
std::optional<Part> Reader::placeable_call(const Stmt* s) {
  const Stmt* at = s;
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && d->isSingleDecl())
    if (const auto* var = dyn_cast<VarDecl>(d->getSingleDecl()); var != nullptr && var->hasInit()) at = var->getInit();
  if (const auto* r = dyn_cast<ReturnStmt>(s); r != nullptr && r->getRetValue() != nullptr) at = r->getRetValue();
  const auto* e = dyn_cast<Expr>(at);
  if (e == nullptr) return {};
  const Expr* inner = e->IgnoreImplicit()->IgnoreParens();
  if (const auto* b = dyn_cast<BinaryOperator>(inner); b != nullptr && b->getOpcode() == BO_Assign &&
                                                       referred(b->getLHS()) != nullptr &&
                                                       !facts_.reachable(referred(b->getLHS())))
    inner = b->getRHS()->IgnoreImplicit();
  const auto* call = dyn_cast<CallExpr>(inner);
  if (call != nullptr && (members.lift_call(call) || (e == s && members.lift_parallel_for(call))))
    return {};  // the text has changed and is read again
  const bool alone = call != nullptr && !isa<CXXMemberCallExpr>(call) && !isa<CXXOperatorCallExpr>(call);
  if (!alone) call = call_inside(e);
  if (call == nullptr) return {};
  const FunctionDecl* callee = call->getDirectCallee();
  const FunctionDecl* body = nullptr;
  if (callee != nullptr && callee->isTemplateInstantiation()) return members.template_call(call, callee), std::nullopt;
  if (callee == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee)) return {};
  if (ast_.getSourceManager().isInSystemHeader(body->getLocation()) ||
      !ast_.getSourceManager().isInMainFile(body->getLocation()))
    return {};
  const auto named = [](const DeclContext* c) {
    c = c->getRedeclContext();
    while (const auto* n = dyn_cast<NamespaceDecl>(c)) {
      if (!n->isAnonymousNamespace() && !n->isInline()) break;
      c = c->getParent()->getRedeclContext();
    }
    return c;
  };
  if (named(body->getDeclContext()) != named(facts_.function->getDeclContext())) return {};
  if (!quiet_arguments(call, body)) return {};
  Part result;
  result.kind = PartKind::call;
  result.callee = callee->getNameAsString();
  result.arguments_touch_anything = !alone;
  result.callee_name = span(call->getCallee()->getSourceRange());
  if (!result.callee_name.known) return {};
  for (const Expr* argument : call->arguments()) {  // v.data(): the session records the size of the vector
    const auto* m = dyn_cast<CXXMemberCallExpr>(argument->IgnoreImplicit());
    if (m == nullptr || m->getMethodDecl() == nullptr || m->getMethodDecl()->getNameAsString() != "data") continue;
    const CXXRecordDecl* record = m->getRecordDecl();
    if (record == nullptr || record->getQualifiedNameAsString() != "std::vector") continue;
    const std::string text = original(argument->getSourceRange());
    const auto word = text.rfind("data");
    if (word != std::string::npos) result.knows.emplace_back(text, text.substr(0, word) + "size()");
  }
  for (unsigned i = 0; i < call->getNumArgs() && i < callee->getNumParams(); ++i) {
    const QualType type = callee->getParamDecl(i)->getType();
    if (isa<CXXDefaultArgExpr>(call->getArg(i))) continue;
    if (dialect(type))
      header_touches(call->getArg(i), result.argument_touches, result.arguments_touch_anything);
    else if (!type->isReferenceType() && !type->isPointerType())
      result.arguments_touch_anything |=
          referred(call->getArg(i)) == nullptr || facts_.reachable(referred(call->getArg(i)));
  }
  called_->insert(body);
  return result;
}

// True for View v{p, h, w}, which accesses no array.
bool Reader::makes_view(const VarDecl* var) const {
  if (!is_view(var->getType()->getAsCXXRecordDecl()) || !var->hasLocalStorage() ||
      (var->hasInit() && !quiet(var->getInit())))
    return false;
  bool plain = true;
  visit(var->getInit(), [&](const Stmt* s) {
    const auto* made = dyn_cast<CXXConstructExpr>(s);
    if (made == nullptr || made->getConstructor()->isTrivial()) return;
    const FunctionDecl* body = nullptr;
    const auto* block = made->getConstructor()->hasBody(body) ? dyn_cast<CompoundStmt>(body->getBody()) : nullptr;
    plain = plain && block != nullptr && block->body_empty();
    if (block != nullptr)
      for (const CXXCtorInitializer* i : cast<CXXConstructorDecl>(body)->inits()) plain = plain && quiet(i->getInit());
  });
  return plain;
}

}  // namespace ridge::place::frontend

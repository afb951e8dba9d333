// Member functions with loops become free functions in changed text that is read again: the fields that they use are
// parameters. Calls of them, and cv::parallel_for_ over an object with operator(), become calls of these functions.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const CXXMethodDecl* defined(const CXXMethodDecl* method) {
  const FunctionDecl* body = nullptr;
  return method != nullptr && method->hasBody(body) ? dyn_cast<CXXMethodDecl>(body) : nullptr;
}

bool has_word(const std::string& text, const std::string& word) {
  const auto part = [&](std::size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_');
  };
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !part(at - 1)) && !part(at + word.size())) return true;
  return false;
}

// The member function that is called, its object and its arguments.
struct MemberCall {
  const CXXMethodDecl* method = nullptr;
  const Expr* object = nullptr;
  std::vector<const Expr*> arguments{};
};

MemberCall member_call(const CallExpr* call) {
  MemberCall found;
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
  if (method == nullptr || method->isStatic()) return found;
  found.arguments.assign(call->arg_begin(), call->arg_end());
  if (const auto* m = dyn_cast<CXXMemberCallExpr>(call)) {
    found.object = m->getImplicitObjectArgument();
  } else if (isa<CXXOperatorCallExpr>(call) && !found.arguments.empty()) {
    found.object = found.arguments[0];
    found.arguments.erase(found.arguments.begin());
  }
  if (found.object != nullptr) found.method = defined(method);
  return found;
}

// True if evaluating the expression twice gives the same value and has no effects.
bool repeatable(const Expr* e) {
  bool quiet = true;
  visit(e, [&](const Stmt* s) {
    quiet = quiet && !isa<CallExpr, LambdaExpr, CXXNewExpr, CXXConstructExpr>(s);
    if (const auto* u = dyn_cast<UnaryOperator>(s)) quiet = quiet && !u->isIncrementDecrementOp();
    if (const auto* b = dyn_cast<BinaryOperator>(s)) quiet = quiet && !b->isAssignmentOp();
  });
  return quiet;
}

}  // namespace

// Writes the text of one member function as a free function.
class Members::Lifter {
 public:
  Lifter(Members& members, const CXXMethodDecl* method) : r_(members), m_(method) {}

  Lifted run() {
    try {
      write();
    } catch (const Refused& no) {
      result_ = {};
      result_.why = no.what;
    }
    return result_;
  }

 private:
  using Names = std::map<const ValueDecl*, std::string>;

  [[noreturn]] void refuse(const std::string& what) const { throw Refused{0, "", what}; }

  void write() {
    const CXXRecordDecl* record = m_->getParent();
    if (isa<CXXConstructorDecl, CXXDestructorDecl, CXXConversionDecl>(m_))
      refuse("constructors, destructors and conversions are not supported");
    if (m_->isVariadic() || m_->isConstexpr() || m_->isFunctionTemplateSpecialization() || record->isLambda())
      refuse("constexpr, variadic and template member functions are not supported");
    if (!record->getDeclContext()->getRedeclContext()->isFileContext() || record->isUnion())
      refuse("member functions of nested and local classes are not supported");
    const Span inside = r_.span(m_->getBody()->getSourceRange());
    if (!inside.known) refuse("its text is in a macro or in another file");
    visit(m_->getBody(), [&](const Stmt* s) {
      if (const auto* d = dyn_cast<DeclStmt>(s))
        for (const Decl* one : d->decls())
          if (const auto* named = dyn_cast<NamedDecl>(one)) locals_.insert(named->getNameAsString());
    });
    std::string formals, prologue;
    for (const ParmVarDecl* p : m_->parameters()) locals_.insert(p->getNameAsString());
    const std::string text = rewritten(m_->getBody(), {inside.begin + 1, inside.end, true}, {});
    name_and_types(text, prologue);
    for (Lifted::Field& f : result_.fields) formals += (formals.empty() ? "" : ", ") + formal(f);
    for (const ParmVarDecl* p : m_->parameters()) {
      if (p->getNameAsString().empty()) continue;
      if (p->getType()->isRValueReferenceType()) refuse("rvalue references are not supported");
      formals += (formals.empty() ? "" : ", ") + declared(p->getType(), p->getNameAsString());
    }
    result_.head = "static " + type_text(m_->getReturnType()) + " " + result_.name + "(" + formals + ")";
    result_.known = " {\n" + prologue;
    result_.body = text;
  }

  // Types of a class template are written without its parameters.
  QualType plain(QualType type) const {
    return isa<ClassTemplateSpecializationDecl>(m_->getParent()) || type->getContainedAutoType() != nullptr
               ? type.getCanonicalType()
               : type;
  }
  std::string type_text(QualType type) const { return r_.type_text(plain(type)); }
  std::string declared(QualType type, const std::string& name) const {
    PrintingPolicy policy(r_.ast_.getLangOpts());
    policy.SuppressTagKeyword = true;
    policy.Bool = true;
    std::string text = name;
    plain(type).getAsStringInternal(text, policy);
    return text;
  }

  // Objects are passed by reference, and so are numbers and pointers that may change through another name.
  std::string formal(const Lifted::Field& f) const {
    QualType type = f.type;
    const auto number = r_.dialect(type);
    if (number && !f.changed) type = type.withConst();
    const bool value = (type->isPointerType() || (number && result_.stored.count(width(*number)) == 0)) && !f.changed &&
                       !result_.calls;
    return declared(value ? type.getUnqualifiedType() : r_.ast_.getLValueReferenceType(type), f.name);
  }

  void name_and_types(const std::string& text, std::string& prologue) {
    const CXXRecordDecl* record = m_->getParent();
    result_.name = record->getNameAsString() + "_" +
                   (m_->getOverloadedOperator() == OO_Call ? "call"
                    : m_->isOverloadedOperator()           ? "operator"
                                                           : m_->getNameAsString());
    if (const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(record)) {
      std::string name = result_.name;
      const ClassTemplateDecl* from = made->getSpecializedTemplate();
      if (!r_.template_names(from->getTemplateParameters(), made->getTemplateArgs(), prologue, name))
        refuse("a template with these arguments is not supported");
      if (std::distance(from->spec_begin(), from->spec_end()) > 1) result_.name = name;
    }
    for (const Decl* d : record->decls())
      if (const auto* type = dyn_cast<TypeDecl>(d);
          type != nullptr && !d->isImplicit() && has_word(text, type->getNameAsString()))
        prologue += "  using " + type->getNameAsString() + " = " +
                    r_.type_text(r_.ast_.getTypeDeclType(type).getCanonicalType()) + ";\n";
    std::set<std::string> used;
    for (const auto& [other, known] : r_.lifted_) used.insert(known.name);
    while (used.count(result_.name) > 0 || r_.main_text_.find(result_.name + "(") != std::string::npos)
      result_.name += "_";
  }

  std::string name_of(const FieldDecl* field, QualType type, bool changed) {
    for (Lifted::Field& f : result_.fields)
      if (f.decl == field) {
        f.changed |= changed;
        if (!type.isConstQualified()) f.type = type;
        return f.name;
      }
    std::string name = field->getNameAsString();
    if (name.empty() || field->isBitField()) refuse("bit fields and fields without a name are not supported");
    while (locals_.count(name) > 0) name += "_of_this";
    locals_.insert(name);
    result_.fields.push_back({field, name, type, changed});
    return name;
  }

  // Text of a piece of the file with the fields and the calls of other member functions replaced.
  std::string rewritten(const Stmt* s, const Span& at, const Names& names) {
    if (!at.known) refuse("a macro contains part of a member function");
    std::vector<Edit> edits;
    look(s, false, names, edits);
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string text;
    unsigned from = at.begin;
    for (const Edit& e : edits) {
      if (e.begin < from || e.end > at.end) refuse("a macro contains part of a member function");
      text += r_.main_text_.substr(from, e.begin - from) + e.text;
      from = e.end;
    }
    return text + r_.main_text_.substr(from, at.end - from);
  }

  void replace(const Stmt* s, const std::string& text, std::vector<Edit>& edits) const {
    const Span at = r_.span(s->getSourceRange());
    if (!at.known) refuse("a macro contains part of a member function");
    edits.push_back({at.begin, at.end, text, {}});
  }

  void look(const Stmt* s, bool value, const Names& names, std::vector<Edit>& edits) {
    if (s == nullptr) return;
    if (const auto* call = dyn_cast<CallExpr>(s); call != nullptr && own_call(call, names, edits)) return;
    if (const auto* member = dyn_cast<MemberExpr>(s); member != nullptr && is_this(member->getBase())) {
      const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
      if (field == nullptr) return qualify(member, member->getMemberDecl(), edits);
      const QualType type =
          field->getType()->isReferenceType() ? field->getType().getNonReferenceType() : member->getType();
      const std::string name = name_of(field, type, !value);
      if (!member->isImplicitAccess() || name != field->getNameAsString()) replace(member, name, edits);
      return;
    }
    if (isa<CXXThisExpr>(s)) refuse("the object itself is used, not only its fields");
    if (const auto* l = dyn_cast<LambdaExpr>(s))
      for (const auto& capture : l->captures())
        if (capture.capturesThis() && (capture.isExplicit() || l->getCaptureDefault() != LCD_ByRef))
          refuse("a lambda captures the object");
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
      if (const auto at = names.find(ref->getDecl()); at != names.end()) return replace(ref, at->second, edits);
      if (ref->getQualifier() == nullptr && isa<CXXRecordDecl>(ref->getDecl()->getDeclContext()) &&
          (isa<VarDecl, EnumConstantDecl>(ref->getDecl()) ||
           (isa<CXXMethodDecl>(ref->getDecl()) && cast<CXXMethodDecl>(ref->getDecl())->isStatic())))
        return qualify(ref, ref->getDecl(), edits);
    }
    const auto* read = dyn_cast<ImplicitCastExpr>(s);
    const bool reads = (read != nullptr && read->getCastKind() == CK_LValueToRValue) || (value && isa<ParenExpr>(s));
    if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) stores(b->getLHS());
    if (const auto* u = dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
      stores(u->getSubExpr());
    if (const auto* l = dyn_cast<LambdaExpr>(s)) return look(l->getBody(), false, names, edits);
    for (const Stmt* child : s->children()) look(child, reads, names, edits);
  }

  // By C++'s aliasing rules, a number changes only if one of its size and kind is stored, or a byte.
  static int width(const Dialect& d) { return d.integer ? d.bytes : -d.bytes; }
  void stores(QualType type) {
    auto all = r_.leaf_types(type);
    if (r_.dialect(type)) all = {type};
    for (const QualType one : all) {
      const auto number = r_.dialect(one);
      result_.calls |= !number || number->bytes == 1;
      if (number) result_.stored.insert(width(*number));
    }
    result_.calls |= type->isPointerType();
  }
  void stores(const Expr* to) {
    const auto* ref = dyn_cast<DeclRefExpr>(to->IgnoreParens());
    if (ref == nullptr || ref->getDecl()->getType()->isReferenceType()) stores(to->getType());
  }

  // A static member or a constant of the class: by its value, or with the name of the class.
  void qualify(const Expr* e, const ValueDecl* decl, std::vector<Edit>& edits) const {
    Expr::EvalResult known;
    if (r_.dialect(e->getType()) && e->getType()->isIntegralOrEnumerationType() && !e->isValueDependent() &&
        e->EvaluateAsInt(known, r_.ast_)) {
      llvm::SmallString<32> digits;
      known.Val.getInt().toString(digits, 10);
      const std::string type = type_text(e->getType().getUnqualifiedType()), number = digits.str().str();
      return replace(e, type == "int" ? wrapped(number) : "static_cast<" + type + ">(" + number + ")", edits);
    }
    if (decl->getAccess() != AS_public) refuse(decl->getNameAsString() + " is a private static member");
    replace(e, decl->getQualifiedNameAsString(), edits);
  }

  // A call of another member function of the same object.
  bool own_call(const CallExpr* call, const Names& names, std::vector<Edit>& edits) {
    const MemberCall found = member_call(call);
    if (found.object == nullptr || !is_this(found.object)) {
      const FunctionDecl* callee = call->getDirectCallee();
      const std::string name = callee != nullptr ? callee->getQualifiedNameAsString() : "";
      result_.calls |= name.rfind("std::", 0) != 0 && name.rfind("cv::", 0) != 0 &&
                       (callee == nullptr || !r_.ast_.getSourceManager().isInSystemHeader(callee->getLocation()));
      if (const auto* o = dyn_cast<CXXOperatorCallExpr>(call); o != nullptr && o->isAssignmentOp())
        stores(o->getArg(0)->getType());
      for (const ParmVarDecl* p : callee != nullptr ? callee->parameters() : ArrayRef<ParmVarDecl*>())
        if (const QualType to = p->getType()->getPointeeType(); !to.isNull() && !to.isConstQualified()) stores(to);
      return false;
    }
    if (found.method == nullptr) refuse("a member function is called whose body is in another file");
    if (found.method->isVirtual() && !found.method->hasAttr<FinalAttr>() &&
        !found.method->getParent()->hasAttr<FinalAttr>())
      refuse("the virtual member function " + found.method->getNameAsString() + " is called");
    std::vector<std::string> arguments;
    for (const Expr* a : found.arguments) {
      if (isa<CXXDefaultArgExpr>(a)) refuse("a default argument of a member function is used");
      arguments.push_back(rewritten(a, r_.span(a->getSourceRange()), names));
    }
    if (inlined(call, found, arguments, edits)) return true;
    const Lifted& other = r_.lifted(found.method);
    if (!other.why.empty()) refuse(found.method->getNameAsString() + "() is called: " + other.why);
    std::string list;
    for (const Lifted::Field& f : other.fields) list += (list.empty() ? "" : ", ") + name_of(f.decl, f.type, f.changed);
    result_.calls |= other.calls;
    result_.stored.insert(other.stored.begin(), other.stored.end());
    for (std::size_t k = 0; k < arguments.size(); ++k)
      if (!found.method->getParamDecl(static_cast<unsigned>(k))->getNameAsString().empty())
        list += (list.empty() ? "" : ", ") + arguments[k];
    replace(call, other.name + "(" + list + ")", edits);
    return true;
  }

  // A function that only returns a value is written as that value.
  bool inlined(const CallExpr* call, const MemberCall& found, const std::vector<std::string>& arguments,
               std::vector<Edit>& edits) {
    const Expr* value = named_by(found.method);
    if (value == nullptr || depth_ > 8) return false;
    Names names;
    for (unsigned k = 0; k < arguments.size(); ++k) {
      const ParmVarDecl* p = found.method->getParamDecl(k);
      if (!repeatable(found.arguments[k])) return false;
      const QualType type = p->getType().getNonReferenceType().getCanonicalType().getUnqualifiedType();
      const bool same =
          type == found.arguments[k]->IgnoreParenImpCasts()->getType().getCanonicalType().getUnqualifiedType();
      if (!same && (!r_.dialect(type) || p->getType()->isReferenceType())) return false;
      names[p] = same ? wrapped(arguments[k]) : "static_cast<" + type_text(type) + ">(" + arguments[k] + ")";
    }
    ++depth_;
    std::string text = "(" + rewritten(value, r_.span(value->getSourceRange()), names) + ")";
    --depth_;
    const QualType type = found.method->getReturnType();
    if (!type->isReferenceType() && r_.dialect(type) &&
        type.getCanonicalType() != value->IgnoreParenImpCasts()->getType().getCanonicalType().getUnqualifiedType())
      text = "static_cast<" + type_text(type.getUnqualifiedType()) + ">" + text;
    replace(call, text, edits);
    return true;
  }

  Members& r_;
  const CXXMethodDecl* m_;
  Lifted result_{};
  std::set<std::string> locals_{};
  int depth_ = 0;
};

// True if it, or a member function that it calls for the same object, contains a loop.
bool loops_in(const CXXMethodDecl* method) {
  bool found = false;
  visit(method->getBody(), [&](const Stmt* s) {
    found |= is_loop(s);
    const auto* call = dyn_cast<CallExpr>(s);
    const MemberCall other = call != nullptr ? member_call(call) : MemberCall{};
    if (other.method != nullptr && is_this(other.object))
      visit(other.method->getBody(), [&](const Stmt* x) { found |= is_loop(x); });
  });
  return found;
}

const Members::Lifted& Members::lifted(const CXXMethodDecl* method) {
  if (const auto at = lifted_.find(method); at != lifted_.end()) return at->second;
  lifted_[method].why = "it calls itself";
  Lifted made = Lifter(*this, method).run();
  const CXXMethodDecl* written = method;  // its text: for a class template, that of the template
  if (const auto* pattern = dyn_cast_or_null<CXXMethodDecl>(method->getTemplateInstantiationPattern()))
    written = pattern;
  const CXXRecordDecl* record = written->getParent();
  const ClassTemplateDecl* of = record->getDescribedClassTemplate();
  Span around = span(of != nullptr ? of->getSourceRange() : record->getDefinition()->getSourceRange());
  Span after = around;
  if (written->isOutOfLine()) {
    const bool lists = written->getNumTemplateParameterLists() > 0;
    around = span({lists ? written->getTemplateParameterList(0)->getTemplateLoc() : written->getOuterLocStart(),
                   written->getEndLoc()});
    after.end = around.begin;
  } else if (after.known) {
    while (after.end < main_text_.size() && std::isspace(static_cast<unsigned char>(main_text_[after.end])) != 0)
      ++after.end;
    if (after.end < main_text_.size() && main_text_[after.end] == ';')
      ++after.end;
    else
      after.known = false;
  }
  if (made.why.empty() && (!around.known || !after.known)) made.why = "its class is in a macro or in another file";
  if (made.why.empty()) {
    const int first = line(method->getBody()->getBeginLoc());
    std::vector<int> lines(2 + static_cast<std::size_t>(std::count(made.known.begin(), made.known.end(), '\n')), first);
    const auto more = std::count(made.body.begin(), made.body.end(), '\n');
    for (long k = 1; k <= more + 1; ++k) lines.push_back(first + static_cast<int>(k));
    if (!written->isOutOfLine()) rewrites.push_back({around.begin, around.begin, made.head + ";\n", {}});
    rewrites.push_back({after.end, after.end, "\n" + made.head + made.known + made.body + "\n", lines});
  }
  return lifted_[method] = made;
}

// Replaces the body of the member function by a call of the free function.
std::string Members::lift(const CXXMethodDecl* method) {
  const Lifted& made = lifted(method);
  if (!made.why.empty()) return made.why;
  std::string list;
  const auto add = [&](const std::string& one) { list += (list.empty() ? "" : ", ") + one; };
  for (const Lifted::Field& f : made.fields) add("this->" + f.decl->getNameAsString());
  for (const ParmVarDecl* p : method->parameters())
    if (!p->getNameAsString().empty()) add(p->getNameAsString());
  const Span inside = span(method->getBody()->getSourceRange());
  const std::string forward = "return " + made.name + "(" + list + ");";
  if (const auto* one = dyn_cast<ClassTemplateSpecializationDecl>(method->getParent())) {
    const std::string name = one->getNameAsString();
    rewrites.push_back({inside.begin + 1,
                        inside.begin + 1,
                        " if constexpr (__is_same(" + name + ", " +
                            type_text(ast_.getRecordType(one).getCanonicalType()) + ")) " + forward + " else {",
                        {}});
    rewrites.push_back({inside.end - 1, inside.end - 1, "} ", {}});
  } else {
    rewrites.push_back({inside.begin, inside.end, "{ " + forward + " }", {}});
  }
  std::string space = method->getQualifiedNameAsString();
  const std::string own = method->getParent()->getNameAsString() + "::" + method->getNameAsString();
  renamed[space] = space.substr(0, space.size() - std::min(space.size(), own.size())) + made.name;
  return "";
}

// object.function(arguments) becomes a call of the free function, if the fields are public.
bool Members::lift_call(const CallExpr* call) {
  const MemberCall found = member_call(call);
  if (found.method == nullptr || !loops_in(found.method)) return false;
  const Expr* object = found.object->IgnoreParenImpCasts();
  const auto* ref = dyn_cast<DeclRefExpr>(object);
  const Span at = span(call->getSourceRange());
  if (ref == nullptr || !at.known) return false;
  const QualType type = ref->getType();
  if (found.method->isVirtual() && (type->isPointerType() || ref->getDecl()->getType()->isReferenceType()))
    return false;
  const Lifted& made = lifted(found.method);
  if (!made.why.empty()) return false;
  std::string list;
  const auto add = [&](const std::string& one) { list += (list.empty() ? "" : ", ") + one; };
  for (const Lifted::Field& f : made.fields) {
    if (f.decl->getAccess() != AS_public && f.decl->getAccess() != AS_none) return false;
    add(ref->getDecl()->getNameAsString() + (type->isPointerType() ? "->" : ".") + f.decl->getNameAsString());
  }
  for (std::size_t k = 0; k < found.arguments.size(); ++k) {
    if (isa<CXXDefaultArgExpr>(found.arguments[k])) return false;
    if (!found.method->getParamDecl(static_cast<unsigned>(k))->getNameAsString().empty())
      add(original(found.arguments[k]->getSourceRange()));
  }
  rewrites.push_back({at.begin, at.end, made.name + "(" + list + ")", {}});
  return true;
}

namespace {

// Argument of the constructor call that initializes the field; null if the field is something else.
const Expr* given_to(const CXXConstructExpr* made, const FieldDecl* field) {
  const FunctionDecl* body = nullptr;
  if (!made->getConstructor()->hasBody(body)) return nullptr;
  for (const CXXCtorInitializer* init : cast<CXXConstructorDecl>(body)->inits()) {
    if (init->getAnyMember() == nullptr || init->getAnyMember()->getDeclName() != field->getDeclName()) continue;
    const Expr* value = init->getInit()->IgnoreParenImpCasts();
    if (const auto* copy = dyn_cast<CXXConstructExpr>(value); copy != nullptr && copy->getNumArgs() == 1)
      value = copy->getArg(0)->IgnoreParenImpCasts();
    const auto* ref = dyn_cast<DeclRefExpr>(value);
    const auto* p = ref != nullptr ? dyn_cast<ParmVarDecl>(ref->getDecl()) : nullptr;
    if (p == nullptr || p->getFunctionScopeIndex() >= made->getNumArgs()) return nullptr;
    const Expr* argument = made->getArg(p->getFunctionScopeIndex());
    return isa<CXXDefaultArgExpr>(argument) ? nullptr : argument;
  }
  return nullptr;
}

bool does_nothing(const CXXConstructExpr* made) {
  const FunctionDecl* body = nullptr;
  return made->getConstructor()->hasBody(body) && [&] {
    bool quiet = true;
    visit(body->getBody(), [&](const Stmt* s) {
      quiet = quiet && !isa<CallExpr, CXXNewExpr, CXXThrowExpr>(s);
      if (const auto* b = dyn_cast<BinaryOperator>(s)) quiet = quiet && !b->isAssignmentOp();
      if (const auto* u = dyn_cast<UnaryOperator>(s)) quiet = quiet && !u->isIncrementDecrementOp();
    });
    return quiet;
  }();
}

}  // namespace

// cv::parallel_for_(range, [&](const cv::Range& r) { ... }): the body, with the whole range.
bool Members::write_body(const CallExpr* call, const LambdaExpr* l) {
  const Span at = span(call->getSourceRange()), inside = span(l->getBody()->getSourceRange()),
             over = span(call->getArg(0)->getSourceRange());
  const CXXMethodDecl* method = l->getCallOperator();
  bool loops = false, returns = l->isMutable() || l->isGenericLambda();
  visit(l->getBody(), [&](const Stmt* s) {
    loops |= is_loop(s);
    returns |= isa<ReturnStmt, LambdaExpr>(s);
  });
  for (const auto& capture : l->captures())
    returns |= !capture.capturesVariable() || cast<VarDecl>(capture.getCapturedVar())->isInitCapture();
  if (!loops || returns || !at.known || !inside.known || !over.known || method->getNumParams() != 1) return false;
  const std::string name = method->getParamDecl(0)->getNameAsString();
  if (name.empty() || class_of(method->getParamDecl(0)->getType()) != "cv::Range") return false;
  rewrites.push_back({at.begin,
                      inside.begin + 1,
                      "{ const cv::Range " + name + " = " + main_text_.substr(over.begin, over.end - over.begin) +
                          "; if (" + name + ".start < " + name + ".end) {",
                      {}});
  rewrites.push_back({inside.end - 1, at.end, "} }", {}});
  return true;
}

// cv::parallel_for_(range, Body(arguments)): OpenCV may call the object once with the whole range.
bool Members::lift_parallel_for(const CallExpr* call) {
  const FunctionDecl* callee = call->getDirectCallee();
  if (callee == nullptr || callee->getQualifiedNameAsString() != "cv::parallel_for_" || call->getNumArgs() < 2)
    return false;
  const Span at = span(call->getSourceRange());
  const Expr* object = call->getArg(1)->IgnoreUnlessSpelledInSource();
  if (const auto* l = dyn_cast<LambdaExpr>(object)) return write_body(call, l);
  const auto* made = dyn_cast<CXXConstructExpr>(object);
  const auto* range = dyn_cast<DeclRefExpr>(call->getArg(0)->IgnoreUnlessSpelledInSource());
  const CXXRecordDecl* record = object->getType()->getAsCXXRecordDecl();
  if (!at.known || made == nullptr || range == nullptr || record == nullptr || !does_nothing(made)) return false;
  const CXXMethodDecl* method = nullptr;
  for (const CXXMethodDecl* one : record->methods())
    if (one->getOverloadedOperator() == OO_Call && one->isVirtual()) method = defined(one);
  if (method == nullptr || method->getNumParams() != 1 || method->getParamDecl(0)->getNameAsString().empty())
    return false;
  const Lifted& body = lifted(method);
  if (!body.why.empty()) return false;
  std::string list;
  for (const Lifted::Field& f : body.fields) {
    const Expr* argument = given_to(made, f.decl);
    const QualType type = f.decl->getType();
    if (argument == nullptr) return false;
    std::string text = original(argument->getSourceRange());
    if (!type->isReferenceType()) {
      if (!type->isPointerType() && !dialect(type) && class_of(type) != "cv::Mat") return false;
      if (dialect(type) && argument->IgnoreParenImpCasts()->getType().getCanonicalType().getUnqualifiedType() !=
                               type.getCanonicalType().getUnqualifiedType())
        text = "static_cast<" + type_text(type.getUnqualifiedType()) + ">(" + text + ")";
    }
    list += text + ", ";
  }
  const std::string over = range->getDecl()->getNameAsString();
  rewrites.push_back(
      {at.begin, at.end, "if (" + over + ".start < " + over + ".end) " + body.name + "(" + list + over + ")", {}});
  return true;
}

// Declares the template's parameters with their values, as text, and appends the values to `name`.
bool Members::template_names(const TemplateParameterList* parameters, const TemplateArgumentList& arguments,
                             std::string& known, std::string& name) const {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const TemplateArgument& a = arguments.get(i);
    const std::string formal = parameters->getParam(i)->getNameAsString();
    std::string value;
    if (a.getKind() == TemplateArgument::Type) {
      value = type_text(a.getAsType());
      if (!formal.empty()) known += "  using " + formal + " = " + value + ";\n";
    } else if (a.getKind() == TemplateArgument::Integral) {
      llvm::SmallString<32> digits;
      a.getAsIntegral().toString(digits, 10);
      value = digits.str().str();
      if (!formal.empty())
        known += "  constexpr " + type_text(a.getIntegralType()) + " " + formal + " = " + value + ";\n";
    } else {
      return false;
    }
    name += "_" + value;
  }
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return true;
}

void Members::template_call(const CallExpr* call, const FunctionDecl* callee) {
  const FunctionTemplateDecl* from = callee->getPrimaryTemplate();
  const TemplateArgumentList* arguments = callee->getTemplateSpecializationArgs();
  const FunctionDecl* body = nullptr;
  if (from == nullptr || arguments == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee)) return;
  bool loops = false;
  visit(body->getBody(), [&](const Stmt* s) { loops |= is_loop(s); });
  const Span whole = span(from->getTemplatedDecl()->getSourceRange()), inside = span(body->getBody()->getSourceRange());
  TemplateCall made;
  made.name = span(call->getCallee()->getSourceRange());
  if (!loops || !whole.known || !inside.known || !made.name.known) return;
  std::string known, formals;
  made.function = callee->getNameAsString();
  if (!template_names(from->getTemplateParameters(), *arguments, known, made.function)) return;
  while (main_text_.find(made.function + "(") != std::string::npos) made.function += "_";
  for (const ParmVarDecl* p : body->parameters()) {
    const QualType type = p->getType();
    if (type->isFunctionPointerType() || type.getNonReferenceType()->isArrayType()) return;
    formals += (formals.empty() ? "" : ", ") + type_text(type) + " " + p->getNameAsString();
  }
  const std::string text = main_text_.substr(inside.begin + 1, inside.end - inside.begin - 1);
  made.at = whole.end;
  made.text =
      "\n\nstatic " + type_text(body->getReturnType()) + " " + made.function + "(" + formals + ") {\n" + known + text;
  const int first = line(body->getBody()->getBeginLoc());
  made.lines.assign(3 + static_cast<std::size_t>(std::count(known.begin(), known.end(), '\n')), first);
  const auto more = std::count(text.begin(), text.end(), '\n');
  for (long k = 0; k <= more; ++k) made.lines.push_back(first + static_cast<int>(k));
  template_calls.push_back(made);
}

}  // namespace ridge::place::frontend

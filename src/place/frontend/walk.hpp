// Traversal of Clang's statements, shared by the files of the reader.
#pragma once
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

namespace ridge::place::frontend {

// True if a break or continue in it belongs to an enclosing statement.
inline bool jumps_out(const clang::Stmt* s) {
  if (s == nullptr ||
      llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt, clang::LambdaExpr>(s))
    return false;
  if (llvm::isa<clang::BreakStmt, clang::ContinueStmt>(s)) return true;
  for (const clang::Stmt* child : s->children())
    if (jumps_out(child)) return true;
  return false;
}

// True for do { ... } while (0), which macros use as a block.
inline bool runs_once(const clang::Stmt* s) {
  const auto* d = llvm::dyn_cast<clang::DoStmt>(s);
  if (d == nullptr || jumps_out(d->getBody())) return false;
  const clang::Expr* test = d->getCond()->IgnoreParenImpCasts();
  const auto* number = llvm::dyn_cast<clang::IntegerLiteral>(test);
  const auto* word = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(test);
  return (number != nullptr && number->getValue() == 0) || (word != nullptr && !word->getValue());
}

inline bool is_loop(const clang::Stmt* s) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(s) && !runs_once(s);
}

inline const clang::Stmt* body_of(const clang::Stmt* s) {
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) return f->getBody();
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s)) return w->getBody();
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) return d->getBody();
  if (const auto* r = llvm::dyn_cast<clang::CXXForRangeStmt>(s)) return r->getBody();
  return nullptr;
}

inline std::vector<const clang::Expr*> parts_of(const clang::Expr* e) {  // separated by commas
  std::vector<const clang::Expr*> all{e->IgnoreParens()};
  while (const auto* comma = llvm::dyn_cast<clang::BinaryOperator>(all.front())) {
    if (comma->getOpcode() != clang::BO_Comma) break;
    all.front() = comma->getLHS()->IgnoreParens();
    all.insert(all.begin() + 1, comma->getRHS()->IgnoreParens());
  }
  return all;
}

template <class Visit>
void visit(const clang::Stmt* s, const Visit& see) {
  if (s == nullptr) return;
  see(s);
  for (const clang::Stmt* child : s->children()) visit(child, see);
}

inline int uses_of(const clang::ValueDecl* var, const clang::Stmt* in) {
  int count = 0;
  visit(in, [&](const clang::Stmt* s) {
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s);
    count += ref != nullptr && ref->getDecl() == var ? 1 : 0;
  });
  return count;
}

// True if the variable is declared in the block (`declared`: or otherwise only there) and no statement behind `s` in
// the block names it.
inline bool ends_with(const clang::Stmt* s, const clang::VarDecl* var, const clang::CompoundStmt* block,
                      bool declared = false) {
  bool behind = false;
  for (const clang::Stmt* child : block->body()) {
    if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(child))
      for (const clang::Decl* one : d->decls()) declared = declared || one == var;
    if (behind && uses_of(var, child) > 0) return false;
    behind = behind || child == s;
  }
  return declared && behind;
}

}  // namespace ridge::place::frontend

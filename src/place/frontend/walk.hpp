// Traversal of Clang's statements, shared by the files of the reader.
#pragma once
#include <clang/AST/StmtCXX.h>

namespace ridge::place::frontend {

inline bool is_loop(const clang::Stmt* s) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(s);
}

inline const clang::Stmt* body_of(const clang::Stmt* s) {
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) return f->getBody();
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s)) return w->getBody();
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) return d->getBody();
  if (const auto* r = llvm::dyn_cast<clang::CXXForRangeStmt>(s)) return r->getBody();
  return nullptr;
}

template <class Visit>
void visit(const clang::Stmt* s, const Visit& see) {
  if (s == nullptr) return;
  see(s);
  for (const clang::Stmt* child : s->children()) visit(child, see);
}

}  // namespace ridge::place::frontend

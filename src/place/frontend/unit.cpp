// A file to Clang's tree to the model.
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <clang/Tooling/Tooling.h>

#include <fstream>
#include <sstream>

#include "place/frontend/reader.hpp"

namespace ridge::place {
namespace {

using namespace clang;

class Collected : public DiagnosticConsumer {
 public:
  std::vector<std::string> errors{};
  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < DiagnosticsEngine::Error || errors.size() >= 5) return;
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    std::string where;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (at.isValid()) where = std::string(at.getFilename()) + ":" + std::to_string(at.getLine()) + ": ";
    }
    errors.push_back(where + text.str().str());
  }
};

void find_functions(const DeclContext* context, const std::string& name, std::vector<const FunctionDecl*>& found,
                    bool& has_main, int depth) {
  if (depth > 8) return;
  for (const Decl* decl : context->decls()) {
    if (const auto* f = dyn_cast<FunctionDecl>(decl)) {
      if (!f->doesThisDeclarationHaveABody()) continue;
      has_main |= f->isMain();
      const bool wanted = name.empty()
                              ? f->getASTContext().getSourceManager().isInMainFile(f->getLocation()) && !f->isMain()
                              : f->getNameAsString() == name || f->getQualifiedNameAsString() == name;
      if (wanted) found.push_back(f);
    } else if (const auto* inner = dyn_cast<DeclContext>(decl);
               inner != nullptr && (isa<NamespaceDecl>(decl) || isa<LinkageSpecDecl>(decl))) {
      find_functions(inner, name, found, has_main, depth + 1);
    }
  }
}

// Callees first; each function once.
void read_tree(frontend::Reader& reader, const FunctionDecl* decl, std::set<const FunctionDecl*>& seen, Program& into,
               int depth) {
  if (depth > 32 || !seen.insert(decl).second) return;
  std::set<const FunctionDecl*> called;
  Function made = reader.function(decl, called);
  for (const FunctionDecl* callee : called) {
    made.calls.push_back(callee->getNameAsString());
    read_tree(reader, callee, seen, into, depth + 1);
  }
  into.functions.push_back(std::move(made));
}

}  // namespace

Program read_program(const ReadRequest& request) {
  Program result;
  result.file = request.file;
  if (request.text.empty()) {
    std::ifstream in(request.file, std::ios::binary);
    if (!in) {
      result.errors.push_back(request.file + ": cannot be read");
      return result;
    }
    std::stringstream text;
    text << in.rdbuf();
    result.text = text.str();
  } else {
    result.text = request.text;
  }
  if (result.text.size() > (8u << 20)) {
    result.errors.push_back(request.file + ": longer than 8 MiB");
    return result;
  }
  std::vector<std::string> flags{"-fsyntax-only", "-Wno-everything", "-ferror-limit=5", "-fbracket-depth=256"};
  flags.push_back("-resource-dir");
  flags.push_back(RIDGE_CLANG_RESOURCES);
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  Collected collected;
  auto unit = tooling::buildASTFromCodeWithArgs(
      result.text, flags, request.file, "ridge-place", std::make_shared<PCHContainerOperations>(),
      tooling::getClangStripDependencyFileAdjuster(), tooling::FileContentMappings(), &collected);
  result.errors = collected.errors;
  if (!unit && result.errors.empty()) result.errors.push_back(request.file + ": the compiler gave up");
  if (!unit || !result.errors.empty()) return result;
  std::vector<const FunctionDecl*> found;
  find_functions(unit->getASTContext().getTranslationUnitDecl(), request.function, found, result.has_main, 0);
  if (found.empty()) {
    result.errors.push_back(request.file + ": no function " + (request.function.empty() ? "" : request.function + " ") +
                            "with a body");
    return result;
  }
  if (found.size() > 1 && !request.function.empty()) {
    result.errors.push_back(request.file + ": " + std::to_string(found.size()) + " functions are called " +
                            request.function);
    return result;
  }
  frontend::Reader reader(unit->getASTContext(), result.text);
  std::set<const FunctionDecl*> seen;
  for (const FunctionDecl* f : found) read_tree(reader, f, seen, result, 0);
  result.refusals = reader.refusals;
  return result;
}

}  // namespace ridge::place

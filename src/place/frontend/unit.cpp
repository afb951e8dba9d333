// Parses a file with Clang and builds the Program model of its functions.
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <clang/Tooling/Tooling.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "place/edited.hpp"
#include "place/frontend/reader.hpp"
#include "place/pragmas.hpp"

namespace ridge::place {
namespace frontend {

using namespace clang;

// True for the namespace of the models, whose text is not the user's.
bool holds_models(const Decl* decl) {
  const auto* space = dyn_cast<NamespaceDecl>(decl);
  return space != nullptr && space->getNameAsString() == "ridge_models";
}

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

}  // namespace frontend

namespace {

using namespace clang;

void find_functions(const DeclContext* context, const std::string& name, bool all_files,
                    std::vector<const FunctionDecl*>& found, bool& has_main, bool& is_template, int depth) {
  if (depth > 8) return;
  const auto in_file = [](const Decl* decl) {
    return decl->getASTContext().getSourceManager().isInMainFile(decl->getLocation());
  };
  const auto visit = [&](const Decl* decl) {
    if (const auto* f = dyn_cast<FunctionDecl>(decl)) {
      if (!f->doesThisDeclarationHaveABody() || f->isImplicit() || f->isDefaulted()) return;
      has_main |= f->isMain();
      const bool wanted = name.empty()
                              ? f->getASTContext().getSourceManager().isInMainFile(f->getLocation())
                              : (f->getNameAsString() == name &&
                                 !f->getASTContext().getSourceManager().isInSystemHeader(f->getLocation())) ||
                                    f->getQualifiedNameAsString() == name;  // std::count is not the user's count
      if (wanted) found.push_back(f);
    } else if (const auto* made = dyn_cast<FunctionTemplateDecl>(decl)) {
      is_template |= !name.empty() && made->getNameAsString() == name;
    } else if (const auto* of_template = dyn_cast<ClassTemplateDecl>(decl);
               of_template != nullptr && (name.empty() || in_file(decl))) {
      for (const ClassTemplateSpecializationDecl* special : of_template->specializations())
        find_functions(special, name, all_files, found, has_main, is_template, depth + 1);
    } else if (const auto* inner = dyn_cast<DeclContext>(decl);
               inner != nullptr &&
               (isa<NamespaceDecl>(decl) || isa<LinkageSpecDecl>(decl) ||
                (isa<CXXRecordDecl>(decl) && !decl->isImplicit() && (name.empty() || in_file(decl)))) &&
               !frontend::holds_models(decl)) {
      find_functions(inner, name, all_files, found, has_main, is_template, depth + 1);
    }
  };
  if (all_files)
    for (const Decl* decl : context->decls()) visit(decl);
  else  // declarations of the precompiled includes stay unloaded
    for (const Decl* decl : context->noload_decls()) visit(decl);
}

// Reads a function and its callees, callees first, each once.
void read_tree(frontend::Reader& reader, const FunctionDecl* decl, std::set<const FunctionDecl*>& seen, Program& into,
               int depth) {
  if (depth > 32 || !seen.insert(decl).second) return;
  std::set<const FunctionDecl*> called;
  Function made = reader.function(decl, called);
  std::vector<const FunctionDecl*> in_order(called.begin(), called.end());  // of the source, not of addresses
  std::sort(in_order.begin(), in_order.end(), [](const FunctionDecl* a, const FunctionDecl* b) {
    return a->getLocation().getRawEncoding() < b->getLocation().getRawEncoding();
  });
  for (const FunctionDecl* callee : in_order) {
    made.calls.push_back(callee->getNameAsString());
    read_tree(reader, callee, seen, into, depth + 1);
  }
  into.functions.push_back(std::move(made));
}

Program refused(const std::string& file, const std::string& why) {
  Program result;
  result.file = file;
  result.errors.push_back(file + ": " + why);
  return result;
}

// Bodies of all functions in the file, with members and templates; without main, whose time is that of the run, and
// without constexpr functions.
void find_bodies(const DeclContext* context, const SourceManager& sources, std::vector<FunctionBody>& found) {
  for (const Decl* decl : context->decls()) {
    const auto* f = dyn_cast<FunctionDecl>(decl);
    if (const auto* made = dyn_cast<FunctionTemplateDecl>(decl)) f = made->getTemplatedDecl();
    const DeclContext* inner =
        isa<NamespaceDecl, LinkageSpecDecl, CXXRecordDecl>(decl) ? cast<DeclContext>(decl) : nullptr;
    if (const auto* made = dyn_cast<ClassTemplateDecl>(decl)) inner = made->getTemplatedDecl();
    if (!sources.isInMainFile(decl->getLocation()) || frontend::holds_models(decl)) continue;
    if (inner != nullptr) find_bodies(inner, sources, found);
    if (f == nullptr || !f->doesThisDeclarationHaveABody() || f->isConstexpr() || f->isMain() || f->isDefaulted() ||
        f->isImplicit())
      continue;
    const auto* body = dyn_cast_or_null<CompoundStmt>(f->getBody());
    if (body == nullptr || body->getLBracLoc().isMacroID() || !sources.isInMainFile(body->getLBracLoc())) continue;
    found.push_back({frontend::qualified_name(f), static_cast<int>(sources.getSpellingLineNumber(f->getLocation())),
                     sources.getFileOffset(body->getLBracLoc())});
  }
}

// NAME:LINE names one of several functions of the same name: removes the line from the name and returns it, or 0.
int line_asked(std::string& name) {
  const auto at = name.rfind(':');
  if (at == std::string::npos || at == 0 || name[at - 1] == ':' || at + 1 == name.size() ||
      name.find_first_not_of("0123456789", at + 1) != std::string::npos)
    return 0;
  const int line = std::atoi(name.c_str() + at + 1);
  name.resize(at);
  return line;
}

Program model(ASTUnit& unit, const ReadRequest& request, const std::string& text, const std::vector<int>& lines) {
  Program result;
  result.file = request.file;
  result.text = text;
  result.lines = lines;
  result.c = !unit.getASTContext().getLangOpts().CPlusPlus;
  std::vector<const FunctionDecl*> found;
  bool is_template = false;
  const TranslationUnitDecl* all = unit.getASTContext().getTranslationUnitDecl();
  std::string name = request.function;
  const int at_line = line_asked(name);
  if (!lines.empty()) find_functions(all, name, false, found, result.has_main, is_template, 0);
  if (found.empty()) find_functions(all, name, true, found, result.has_main, is_template, 0);
  const auto unwanted = [&](const FunctionDecl* f) {
    const int line = static_cast<int>(unit.getSourceManager().getExpansionLineNumber(f->getLocation()));
    const bool moved = line > 0 && line <= static_cast<int>(lines.size());
    return (at_line > 0 && (moved ? lines[line - 1] : line) != at_line) ||
           (name.empty() && request.lifted.count(f->getQualifiedNameAsString()) > 0);
  };
  found.erase(std::remove_if(found.begin(), found.end(), unwanted), found.end());
  if (found.empty() && is_template)
    return refused(request.file, request.function + " is a template: name a function that calls it");
  if (found.empty())
    return refused(request.file,
                   "no function " + (request.function.empty() ? "" : request.function + " ") + "with a body");
  if (found.size() > 1 && !request.function.empty())  // f is the free function, C::f the member of a class
    if (std::any_of(found.begin(), found.end(), [](const FunctionDecl* f) { return !isa<CXXMethodDecl>(f); }))
      found.erase(
          std::remove_if(found.begin(), found.end(), [](const FunctionDecl* f) { return isa<CXXMethodDecl>(f); }),
          found.end());
  if (found.size() > 1 && !request.function.empty())
    return refused(request.file, std::to_string(found.size()) + " functions are named " + request.function +
                                     ": give the qualified name of one, or its line (NAME:LINE)");
  frontend::Reader reader(frontend::Source(unit.getASTContext(), result.text, result.lines));
  std::set<const FunctionDecl*> seen;
  for (const FunctionDecl* f : found) read_tree(reader, f, seen, result, 0);
  result.refusals = reader.refusals;
  result.template_calls = reader.members.template_calls;
  for (const Edit& e : reader.members.rewrites) result.rewrites.push_back({e.begin, e.end, e.text, e.lines});
  for (const auto& [method, free] : reader.members.renamed) result.lifted.insert(method);
  if (const auto at = reader.members.renamed.find(found.back()->getQualifiedNameAsString());
      at != reader.members.renamed.end() && !request.function.empty())
    result.renamed = at->second;
  return result;
}

// Folder of GCC's headers, newest version first; "" if there is none. Clang has no omp.h unless libomp-dev is
// installed.
std::string headers_of_gcc() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::pair<int, std::string> newest{-1, ""};
  for (const auto& target : fs::directory_iterator("/usr/lib/gcc", ignored))
    for (const auto& version : fs::directory_iterator(target.path(), ignored))
      if (fs::exists(version.path() / "include/omp.h", ignored))
        newest =
            std::max(newest, {std::atoi(version.path().filename().c_str()), (version.path() / "include").string()});
  return newest.second;
}

std::vector<std::string> flags_of(const ReadRequest& request) {
  std::vector<std::string> flags{"-fsyntax-only", "-Wno-everything", "-ferror-limit=5", "-fbracket-depth=256"};
  flags.push_back("-resource-dir");
  flags.push_back(RIDGE_CLANG_RESOURCES);
  flags.insert(flags.end(), request.flags.begin(), request.flags.end());
  static const std::string gcc = headers_of_gcc();
  // GCC's omp.h passes an argument to the attribute malloc, which Clang 19 rejects.
  if (!gcc.empty()) flags.insert(flags.end(), {"-idirafter", gcc, "-D__malloc__(...)=__malloc__"});
  return flags;
}

}  // namespace

// The translation unit that is parsed again for each text, with the file's includes precompiled.
struct FileReader::Kept {
  frontend::Collected collected{};
  std::shared_ptr<PCHContainerOperations> containers = std::make_shared<PCHContainerOperations>();
  IntrusiveRefCntPtr<DiagnosticsEngine> diagnostics{};
  std::unique_ptr<ASTUnit> unit{};

  bool read(const ReadRequest& request, const std::string& text) {
    collected.errors.clear();
    const std::string whole = text + frontend::models_text(text, request.models, request.opencv);
    const ASTUnit::RemappedFile remapped{request.file,
                                         llvm::MemoryBuffer::getMemBufferCopy(whole, request.file).release()};
    if (unit) return !unit->Reparse(containers, {remapped});
    diagnostics = CompilerInstance::createDiagnostics(new DiagnosticOptions, &collected, false);
    std::vector<std::string> words{"ridge-place"};
    for (const std::string& flag : flags_of(request)) words.push_back(flag);
    words.push_back(request.file);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    unit = ASTUnit::LoadFromCommandLine(pointers.data(), pointers.data() + pointers.size(), containers, diagnostics,
                                        RIDGE_CLANG_RESOURCES, true, {}, false, CaptureDiagsKind::None, {remapped},
                                        true, 1);
    return unit != nullptr;
  }
};

FileReader::FileReader(ReadRequest request) : request_(std::move(request)) {}
FileReader::~FileReader() = default;

Program FileReader::read() {
  std::ifstream in(request_.file, std::ios::binary);
  if (!in) return refused(request_.file, "cannot be read");
  std::stringstream stream;
  stream << in.rdbuf();
  if (stream.str().size() > (8u << 20)) return refused(request_.file, "file is longer than 8 MiB");
  const std::string text = pragmas_as_comments(stream.str());
  frontend::Collected collected;
  const auto parsed = [&] {
    collected.errors.clear();
    return tooling::buildASTFromCodeWithArgs(
        text + frontend::models_text(text, request_.models, request_.opencv), flags_of(request_), request_.file,
        "ridge-place", std::make_shared<PCHContainerOperations>(), tooling::getClangStripDependencyFileAdjuster(),
        tooling::FileContentMappings(), &collected);
  };
  auto unit = parsed();
  if (!unit || !collected.errors.empty()) {  // the text may mention OpenCV without its images
    request_.opencv = false;
    unit = parsed();
  }
  if (unit && collected.errors.empty()) {
    Program program = model(*unit, request_, text, {});
    std::vector<FunctionBody> bodies;
    std::string source;
    find_bodies(unit->getASTContext().getTranslationUnitDecl(), unit->getSourceManager(), bodies);
    for (int depth = 0; depth < 8 && !(program.template_calls.empty() && program.rewrites.empty()); ++depth) {
      std::vector<Edit> edits;
      for (const Rewrite& r : program.rewrites) edits.push_back({r.begin, r.end, r.text, r.lines});
      std::map<std::string, unsigned> written;
      for (const TemplateCall& t : program.template_calls) {
        edits.push_back({t.name.begin, t.name.end, t.function, {}});
        if (written.emplace(t.function, t.at).second) edits.push_back({t.at, t.at, t.text, t.lines});
      }
      const Text changed = applied(program.text, lines_of(program), edits);
      const ReadRequest asked = request_;
      if (!program.renamed.empty()) request_.function = program.renamed;
      request_.lifted.insert(program.lifted.begin(), program.lifted.end());
      Program next = read(changed.bytes, changed.lines);
      if (!next.errors.empty()) {  // the text stays as written
        request_ = asked;
        break;
      }
      if (!program.renamed.empty()) source = changed.bytes;
      program = std::move(next);
    }
    program.bodies = std::move(bodies);
    program.source = source;
    return program;
  }
  Program result = refused(request_.file, "Clang could not parse the file");
  if (!collected.errors.empty()) result.errors = collected.errors;
  result.text = text;
  return result;
}

Program FileReader::read(const std::string& text, const std::vector<int>& lines) {
  if (!kept_) kept_ = std::make_unique<Kept>();
  const bool read = kept_->read(request_, text);
  if (read && kept_->collected.errors.empty()) return model(*kept_->unit, request_, text, lines);
  Program result = refused(request_.file, "Clang could not parse the file");
  if (!kept_->collected.errors.empty()) result.errors = kept_->collected.errors;
  kept_.reset();
  return result;
}

}  // namespace ridge::place

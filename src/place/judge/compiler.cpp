// Finds compilers, Ridgeline's headers and library, and sorts the user's flags.
#include "place/judge/compiler.hpp"

#include <cstdlib>
#include <filesystem>

#include <ridge/error.hpp>

namespace ridge::place::judge {
namespace {

namespace fs = std::filesystem;

// Include and link flags for Ridgeline: next to an installed command, or the build folder.
std::vector<std::string> ridge_flags() {
  std::error_code ignored;
  const fs::path bin = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> flags;
  fs::path include = bin / "../include", library;
  if (fs::exists(include / "ridge/placed.hpp", ignored)) {
    for (const auto& entry : fs::recursive_directory_iterator(bin / "../lib", ignored))
      if (const auto name = entry.path().filename().string(); name == "libridge.so" || name == "libridge.a")
        library = entry.path();
  }
  if (library.empty()) {
    include = RIDGE_INCLUDE_FOLDER;
    for (const char* name : {"libridge.so", "libridge.a"})
      if (fs::exists(fs::path(RIDGE_BUILD_FOLDER) / name, ignored)) library = fs::path(RIDGE_BUILD_FOLDER) / name;
  }
  if (library.empty())
    throw Error(
        ErrorKind::unavailable,
        "libridge.so or libridge.a is neither next to the installed command nor in the build folder: the placed "
        "program cannot be linked");
  flags = {"-I", include.string(), library.string()};
  if (library.extension() == ".so") {
    flags.push_back("-Wl,-rpath," + library.parent_path().string());
  } else {
    for (const char* word : {"-lfmt", "-lhwy", "-ldl"}) flags.emplace_back(word);
  }
  flags.emplace_back("-pthread");
  return flags;
}

bool takes_path(const std::string& flag) {
  return flag == "-I" || flag == "-isystem" || flag == "-iquote" || flag == "-include" || flag == "-idirafter";
}

}  // namespace

std::string host_compiler() {
  const char* named = std::getenv("CXX");
  return named != nullptr && *named != '\0' ? named : "c++";
}

std::string c_compiler() {
  const char* named = std::getenv("CC");
  return named != nullptr && *named != '\0' ? named : "cc";
}

bool is_c(const std::string& file) { return fs::path(file).extension() == ".c"; }

std::string cuda_compiler() {
  if (const char* named = std::getenv("CUDACXX"); named != nullptr && *named != '\0') return named;
  std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  path += ":/usr/local/cuda/bin";
  std::error_code ignored;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    if (const fs::path file = fs::path(path.substr(at, end - at)) / "nvcc"; fs::exists(file, ignored))
      return file.string();
    at = end + 1;
  }
  return "";
}

namespace {

// C++20, which Ridgeline's headers need, if the user's flags select an older standard. The last one on the command line
// counts.
std::vector<std::string> newer_standard(const std::vector<std::string>& flags) {
  std::string chosen;
  for (const std::string& f : flags)
    if (f.rfind("-std=", 0) == 0) chosen = f.substr(5);
  for (const char* old : {"98", "03", "0x", "11", "1y", "14", "1z", "17"})
    if (chosen == std::string("c++") + old || chosen == std::string("gnu++") + old)
      return {"-std=" + chosen.substr(0, chosen.size() - 2) + "20"};
  return {};
}

}  // namespace

Compiler compiler_of(const std::string& emit, bool threads, const std::vector<std::string>& flags) {
  if (emit == "openmp") return {"", {"-fopenmp"}};
  Compiler made = emit == "opencl" ? Compiler{"", {"-lOpenCL", "-pthread"}}
                  : emit == "cuda" ? Compiler{cuda_compiler(), {"-arch=native", "-fmad=false"}, ".cu"}
                                   : Compiler{"", ridge_flags()};
  if (emit == "ridge")
    for (const std::string& f : newer_standard(flags)) made.flags.push_back(f);
  if (threads && emit == "cuda") made.flags.emplace_back("-Xcompiler");
  if (threads) made.flags.emplace_back("-fopenmp");
  return made;
}

bool is_library(const std::string& flag) {
  return flag.rfind("-l", 0) == 0 || flag.rfind("-L", 0) == 0 || flag.rfind("-Wl,", 0) == 0;
}

bool is_input(const std::string& flag) {
  const std::string end = fs::path(flag).extension().string();
  return !flag.empty() && flag[0] != '-' &&
         (end == ".cpp" || end == ".cc" || end == ".cxx" || end == ".c" || end == ".o" || end == ".a" || end == ".so");
}

std::vector<std::string> common_flags(const std::string& compiler, const std::string& file,
                                      const std::vector<std::string>& flags) {
  std::vector<std::string> all{compiler, "-O2", "-ffp-contract=off", "-w", "-ffunction-sections"};
  bool standard = false;
  for (const std::string& f : flags) standard |= f.rfind("-std=", 0) == 0;
  if (!standard) all.emplace_back(is_c(file) ? "-std=gnu17" : "-std=c++20");
  all.push_back("-I" + fs::absolute(file).parent_path().string());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!is_library(flags[i]) && (!is_input(flags[i]) || (i > 0 && takes_path(flags[i - 1])))) all.push_back(flags[i]);
  }
  return all;
}

std::vector<std::string> for_nvcc(const std::vector<std::string>& flags) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& f = flags[i];
    const bool known = f.rfind("-I", 0) == 0 || f.rfind("-D", 0) == 0 || f.rfind("-O", 0) == 0 ||
                       f.rfind("-std=", 0) == 0 || f == "-w" || f.empty() || f[0] != '-';
    if (!known) all.emplace_back("-Xcompiler");
    all.push_back(f);
  }
  return all;
}

}  // namespace ridge::place::judge

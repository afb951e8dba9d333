#include "place/judge/judge.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ridge::place::judge {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "ridge-place-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::io, "no folder for the comparison under " + fs::temp_directory_path().string());
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (std::getenv("RIDGE_PLACE_KEEP") == nullptr) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Exit code, or -1 when it was killed or took too long; what it printed is in `log`.
int run(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
        const fs::path& log, double seconds) {
  const pid_t child = fork();
  if (child < 0) throw Error(ErrorKind::out_of_memory, "no process for " + command[0]);
  if (child == 0) {
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string first_lines(const fs::path& log) {
  const auto text = base::read_file(log, std::size_t{16} << 20).value_or("");
  const auto error = text.find("error");
  const auto from = error == std::string::npos ? 0 : text.rfind('\n', error) + 1;
  return text.substr(from, std::min<std::size_t>(text.find('\n', from) - from, 300));
}

// The headers and the library that placed programs stand on: beside an installed command, or where this one was built.
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
    throw Error(ErrorKind::unavailable,
                "Ridgeline's library is not where it was built: the placed program cannot be linked");
  flags = {"-I", include.string(), library.string()};
  if (library.extension() == ".so") {
    flags.push_back("-Wl,-rpath," + library.parent_path().string());
  } else {
    for (const char* word : {"-lfmt", "-lhwy", "-ldl"}) flags.emplace_back(word);
    if (RIDGE_LINK_PNG) flags.emplace_back("-lpng");
  }
  flags.emplace_back("-pthread");
  return flags;
}

// nvcc, by CUDACXX, on the path or where the toolkit puts it; "" without one.
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

// What the placed program is compiled with beside the flags of both.
struct Compiler {
  std::string command{};  // "" : the same as the original's
  std::vector<std::string> flags{};
  const char* suffix = ".cpp";
};
Compiler compiler_of(const std::string& emit) {
  if (emit == "openmp") return {"", {"-fopenmp"}};
  if (emit == "opencl") return {"", {"-lOpenCL", "-pthread"}};
  if (emit == "cuda") return {cuda_compiler(), {"-arch=native", "-fmad=false"}, ".cu"};
  return {"", ridge_flags()};
}

// The compiler and what both programs are compiled with.
std::vector<std::string> common_flags(const std::string& compiler, const Report& report, const Wishes& wishes) {
  std::vector<std::string> all{compiler, "-O2", "-ffp-contract=off", "-w"};
  bool standard = false;
  for (const std::string& f : wishes.flags) standard |= f.rfind("-std=", 0) == 0;
  if (!standard) all.emplace_back("-std=c++20");
  all.push_back("-I" + fs::absolute(report.file).parent_path().string());
  all.insert(all.end(), wishes.flags.begin(), wishes.flags.end());
  return all;
}

// Where the kernels of a program on Ridgeline's devices run: what the user named, else the first that is not the host.
std::string device_of(const Wishes& wishes) {
  if (!wishes.device.empty()) return wishes.device;
  if (const char* named = std::getenv("RIDGE_DEVICE"); named != nullptr && *named != '\0') return named;
  std::string found;
  for (const Device& d : devices().devices)
    if (!d.is_host() && (found.empty() || d.info().backend == Backend::cuda)) found = d.info().id;
  return found;
}

// nvcc takes few of the host compiler's flags itself.
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

}  // namespace

bool can_run_cuda() {
  if (cuda_compiler().empty()) return false;
  for (const Device& d : devices().devices)
    if (d.info().backend == Backend::cuda) return true;
  return false;
}

std::string cuda_fault(const Report& report, const Wishes& wishes) {
  const std::string compiler = cuda_compiler();
  if (compiler.empty()) return "";
  const Folder folder;
  base::write_file(folder.path() / "placed.cu", report.placed);
  auto command = for_nvcc(common_flags(compiler, report, wishes));
  command.insert(command.end(), {"-arch=sm_80", "-c", "-o", "/dev/null", (folder.path() / "placed.cu").string()});
  return run(command, {}, folder.path() / "log", wishes.seconds) == 0 ? "" : first_lines(folder.path() / "log");
}

Outcome compare(const Report& report, const std::string& source, const Wishes& wishes) {
  Outcome outcome;
  const Folder folder;
  const fs::path at = folder.path();
  const std::string rename = "#define main ridge_place_users_main\n";
  const bool c = report.file.size() > 2 && report.file.substr(report.file.size() - 2) == ".c";
  if (c) {
    outcome.text = "C files are read and placed; the comparison needs C++: name the file .cpp";
    return outcome;
  }
  base::write_file(at / "original.cpp", rename + source + harness(report, wishes, false));
  const Compiler compiler = compiler_of(wishes.emit);
  base::write_file(at / (std::string("placed") + compiler.suffix),
                   rename + report.placed + harness(report, wishes, true));
  const char* named = std::getenv("CXX");
  const auto common = common_flags(named != nullptr && *named != '\0' ? named : "c++", report, wishes);
  const auto build = [&](const char* name, const Compiler& with) {
    auto command = common;
    if (!with.command.empty()) {
      command[0] = with.command;
      command = for_nvcc(command);
    }
    command.insert(command.end(), {"-o", (at / name).string(), (at / (std::string(name) + with.suffix)).string()});
    command.insert(command.end(), with.flags.begin(), with.flags.end());
    const int code = run(command, {}, at / "log", wishes.seconds);
    if (code != 0)
      outcome.text =
          fmt::format("the {} program does not compile for the comparison: {}", name, first_lines(at / "log"));
    return code == 0;
  };
  if (!build("original", {}) || !build("placed", compiler)) return outcome;
  std::vector<std::vector<Array>> results;
  for (const char* name : {"original", "placed"}) {
    std::vector<std::pair<std::string, std::string>> environment;
    if (wishes.emit == "ridge") environment.emplace_back("RIDGE_DEVICE", device_of(wishes));
    const fs::path dump = at / (std::string(name) + ".out");
    const int code = run({(at / name).string(), dump.string()}, environment, at / "log", wishes.seconds);
    if (code != 0) {
      outcome.text = fmt::format("the {} program fails on made-up data ({}): pin sizes with --param", name,
                                 code < 0 ? "killed or too slow" : fmt::format("exit {}", code));
      return outcome;
    }
    const std::string log = base::read_file(at / "log", std::size_t{1} << 20).value_or("");
    const auto word = log.rfind("seconds ");
    (std::string(name) == "original" ? outcome.original_seconds : outcome.placed_seconds) =
        word == std::string::npos ? 0 : std::atof(log.c_str() + word + 8);
    if (std::string(name) == "placed" && log.find("runs on the host:") != std::string::npos) {
      outcome.text = "the kernels do not run on this device: " + log.substr(0, log.find('\n'));
      return outcome;
    }
    if (std::string(name) == "placed" && log.find("kernels 0\n") != std::string::npos) {
      outcome.text = "the kernels did not run on made-up data: what they assume of the sizes does not hold there";
      return outcome;
    }
    results.push_back(read_dump(base::read_file(dump, std::size_t{4} << 30).value_or("")));
    if (results.back().empty()) {
      outcome.text = "the function has no result that could be compared";
      return outcome;
    }
  }
  const bool exact = !report.libm && !report.reassociates;
  std::string where;
  outcome.worst = difference(results[0], results[1], exact, where);
  // A sum in another order, or an exp() of another library: a bound far above rounding, far below a mistake.
  const double bound = exact ? 0 : report.reassociates ? 1e-4 : 2e-5;
  outcome.verified = outcome.worst <= bound;
  outcome.text =
      outcome.verified
          ? (outcome.worst == 0 ? "equal to the original, bit for bit"
                                : fmt::format("equal to the original within {:.1e}", outcome.worst))
          : fmt::format("{} differs from the original (by {:.1e} of its largest value)", where, outcome.worst);
  return outcome;
}

}  // namespace ridge::place::judge

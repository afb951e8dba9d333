// Compares the original with the placed program: reversed work-items, thread counts, schedules, and kernels that do not
// pay.
#include "place/judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "place/judge/compiler.hpp"
#include "place/judge/process.hpp"
#include "place/pragmas.hpp"

namespace ridge::place::judge {
namespace {

namespace fs = std::filesystem;

double seconds_in(const std::string& log) {
  static constexpr std::string_view kName = "nanoseconds ";  // an integer: the program may use a decimal comma
  const auto word = log.rfind(kName);
  if (word == std::string::npos) return 0;
  std::string_view rest = std::string_view(log).substr(word + kName.size());
  return 1e-9 * base::leading_number(rest).value_or(0);
}

using Environment = std::vector<std::pair<std::string, std::string>>;

Environment environment_of(const Options& options) {
  if (options.emit != "ridge") return {};
  return {{"RIDGE_DEVICE", device_of(options.device)}};
}

// Environment of a run that also starts threads where one thread is expected to be faster.
Environment always_threads(const Options& options) {
  Environment all = environment_of(options);
  if (options.emit == "openmp" || options.threads) all.emplace_back("PLACED_ALWAYS", "1");
  return all;
}

bool uses_threads(const Options& options) { return options.emit == "openmp" || options.threads; }

}  // namespace

std::string with_reversed_items(const std::string& placed) {
  const std::string open = "R\"kernels(", kernel = "KERNEL ", id = "GLOBAL_ID(";
  const auto from = placed.find(open), to = placed.find(")kernels\"");
  if (from == std::string::npos || to == std::string::npos) return "";
  std::string text;
  bool reversed = false;
  for (std::size_t at = from; at < to;) {
    const std::size_t end = std::min(placed.find(kernel, at + 1), to);
    const std::string one = placed.substr(at, end - at);
    const bool tiles = one.find("_tile[") != std::string::npos;  // loaded cooperatively by position in the group
    for (std::size_t k = 0; k < one.size();) {
      const bool here = !tiles && one.compare(k, id.size(), id) == 0 && one.find(')', k) == k + id.size() + 1;
      const std::string axis = here ? one.substr(k + id.size(), 1) : "";
      text += here ? fmt::format("(GROUPS({0}) * ITEMS({0}) - 1 - GLOBAL_ID({0}))", axis) : one.substr(k, 1);
      k += here ? id.size() + 2 : 1;
      reversed |= here;
    }
    at = end;
  }
  return reversed ? placed.substr(0, from) + text + placed.substr(to) : "";
}

namespace {

// Finds kernels without which the whole placed program runs faster; the time includes transfers that a kernel saves or
// causes.
void weigh(const Report& report, const Options& options, const fs::path& at, Outcome& outcome) {
  std::string without;
  for (const KernelReport& k : report.kernels) {
    if ((report.kernels.size() < 2 && !options.threads) || options.emit == "openmp") return;
    auto environment = environment_of(options);
    const std::string tried = without + (without.empty() ? "" : ",") + k.name;
    environment.emplace_back("PLACED_WITHOUT", tried);
    if (run({(at / "placed").string(), (at / "again.out").string()}, environment, at / "log", options.seconds) != 0)
      return;
    const double seconds = seconds_in(base::read_file(at / "log", std::size_t{1} << 20).value_or(""));
    if (seconds <= 0 || seconds > 0.97 * outcome.placed_seconds) continue;
    without = tried;
    outcome.placed_seconds = seconds;
    outcome.slower.push_back(k.name);
  }
}

// True if a loop runs on threads of the host when it is not on the device.
bool runs_threads(const Report& report) {
  return std::any_of(report.loops.begin(), report.loops.end(), [](const LoopVerdict& l) { return l.threads; });
}

// Runs a program with threads several times: more threads than processors, other schedules, iterations in another order
// (all without the device), and once with threads only where they pay, which is timed. Returns "" if all runs give the
// original's result, and the same bits unless Report::varies is set.
std::string over_many_runs(const Report& report, const Options& options, const fs::path& at, bool permuted,
                           const std::vector<std::vector<Array>>& first, Outcome& outcome) {
  struct Trial {
    const char* program;
    unsigned threads;
    const char* schedule;
  };
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency()), many = 2 * processors + 1;
  std::vector<Trial> trials{
      {"placed", 0, ""},   {"permuted", 1, "static"}, {"placed", many, ""},         {"permuted", many, "static,1"},
      {"placed", 8, ""},   {"placed", 3, ""},         {"permuted", 8, "dynamic,1"}, {"permuted", 3, "guided,2"},
      {"placed", many, ""}};
  const double bound = allowed(report);
  std::string kernels;
  for (const KernelReport& k : report.kernels) kernels += (kernels.empty() ? "" : ",") + k.name;
  std::vector<Array> threaded =
      options.threads ? std::vector<Array>{} : first[1];  // result of the first run on threads
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  for (const Trial& t : trials) {
    const bool same_order = std::string(t.program) == "placed";
    if ((!same_order && !permuted) || std::chrono::steady_clock::now() > end) continue;
    const fs::path dump = at / "trial.out";
    Environment environment = environment_of(options);
    environment.emplace_back("PLACED_ALWAYS", t.threads > 0 ? "1" : "");
    if (t.threads > 0)
      environment.insert(environment.end(), {{"OMP_NUM_THREADS", std::to_string(t.threads)},
                                             {"OMP_SCHEDULE", t.schedule},
                                             {"OMP_DYNAMIC", "false"},
                                             {"OMP_WAIT_POLICY", "passive"}});
    if (t.threads > 0 && options.threads) environment.emplace_back("PLACED_WITHOUT", kernels);
    const int code = run({(at / t.program).string(), dump.string()}, environment, at / "log", options.seconds);
    const std::string how = t.threads == 0 ? "with threads where they pay"
                                           : fmt::format("with {} threads{}", t.threads,
                                                         same_order ? "" : " and its iterations in another order");
    if (code != 0) return fmt::format("{} the placed program fails on generated data", how);
    const std::string log = base::read_file(at / "log", std::size_t{1} << 20).value_or("");
    if (t.threads > 0 && log.find("threads 0\n") != std::string::npos && runs_threads(report))
      return "without a device no threads were started on generated data: set sizes with --param";
    const auto now = read_dump(base::read_file(dump, std::size_t{4} << 30).value_or(""));
    std::string where;
    const double far = difference(first[0], now, bound == 0, where);
    if (!(far <= bound)) return fmt::format("{} the placed program gives another result ({})", how, where);
    outcome.worst = std::max(outcome.worst, far);
    if (t.threads == 0) {
      outcome.placed_seconds = seconds_in(log);
      outcome.idle = !options.threads && log.find("kernels 0\n") != std::string::npos;
    } else if (same_order && threaded.empty()) {
      threaded = now;
    } else if (same_order && difference(threaded, now, true, where) != 0) {
      if (!report.varies) return fmt::format("{} the placed program gives another result ({})", how, where);
      outcome.varies = std::max(outcome.varies, difference(threaded, now, false, where));
    }
    ++outcome.runs;
  }
  return "";
}

}  // namespace

std::string device_of(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (const char* named = std::getenv("RIDGE_DEVICE"); named != nullptr && *named != '\0') return named;
  std::string found;
  for (const Device& d : devices().devices)
    if (!d.is_host() && (found.empty() || d.info().backend == Backend::cuda)) found = d.info().id;
  return found;
}

bool can_run_cuda() {
  if (cuda_compiler().empty()) return false;
  for (const Device& d : devices().devices)
    if (d.info().backend == Backend::cuda) return true;
  return false;
}

std::string cuda_fault(const Report& report, const Options& options) {
  const std::string compiler = cuda_compiler();
  if (compiler.empty()) return "";
  const Folder folder;
  const bool parts = !report.device_part.empty();
  base::write_file(folder.path() / "placed.cu", parts ? report.device_part : report.placed);
  auto command = parts ? std::vector<std::string>{compiler, "-std=c++20", "-w"}
                       : for_nvcc(common_flags(compiler, report.file, options.flags));
  command.insert(command.end(), {"-arch=sm_80", "-c", "-o", "/dev/null", (folder.path() / "placed.cu").string()});
  return run(command, {}, folder.path() / "log", options.seconds) == 0 ? "" : first_lines(folder.path() / "log");
}

namespace {

// Compiles and runs the programs of one comparison. A step that returns false has stored the reason in Outcome::text.
class Comparison {
 public:
  Comparison(const Report& report, const std::string& source, const Options& options)
      : report_(report),
        source_(report.source.empty() ? source : report.source),
        options_(options),
        compiler_(compiler_of(options.emit, options.threads, options.flags)),
        c_(is_c(report.file)),
        common_(common_flags(c_ ? c_compiler() : host_compiler(), report.file, options.flags)),
        bound_(allowed(report)) {
    if (source.find("omp.h") != std::string::npos) common_.emplace_back("-fopenmp");
  }

  Outcome compare() {
    write("original", pragmas_as_comments(source_), false);
    write("placed", report_.placed, true);
    write_device_part("placed", report_.device_part);
    if (!build("original", {}) || !build("placed", compiler_)) return outcome_;
    for (const char* name : {"original", "placed"})
      if (!run_program(name)) return outcome_;
    outcome_.compared = true;
    outcome_.worst = difference(results_[0], results_[1], bound_ == 0, where_);
    outcome_.verified = outcome_.worst <= bound_;
    if (outcome_.verified && !(strips_agree() && reversed_agrees() && many_runs_agree())) {
      outcome_.verified = false;
      return outcome_;
    }
    if (outcome_.verified && options_.weighs) weigh(report_, options_, at_, outcome_);
    outcome_.text = summary();
    return outcome_;
  }

 private:
  void write(const std::string& name, const std::string& text, bool placed) const {
    const std::string users = "#define main ridge_place_users_main\n" + text,
                      calls = harness(report_, options_, placed);
    if (!c_) return base::write_file(at_ / (name + (placed ? compiler_.suffix : ".cpp")), users + calls);
    base::write_file(at_ / (name + ".c"), users + entry_in_c(report_, placed && options_.emit == "openmp"));
    base::write_file(at_ / (name + "_calls.cpp"), calls);
  }

  // Device part of a C program: kernels and launches, in C++.
  void write_device_part(const std::string& name, const std::string& text) const {
    if (!report_.device_part.empty()) base::write_file(at_ / (name + "_device" + compiler_.suffix), text);
  }

  // Compiles a C file with a C compiler; its device part and the program that calls it with a C++ compiler.
  bool build_c(const std::string& name, const Compiler& with) {
    auto command = common_;
    const std::string object = (at_ / (name + ".o")).string();
    const fs::path device = at_ / (name + "_device" + with.suffix);
    if (options_.emit == "openmp") command.insert(command.end(), with.flags.begin(), with.flags.end());
    command.insert(command.end(), {"-c", "-o", object, (at_ / (name + ".c")).string()});
    if (!compiles(name, command)) return false;
    const std::string text = base::read_file(at_ / (name + "_calls.cpp"), std::size_t{1} << 24).value_or("");
    std::string& calls = calls_[text];  // often the same for all programs
    if (calls.empty()) {
      calls = (at_ / (name + "_calls.o")).string();
      if (!compiles(name, {host_compiler(), "-O1", "-w", "-std=c++20", "-c", "-o", calls,
                           (at_ / (name + "_calls.cpp")).string()}))
        return false;
    }
    command = {
        with.command.empty() ? host_compiler() : with.command, "-O1", "-w", "-std=c++20", "-o", (at_ / name).string()};
    if (fs::exists(device)) command.push_back(device.string());
    command.insert(command.end(), {calls, object});
    command.insert(command.end(), with.flags.begin(), with.flags.end());
    if (with.command.empty()) command.emplace_back("-Wl,--gc-sections");
    command.emplace_back("-lm");
    add_libraries(command);
    return compiles(name, command);
  }

  void add_libraries(std::vector<std::string>& command) const {  // they follow the files that use them
    for (const std::string& f : options_.flags)
      if (is_library(f)) command.push_back(f);
  }

  bool build(const char* name, const Compiler& with) {
    if (c_) return build_c(name, with);
    auto command = common_;
    if (!with.command.empty()) {
      command[0] = with.command;
      command = for_nvcc(command);
    }
    command.insert(command.end(), {"-o", (at_ / name).string(), (at_ / (std::string(name) + with.suffix)).string()});
    command.insert(command.end(), with.flags.begin(), with.flags.end());
    if (with.command.empty()) command.emplace_back("-Wl,--gc-sections");
    add_libraries(command);
    return compiles(name, command);
  }

  bool compiles(const std::string& name, const std::vector<std::string>& command) {
    const int code = run(command, {}, at_ / "log", options_.seconds);
    if (code != 0)
      outcome_.text = fmt::format(
          "the {} program does not compile for the comparison: {}", name,
          code < 0 ? fmt::format("the compiler took longer than {} s", options_.seconds) : first_lines(at_ / "log"));
    return code == 0;
  }

  bool fail(const std::string& why) {
    outcome_.text = why;
    return false;
  }

  // Runs the original or the placed program; appends its results and stores its time.
  bool run_program(const std::string& name) {
    const fs::path dump = at_ / (name + ".out");
    const int code =
        run({(at_ / name).string(), dump.string()}, always_threads(options_), at_ / "log", options_.seconds);
    if (code != 0)
      return fail(fmt::format(
          "the {} program fails on generated data ({}): set sizes with --param, array lengths with --elements", name,
          code < 0 ? "killed or over the time limit" : fmt::format("exit {}", code)));
    const std::string log = base::read_file(at_ / "log", std::size_t{1} << 20).value_or("");
    (name == "original" ? outcome_.original_seconds : outcome_.placed_seconds) = seconds_in(log);
    if (name == "placed" && log.find("runs on the host:") != std::string::npos)
      return fail("the kernels do not run on this device: " + log.substr(0, log.find('\n')));
    if (name == "placed" && log.find("kernels 0\n") != std::string::npos)
      return fail(
          fmt::format("no {} on generated data: the sizes do not satisfy the assumptions; set them with --param",
                      options_.emit == "openmp" ? "threads were started" : "kernel was launched"));
    results_.push_back(read_dump(base::read_file(dump, std::size_t{4} << 30).value_or("")));
    if (results_.back().empty())
      return fail("the function has no result to compare: no return value and no array or reference that is not const");
    return true;
  }

  // Kernels with their work-items in another order give the same result.
  bool reversed_agrees() {
    const bool parts = !report_.device_part.empty();
    const std::string reversed =
        options_.emit == "ridge" ? with_reversed_items(parts ? report_.device_part : report_.placed) : "";
    if (reversed.empty()) return true;
    write("reversed", parts ? report_.placed : reversed, true);
    write_device_part("reversed", reversed);
    const fs::path dump = at_ / "reversed.out";
    if (!build("reversed", compiler_)) return false;
    const bool ended =
        run({(at_ / "reversed").string(), dump.string()}, always_threads(options_), at_ / "log", options_.seconds) == 0;
    const auto other = ended ? read_dump(base::read_file(dump, std::size_t{4} << 30).value_or("")) : results_[1];
    if (ended && difference(results_[0], other, bound_ == 0, where_) <= bound_) return true;
    return fail("with its work-items in another order the placed program gives another result (" + where_ + ")");
  }

  // Kernels for strips: with little memory, so that they are used.
  bool strips_agree() {
    if ((report_.placed + report_.device_part).find(".strips(") == std::string::npos) return true;
    for (const char* bytes : {"4096", "262144"}) {
      auto environment = always_threads(options_);
      environment.emplace_back("PLACED_MEMORY", bytes);
      const fs::path dump = at_ / "strips.out";
      const bool ended =
          run({(at_ / "placed").string(), dump.string()}, environment, at_ / "log", options_.seconds) == 0;
      const auto other = ended ? read_dump(base::read_file(dump, std::size_t{4} << 30).value_or("")) : results_[1];
      if (!ended || !(difference(results_[0], other, bound_ == 0, where_) <= bound_))
        return fail(fmt::format("in strips for {} bytes of memory the placed program {}", bytes,
                                ended ? "gives another result (" + where_ + ")" : "fails"));
    }
    return true;
  }

  // Threads: other numbers of threads, schedules and orders give the same result.
  bool many_runs_agree() {
    if (!uses_threads(options_)) return true;
    if (!report_.permuted.empty()) {
      write("permuted", report_.permuted, true);
      if (!build("permuted", compiler_)) return false;
    }
    const std::string fault = over_many_runs(report_, options_, at_, !report_.permuted.empty(), results_, outcome_);
    return fault.empty() || fail(fault);
  }

  std::string summary() const {
    if (!outcome_.verified)
      return fmt::format("{} differs from the original (by {:.1e} of its largest value)", where_, outcome_.worst);
    return (outcome_.worst == 0 ? "equal to the original, bit for bit"
                                : fmt::format("equal to the original within {:.1e}", outcome_.worst)) +
           (outcome_.runs > 0
                ? fmt::format(" in {} runs (other numbers of threads, schedules and orders)", outcome_.runs + 1)
                : "") +
           (outcome_.varies > 0 ? fmt::format("; sums vary from run to run by {:.1e}", outcome_.varies) : "");
  }

  const Report& report_;
  const std::string& source_;
  const Options& options_;
  const Folder folder_{};
  const fs::path at_ = folder_.path();
  const Compiler compiler_;
  const bool c_;  // the file is C
  std::vector<std::string> common_;
  const double bound_;
  std::map<std::string, std::string> calls_{};  // C: object file by text of the calling program
  std::vector<std::vector<Array>> results_{};   // of the original, of the placed program
  std::string where_{};                         // largest difference found last
  Outcome outcome_{};
};

}  // namespace

Outcome compare(const Report& report, const std::string& source, const Options& options) {
  Outcome outcome = Comparison(report, source, options).compare();
  if (outcome.verified || !outcome.compared || options.distinct || !has_claims(report)) return outcome;
  Options other = options;
  other.distinct = true;
  other.weighs = false;
  if (Comparison(report, source, other).compare().verified)
    outcome.text +=
        "; it is equal if no number occurs twice in an array of integers: verify it on your own data by --run";
  return outcome;
}

bool has_claims(const Report& report) {
  return std::any_of(report.loops.begin(), report.loops.end(), [](const LoopVerdict& l) { return !l.claim.empty(); });
}

}  // namespace ridge::place::judge

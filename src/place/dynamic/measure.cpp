// Builds and runs the instrumented, original and placed programs, and merges counts with times.
#include "place/dynamic/measure.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "place/dynamic/instrument.hpp"
#include "place/judge/compiler.hpp"
#include "place/judge/judge.hpp"
#include "place/judge/process.hpp"

namespace ridge::place::dynamic {
namespace {

namespace fs = std::filesystem;
using judge::Folder;

std::string with_program(const std::string& line, const fs::path& program) {
  const auto at = line.find("{}");
  if (at == std::string::npos)
    throw Error(ErrorKind::invalid_argument,
                "--run needs {} in place of the program, as in --run '{} picture.png': the program is built from FILE");
  return line.substr(0, at) + "'" + program.string() + "'" + line.substr(at + 2);
}

void build(const fs::path& source, const fs::path& program, const std::string& file, const Command& command,
           const judge::Compiler& with, const fs::path& log) {
  const bool other = !with.command.empty();
  const std::string host = judge::is_c(source.string()) ? judge::c_compiler() : judge::host_compiler();
  std::vector<std::string> words = judge::common_flags(other ? with.command : host, file, command.flags);
  if (other) words = judge::for_nvcc(words);
  words.insert(words.end(), {"-o", program.string(), source.string()});
  for (const std::string& f : command.flags)
    if (judge::is_input(f)) words.push_back(f);
  words.insert(words.end(), with.flags.begin(), with.flags.end());
  for (const std::string& f : command.flags)
    if (judge::is_library(f)) words.push_back(f);
  if (judge::run(words, {}, log, command.seconds) != 0)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("the program for --run does not build (list its other sources after --): {}",
                            judge::first_lines(log)));
}

struct ProgramRun {
  int code = 0;
  double seconds = 0;
  std::string output{};
};
ProgramRun run(const fs::path& program, const Command& command, const fs::path& folder,
               const std::vector<std::pair<std::string, std::string>>& environment) {
  ProgramRun ran;
  const auto start = std::chrono::steady_clock::now();
  ran.code =
      judge::run({"sh", "-c", with_program(command.line, program)}, environment, folder / "output", command.seconds);
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ran.output = base::read_file(folder / "output", std::size_t{1} << 30).value_or("");
  return ran;
}

// Merges functions without a clock into their callers.
std::vector<Record> merge_untimed(const std::vector<Record>& all, const std::set<int>& functions) {
  std::vector<Record> kept{all[0]};
  std::vector<int> at(all.size(), 0);
  for (std::size_t k = 1; k < all.size(); ++k) {
    Record r = all[k];
    r.parent = at[static_cast<std::size_t>(r.parent)];
    at[k] = r.parent;
    if (r.loop < -1 && functions.count(-2 - r.loop) == 0) continue;
    const auto same = std::find_if(kept.begin() + 1, kept.end(),
                                   [&](const Record& o) { return o.loop == r.loop && o.parent == r.parent; });
    at[k] = static_cast<int>(same - kept.begin());
    if (same == kept.end()) {
      kept.push_back(r);
    } else {
      same->entries += r.entries;
      same->turns += r.turns;
    }
  }
  return kept;
}

// Time of each record without the functions it calls.
std::vector<double> own_times(const std::vector<Record>& all) {
  std::vector<double> own(all.size());
  for (std::size_t k = 1; k < all.size(); ++k) {
    own[k] += all[k].seconds;
    if (all[k].loop >= 0) continue;
    int up = all[k].parent;
    while (up > 0 && all[static_cast<std::size_t>(up)].loop >= 0) up = all[static_cast<std::size_t>(up)].parent;
    own[static_cast<std::size_t>(up)] -= all[k].seconds;
  }
  for (double& seconds : own) seconds = std::max(seconds, 0.0);
  return own;
}

// Names of all kernels, separated by commas.
std::string kernel_names(const Report& report) {
  std::string names;
  for (const KernelReport& k : report.kernels) names += (names.empty() ? "" : ",") + k.name;
  return names;
}

// Code appended to a placed program: writes the number of launches, or of nests that ran on threads, to a file at exit.
std::string launch_counter_text(const std::string& emit, bool c) {
  if (c)
    return R"(
#include <stdio.h>
__attribute__((destructor)) static void ridge_run_ends(void) {
  const char* const name = getenv("RIDGE_RUN_LAUNCHES");
  FILE* const file = name != 0 ? fopen(name, "w") : 0;
  if (file == 0) return;
  fprintf(file, "%lld\n", (long long)placed_starts);
  fclose(file);
}
)";
  return fmt::format(R"(
#include <cstdio>
#include <cstdlib>
namespace {{
struct RidgeLaunches {{
  ~RidgeLaunches() {{
    const char* const name = std::getenv("RIDGE_RUN_LAUNCHES");
    std::FILE* const file = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "%lld\n", static_cast<long long>({}));
    std::fclose(file);
  }}
}} ridge_launches;
}}  // namespace
)",
                     emit == "openmp"  ? "placed::starts"
                     : emit == "ridge" ? "ridge::placed::launches()"
                                       : "placed::launches()");
}

// Chooses the loops and functions that a clock slows down by less than 1 %.
void choose_timed(const Report& report, const Records& first, std::set<std::string>& timed, std::set<int>& functions) {
  std::map<int, double> entries;
  for (const Record& r : first.loops)
    if (r.loop >= 0) entries[r.loop] += r.entries;
  constexpr double kClock = 1e-7;  // seconds to enter and leave a timed loop
  for (const auto& [loop, n] : entries)
    if (loop < static_cast<int>(report.loops.size()) && n * kClock < 0.01 * first.seconds)
      timed.insert(report.loops[static_cast<std::size_t>(loop)].id);
  for (const auto& [function, n] : first.calls)
    if (n < 1e7 && n * kClock < 0.01 * first.seconds) functions.insert(function);
}

}  // namespace

namespace {

// A decimal number, or a hexadecimal one as printf's %a prints it.
std::optional<double> printed_number(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (const auto digits = text.substr(negative ? 1 : 0); digits.starts_with("0x")) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, std::chars_format::hex);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return negative ? -value : value;
  }
  return base::leading_number(text);
}

}  // namespace

bool alike(const std::string& a, const std::string& b, double tolerance) {
  if (a == b) return true;
  if (tolerance <= 0) return false;
  std::istringstream x(a), y(b);
  while (true) {
    std::string p, q;
    x >> p;
    y >> q;
    if (p.empty() && q.empty()) return true;
    if (p == q) continue;
    std::string_view p_rest = p, q_rest = q;
    const std::optional<double> u = printed_number(p_rest), v = printed_number(q_rest);
    if (!u || !v || p_rest != q_rest) return false;
    if (!(std::abs(*u - *v) <= tolerance * std::max(std::abs(*u), std::abs(*v)))) return false;
  }
}

std::string first_difference(const std::string& a, const std::string& b, double tolerance) {
  std::istringstream x(a), y(b);
  for (int line = 1;; ++line) {
    std::string p, q;
    const bool one = static_cast<bool>(std::getline(x, p)), two = static_cast<bool>(std::getline(y, q));
    if (!one && !two) return "";
    if (one == two && alike(p, q, tolerance)) continue;
    const auto shown = [](bool there, const std::string& text) {
      return there ? "\"" + text.substr(0, 80) + "\"" : "nothing";
    };
    return fmt::format("line {} of its output is {} instead of {}", line, shown(two, q), shown(one, p));
  }
}

void measure(Report& report, const std::string& source, const Command& command) {
  if (!report.has_main && command.flags.empty())
    throw Error(ErrorKind::invalid_argument,
                report.file + " has no main(): list the other sources of the program after --");
  const Folder folder;
  const fs::path program = folder.path() / "program", text = folder.path() / "program.cpp",
                 out = folder.path() / "record", log = folder.path() / "log";
  const auto once = [&](const std::set<std::string>& timed, const std::set<int>& functions, bool count) {
    base::write_file(text, instrumented(report, source, timed, functions, count));
    build(text, program, report.file, command, {}, log);
    std::error_code ignored;
    fs::remove(out, ignored);
    const ProgramRun ran = run(program, command, folder.path(), {{"RIDGE_RUN_OUT", out.string()}});
    if (ran.code < 0)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--run: the program was killed or took longer than {} s", command.seconds));
    return read_records(base::read_file(out, std::size_t{64} << 20).value_or(""));
  };
  const Records first = once({}, {}, true);
  std::set<std::string> timed;
  std::set<int> functions;
  choose_timed(report, first, timed, functions);
  const std::vector<Record> counted = merge_untimed(first.loops, functions);
  const Records second = once(timed, functions, false);
  const std::vector<Record>& clocked = second.loops;
  report.run_seconds = second.seconds;
  report.branches.clear();
  for (const BranchCount& a : first.branches) report.branches.push_back({report.spine.at(a.node).id, a.held, a.failed});
  const auto loop_of = [&](const Record& r) { return report.loops.at(static_cast<std::size_t>(r.loop)).id; };
  const auto function_of = [&](const Record& r) -> FunctionRun& {
    return report.functions.at(static_cast<std::size_t>(-2 - r.loop));
  };
  // Counts and times are joined by the path of enclosing loops and functions; without a clock there are counts only.
  const auto path = [&](const std::vector<Record>& list, std::size_t at) {
    std::string names;
    for (int k = static_cast<int>(at); k > 0; k = list[static_cast<std::size_t>(k)].parent) {
      const Record& r = list[static_cast<std::size_t>(k)];
      names = (r.loop >= 0 ? loop_of(r) : std::to_string(r.loop)) + "/" + names;
    }
    return names;
  };
  struct Times {
    double whole = -1, own = -1;
  };
  const std::vector<double> own = own_times(clocked);
  std::map<std::string, Times> times;
  for (std::size_t k = 1; k < clocked.size(); ++k) times[path(clocked, k)] = {clocked[k].seconds, own[k]};
  for (FunctionRun& f : report.functions) f.calls = 0, f.seconds = f.own = -1;
  for (const auto& [function, n] : first.calls) report.functions.at(static_cast<std::size_t>(function)).calls = n;
  for (std::size_t k = 1; k < clocked.size(); ++k)
    if (clocked[k].loop < 0) {
      FunctionRun& f = function_of(clocked[k]);
      f.seconds = std::max(f.seconds, 0.0) + clocked[k].seconds;
      f.own = std::max(f.own, 0.0) + own[k];
    }
  report.run.clear();
  for (std::size_t k = 1; k < counted.size(); ++k) {
    LoopRun made;
    const bool loop = counted[k].loop >= 0;
    if (loop)
      made.loop = loop_of(counted[k]);
    else
      made.function = function_of(counted[k]).function;
    made.parent = counted[k].parent - 1;
    made.entries = counted[k].entries;
    made.turns = counted[k].turns;
    if (const auto at = times.find(path(counted, k)); at != times.end()) {
      made.seconds = at->second.whole;
      if (!loop) made.own = at->second.own;
    }
    report.run.push_back(made);
  }
}

namespace {

std::string spread_text(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return fmt::format("{} ({} to {})", base::human_seconds(seconds[seconds.size() / 2]),
                     base::human_seconds(seconds.front()), base::human_seconds(seconds.back()));
}

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

OutputComparison same_output(const Report& report, const std::string& source, const Command& command) {
  const Folder folder;
  OutputComparison result;
  const judge::Compiler with = judge::compiler_of(command.emit, command.threads, command.flags);
  const fs::path at = folder.path();
  const bool c = judge::is_c(report.file);
  const fs::path original = at / (c ? "original.c" : "original.cpp"),
                 placed = at / (c ? std::string("placed.c") : std::string("placed") + with.suffix);
  base::write_file(original, source);
  base::write_file(placed, report.placed + launch_counter_text(command.emit, c));
  build(original, at / "original", report.file, command, {}, at / "log");
  build(placed, at / "placed", report.file, command, with, at / "log");
  std::vector<std::pair<std::string, std::string>> environment{{"RIDGE_RUN_LAUNCHES", (at / "launches").string()}};
  if (command.emit == "ridge") environment.emplace_back("RIDGE_DEVICE", judge::device_of(command.device));
  const ProgramRun one = run(at / "original", command, at, {}), two = run(at / "placed", command, at, environment);
  const std::string kernels_launched = base::read_file(at / "launches", 100).value_or("0");
  const bool threads = command.emit == "openmp" || command.threads;
  const auto timed_in = environment;
  if (threads) environment.emplace_back("PLACED_ALWAYS", "1");  // also where threads are slower
  if (command.threads) environment.emplace_back("PLACED_WITHOUT", kernel_names(report));
  const ProgramRun always = threads ? run(at / "placed", command, at, environment) : two;
  std::vector<double> originals{one.seconds}, placeds{two.seconds};
  const double tolerance = report.reassociates ? 1e-4 : report.libm ? 2e-5 : 0;
  for (int k = 1; k < command.runs && one.code == two.code; ++k) {
    originals.push_back(run(at / "original", command, at, {}).seconds);
    const ProgramRun again = run(at / "placed", command, at, timed_in);
    if (again.code != one.code || !alike(one.output, again.output, tolerance)) {
      result.text = fmt::format("--run: run {} of the placed program prints another output: {}", k + 1,
                                first_difference(one.output, again.output, tolerance));
      return result;
    }
    placeds.push_back(again.seconds);
  }
  result.original_seconds = median(originals);
  result.placed_seconds = median(placeds);
  if (command.runs > 1)
    result.spread = fmt::format("{} runs, median (least to greatest): original {}, placed {}", command.runs,
                                spread_text(originals), spread_text(placeds));
  if (one.code != two.code)
    result.text = fmt::format("--run: the original exits with {}, the placed program with {}", one.code, two.code);
  else if (always.code != one.code || !alike(one.output, two.output, tolerance) ||
           !alike(one.output, always.output, tolerance))
    result.text =
        "--run: the placed program prints another output than the original (times that it prints, also to "
        "standard error, would differ): " +
        first_difference(one.output, alike(one.output, two.output, tolerance) ? always.output : two.output, tolerance);
  else
    result.same = true;
  if (!result.same) return result;
  // Claims of independence: iterations in another order must print the same.
  const std::string other = !judge::has_claims(report) ? ""
                            : threads                  ? report.permuted
                            : command.emit == "ridge"  ? judge::with_reversed_items(report.placed)
                                                       : "";
  if (!other.empty()) {
    base::write_file(placed, other);
    build(placed, at / "other", report.file, command, with, at / "log");
    const ProgramRun three = run(at / "other", command, at, environment);
    if (three.code != one.code || !alike(one.output, three.output, tolerance)) {
      result.same = false;
      result.text = "--run: with its iterations in another order the placed program prints another output";
      return result;
    }
  }
  const std::string launches =
      command.emit == "openmp" ? base::read_file(at / "launches", 100).value_or("0") : kernels_launched;
  result.proves = !one.output.empty() && std::atoll(launches.c_str()) > 0;
  if (one.output.empty())
    result.text = "--run: both programs print nothing, so only their exit codes are compared";
  else
    result.text = fmt::format("--run: same output, {} bytes{}{}", one.output.size(),
                              tolerance > 0 ? " (numbers within the tolerance for sums and math functions)" : "",
                              result.proves              ? ""
                              : command.emit == "openmp" ? ", but no threads were started"
                                                         : ", but no kernel was launched");
  return result;
}

}  // namespace ridge::place::dynamic

// ridge check: compares random problems with plain reference implementations, on a given device.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "check/check.hpp"
#include "check/laws.hpp"
#include "cli/check/systematic.hpp"
#include "command/command.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

constexpr double kRarely = 0.03, kOften = 0.3;  // fraction of problems of the largest size: comparisons, laws

struct CheckRequest {
  std::vector<std::string> workloads{};
  std::string device{}, seed = "1", problems{}, page{};
  std::uint64_t number = 0;
  double seconds = 10;
  std::size_t points = 0, shrink = 0, systematic = 0;
  bool verbose = false, laws = false, spoil = false;
};

// Parses a number or `today`, which gives the same seed on every machine and changes daily.
std::uint64_t seed_of(const std::string& text) {
  if (text == "today") {
    const auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    const std::chrono::year_month_day day(now);
    return static_cast<std::uint64_t>(static_cast<int>(day.year())) * 10000 + static_cast<unsigned>(day.month()) * 100 +
           static_cast<unsigned>(day.day());
  }
  std::size_t used = 0;
  std::uint64_t seed = 0;
  try {
    seed = std::stoull(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || text[0] == '-')
    throw Error(ErrorKind::invalid_argument, fmt::format("--seed needs a number or \"today\", got \"{}\"", text));
  return seed;
}

void print_outcome(const std::string& workload, std::uint64_t number, const std::string& problem,
                   const check::Outcome& outcome) {
  base::clear_progress();
  fmt::print("{} {}: {}{}\n", workload, number, problem,
             !outcome.wrong.empty()     ? "\n  WRONG: " + outcome.wrong
             : !outcome.refused.empty() ? "\n  refused: " + outcome.refused
                                        : "");
  std::fflush(stdout);  // keeps the last line if a driver ends the program
}

std::string repeat_command(const check::Options& options, const std::string& device, const std::string& before,
                           const std::string& workload, std::uint64_t number, std::size_t shrink) {
  return fmt::format("{}ridge check {}{} --seed {} --case {}{}{}{}", before, workload,
                     before.empty() ? " --device " + device : "", options.seed, number,
                     shrink > 0 ? fmt::format(" --shrink {}", shrink) : "",
                     options.most_points > 0 ? fmt::format(" --points {}", options.most_points) : "",
                     fmt::format("{}{}", options.large > kRarely ? " --laws" : "", options.spoil ? " --spoil" : ""));
}

// The problem in progress, printed by the signal handler.
char current_problem[512];
std::size_t current_problem_length = 0;
struct sigaction previous_actions[NSIG];

// Prints the problem in progress and restores the previous handler. A fault then recurs and ends the program as before;
// a signal sent by a process is raised again.
void report_current_problem(int number, siginfo_t* cause, void*) {
  static_cast<void>(!::write(STDERR_FILENO, current_problem, current_problem_length));
  ::sigaction(number, &previous_actions[number], nullptr);
  if (cause->si_code <= 0) ::raise(number);
}

void note_problems(check::Options& options, const std::string& device, const std::string& before = "") {
  options.before = [&options, device, before, progress = base::terminal_progress(), start = base::now()](
                       const std::string& workload, std::uint64_t number, std::size_t shrink) {
    progress(std::min(0.99, (base::now() - start) / options.seconds), fmt::format("{} {}", workload, number));
    const std::string text = fmt::format("\nended by a signal while running\n  {}\n",
                                         repeat_command(options, device, before, workload, number, shrink));
    current_problem_length = std::min(text.size(), sizeof current_problem);
    std::copy_n(text.begin(), current_problem_length, current_problem);
  };
  struct sigaction action {};
  action.sa_sigaction = report_current_problem;
  action.sa_flags = SA_SIGINFO;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(number, &action, &previous_actions[number]);
}

// Prints each failure as the command that repeats it, and one line of counts. Exits with 2 after any failure.
void report(const check::Report& report, const check::Options& options, const std::string& device,
            const std::string& before = "") {
  base::clear_progress();
  for (const check::Failure& failure : report.failures) {
    if (!options.only) {
      fmt::print("{}: {}\n  WRONG: {}\n  {}\n", failure.workload, failure.problem, failure.outcome.wrong,
                 repeat_command(options, device, before, failure.workload, failure.number, failure.shrunk));
    }
  }
  fmt::print("{}: {} problems of seed {}, {} refused, {}\n", device, report.cases, options.seed, report.refused,
             report.failures.empty() ? "none wrong" : fmt::format("{} WRONG", report.failures.size()));
  if (!report.failures.empty()) throw ExitWith{2};
}

// Collective; the root prints.
void check_processes(const mpi::Communicator& all, check::Options options, bool verbose) {
  options.go_on = [&](bool in_time) { return all.largest(in_time ? 0 : 1) == 0; };
  if (all.root() && (verbose || options.only)) options.each = print_outcome;
  const check::Workload workload = mpi_workload(all);
  note_problems(options, "", fmt::format("mpirun -n {} ", all.count()));
  const check::Report found = check::run(host(), std::span(&workload, 1), options);
  if (all.root())
    return report(found, options, fmt::format("{} processes", all.count()), fmt::format("mpirun -n {} ", all.count()));
  if (!found.failures.empty()) throw ExitWith{2};
}

// Checks the named workloads, or their identities, on one device.
void check_device(const CheckRequest& request, check::Options options) {
  if (request.verbose || options.only) options.each = print_outcome;
  const Device device = ridge::device(request.device);
  note_problems(options, device.id());
  const std::vector<check::Workload>& checks = request.laws ? check::laws() : check::workloads();
  for (const std::string& name : options.workloads) {
    if (std::none_of(checks.begin(), checks.end(), [&](const auto& one) { return one.name == name; }))
      throw Error(ErrorKind::invalid_argument, fmt::format("--laws has no identities for {}: leave it out", name));
  }
  const auto progress = request.verbose || options.only ? base::Progress() : base::terminal_progress();
  if (progress) {
    options.before = [note = options.before, progress, start = base::now(), &options](
                         const std::string& workload, std::uint64_t problem, std::size_t shrink) {
      note(workload, problem, shrink);
      progress(std::min(0.999, (base::now() - start) / std::max(options.seconds, 1e-9)),
               fmt::format("{} {}", workload, problem));
    };
  }
  const check::Report found = check::run(device, checks, options);
  if (progress) progress(1, "");
  report(found, options, device.id());
}

}  // namespace

void add_check(Command& program) {
  Command& command =
      program.subcommand("check", "Compare random problems with plain references; exit 2 if a result is wrong");
  command.footer(
      "\nExamples:\n"
      "  ridge check                                  every workload on the best device, ten seconds\n"
      "  ridge check fft stencil --device cuda:0 --seconds 300 --seed today\n"
      "  ridge check fft --device cuda:0 --seed 7 --case 123      repeat one problem\n"
      "  ridge check fft --laws --points 67108864                 identities, at sizes too large for a reference\n"
      "  ridge check --systematic 64 --page fft.html              every length, rank, kind and direction, as a page\n"
      "  ridge check --problems tests/problems/fft.txt            the transforms listed in a file\n"
      "  mpirun -n 5 ridge check mpi                              transforms distributed over five processes\n"
      "\nProblems are drawn at random from everything the headers allow: types, kinds, shapes, strides, batches, "
      "borders,\n"
      "in place, some transforms of NaN, infinities and denormals next to ordinary ones, some of production size. "
      "Half\n"
      "of them run a randomly chosen variant. A failure is printed as the command that repeats it, reduced in size.\n"
      "--laws checks linearity, impulses, shifts, energy, adjoints and inverses instead, a third of the time at the\n"
      "largest size.");
  add_check_accuracy(command);
  auto request = std::make_shared<CheckRequest>();
  std::vector<std::string> names{"all"};
  for (const check::Workload& workload : check::workloads()) names.emplace_back(workload.name);
  names.emplace_back("mpi");
  command.option("workloads", request->workloads, "Workloads to check (default: all)").one_of(names);
  command.option("--device", request->device, "Device: host, opencl:0, cuda:0, ...");
  command.option("--seconds", request->seconds, "Time limit, in seconds").shows_default().between(0.0, 1e6);
  command.option("--seed", request->seed, "Random seed: a number, or \"today\"").shows_default();
  const Option number = command.option("--case", request->number, "Run only the problem with this number");
  command.option("--shrink", request->shrink, "Number of times to halve the size of the problem of --case")
      .between(0, 60);
  command.option("--points", request->points, "Elements of the largest problems; 0: suitable for the device");
  command.flag("--laws", request->laws, "Check mathematical identities instead of references, for any size");
  command.option("--systematic", request->systematic, "Check every FFT up to this length, rank 1 to 3")
      .between(1, 4096);
  command.option("--page", request->page, "With --systematic: write the outcomes to an HTML page");
  command.option("--problems", request->problems,
                 "Check only the FFTs listed in this file, as cf1024 or irb64x64*8 (docs/check.md)");
  command.flag("--spoil", request->spoil, "Corrupt one value of every result first, to test that errors are found");
  command.flag("--verbose", request->verbose, "Print every problem");
  command.runs([&command, request, number] {
    if (command.has_subcommand()) return;
    if (request->systematic > 0 && !request->problems.empty())
      throw Error(ErrorKind::invalid_argument, "--systematic and --problems exclude each other: give one of them");
    if (!request->page.empty() && request->systematic == 0)
      throw Error(ErrorKind::invalid_argument, "--page needs --systematic");
    if (request->systematic > 0)
      return check_systematically(ridge::device(request->device), request->systematic, request->page);
    if (!request->problems.empty()) return check_file(ridge::device(request->device), request->problems);
    check::Options options;
    options.large = request->laws ? kOften : kRarely;
    options.seconds = request->seconds;
    options.seed = seed_of(request->seed);
    options.spoil = request->spoil;
    options.shrink = request->shrink;
    options.most_points = request->points;
    if (number.given()) options.only = request->number;
    const auto& named = request->workloads;
    if (std::find(named.begin(), named.end(), "all") == named.end()) options.workloads = named;
    if (options.only && options.workloads.size() != 1)
      throw Error(ErrorKind::invalid_argument, "--case needs exactly one workload, as in ridge check fft --case 123");
    if (std::find(named.begin(), named.end(), "mpi") != named.end()) {
      if (named.size() > 1)
        throw Error(ErrorKind::invalid_argument, "mpi must be the only workload: check the others separately");
      return with_processes([&](const mpi::Communicator& all) { check_processes(all, options, request->verbose); });
    }
    check_device(*request, std::move(options));
  });
}

}  // namespace ridge::cli

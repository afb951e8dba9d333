// ridge run: starts the stages of a pipeline as processes joined by rings or pipes, and serves a live page.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/temporaries.hpp"
#include "cli/run/live_page.hpp"
#include "cli/run/pipeline.hpp"
#include "command/command.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string description, report;
  double linger = 0, grace = 20;
  bool dry = false;
};

struct Stage {
  std::string name{};
  std::vector<std::string> words{};
  fs::path status{}, log{};
  pid_t process = -1;
  int code = -1;  // -1: running
  std::string state() const { return code < 0 ? "running" : code == 0 ? "finished" : fmt::format("failed ({})", code); }
};

constexpr std::size_t kMostText = std::size_t{4} << 20;
std::string text_of_file(const fs::path& path) { return base::read_file(path, kMostText).value_or(""); }

// Starts a stage. `in` and `out` are its standard streams, -1: /dev/null. The stage gets SIGTERM when this process
// ends.
void start(Stage& stage, int in, int out) {
  std::vector<std::string> words = stage.words;
  words.insert(words.begin(), "ridge");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  stage.process = ::fork();
  if (stage.process < 0) throw Error(ErrorKind::io, "cannot start a process for stage " + stage.name);
  if (stage.process > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // it has ended already
  ::setenv("RIDGE_STATUS", stage.status.c_str(), 1);
  const int null = ::open("/dev/null", O_RDWR), log = ::open(stage.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(in >= 0 ? in : null, STDIN_FILENO);
  ::dup2(out >= 0 ? out : log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(127);
}

class Pipeline {
 public:
  Pipeline(const PipelineDescription& description, double grace) : grace_(grace) {
    const auto arguments = stage_arguments(description, fmt::format("run-{}", ::getpid()));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string number = std::to_string(i);
      stages_.push_back({.name = description.stages[i].name,
                         .words = arguments[i],
                         .status = folder_.path() / (number + ".json"),
                         .log = folder_.path() / (number + ".log")});
    }
  }
  ~Pipeline() {
    for (Stage& stage : stages_) {
      if (stage.process > 0 && stage.code < 0) ::kill(stage.process, SIGKILL), ::waitpid(stage.process, nullptr, 0);
    }
  }

  void start_all() {
    begun_ = base::now();
    int in = -1;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      int ends[2] = {-1, -1};
      const bool pipe = i + 1 < stages_.size() && stages_[i + 1].words[1] == "-";
      if (pipe && ::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::io, "cannot create a pipe");
      start(stages_[i], in, ends[1]);
      if (in >= 0) ::close(in);
      if (ends[1] >= 0) ::close(ends[1]);
      in = ends[0];
    }
  }

  // Collects stages that have ended. False when none is left.
  bool watch() {
    bool any = false;
    for (Stage& stage : stages_) {
      int status = 0;
      if (stage.code < 0 && ::waitpid(stage.process, &status, WNOHANG) == stage.process) {
        stage.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (stage.code != 0 && failed_ == 0) failed_ = base::now();
        // A stage that ends by SIGPIPE ends because its reader has ended, whichever is collected first.
        const bool by_reader = stage.code == 128 + SIGPIPE;
        if (stage.code != 0 && (first_failed_.empty() || (failed_by_reader_ && !by_reader)))
          first_failed_ = stage.name, failed_by_reader_ = by_reader, stopped_ = told_ && stage.code == 128 + SIGTERM;
      }
      any = any || stage.code < 0;
    }
    if (StopSignals::came() && !told_) {
      told_ = true;
      if (stages_.front().code < 0) ::kill(stages_.front().process, SIGTERM);
      if (failed_ == 0) failed_ = base::now() + 1e9;  // the others end after the last sample
    }
    // The neighbours of a stage that failed end by themselves; after a time limit they are sent SIGTERM.
    const double since = failed_ == 0 ? 0 : base::now() - failed_;
    for (Stage& stage : stages_) {
      if (stage.code >= 0 || since <= grace_) continue;
      ::kill(stage.process, since > 2 * grace_ ? SIGKILL : SIGTERM);
    }
    return any;
  }

  bool good() const {
    for (const Stage& stage : stages_) {
      if (stage.code != 0) return false;
    }
    return true;
  }

  base::Json status(bool ended) const {
    base::Json json;
    json["state"] = !ended ? "running" : good() ? "finished" : "failed";
    json["seconds"] = base::now() - begun_;
    json["stages"] = base::Json::array();
    for (const Stage& stage : stages_) {
      base::Json one;
      one["name"] = stage.name;
      one["command"] = fmt::format("ridge {}", fmt::join(stage.words, " "));
      one["state"] = stage.state();
      const std::string text = text_of_file(stage.status);
      one["status"] = text.empty() ? base::Json::object() : base::parse_json(text);
      json["stages"].push_back(std::move(one));
    }
    return json;
  }

  void print_end() const {
    for (const Stage& stage : stages_) {
      fmt::print("{}: {}\n", stage.name, stage.state());
      const std::string log = text_of_file(stage.log);
      fmt::print("{}", log);
    }
  }
  // The first stage that ended without success is the one that was sent SIGTERM after a signal to this process.
  bool stopped() const { return stopped_; }
  const std::string& first_failure() const { return first_failed_; }  // by time: others end because of it

 private:
  double grace_, begun_ = 0, failed_ = 0;
  bool told_ = false;
  std::string first_failed_;
  bool failed_by_reader_ = false, stopped_ = false;
  base::TemporaryFolder folder_{"ridge-run"};  // states and messages of the stages
  std::vector<Stage> stages_;
};

void run_pipeline(const RunOptions& options) {
  const auto text = base::read_file(options.description, kMostText);
  if (!text) throw Error(ErrorKind::io, "cannot read " + options.description);
  const PipelineDescription description = parse_pipeline(*text, options.description);
  if (options.dry) {
    for (const auto& words : stage_arguments(description, "run")) fmt::print("ridge {}\n", fmt::join(words, " "));
    return;
  }
  const StopSignals signals;
  std::unique_ptr<LivePage> page;
  if (description.port) page = std::make_unique<LivePage>(*description.port);
  Pipeline pipeline(description, options.grace);
  pipeline.start_all();
  if (page) {
    fmt::print("live page: http://127.0.0.1:{}/\n", page->port());
    std::fflush(stdout);
  }
  const auto serve = [&](double seconds, bool ended) {
    if (page) {
      page->serve(seconds, [&] { return pipeline.status(ended).dump(); });
    } else {
      ::usleep(static_cast<useconds_t>(1e6 * seconds));
    }
  };
  while (pipeline.watch()) serve(0.1, false);
  if (!options.report.empty()) base::write_file(options.report, pipeline.status(true).dump(1) + "\n");
  const double end = base::now() + (page ? options.linger : 0);
  while (base::now() < end && !StopSignals::came()) serve(0.1, true);
  pipeline.print_end();
  if (pipeline.stopped()) {
    fmt::print(stderr, "ridge: run: stopped; stage {} did not process all of its input\n", pipeline.first_failure());
    throw ExitWith{128 + StopSignals::number()};
  }
  if (!pipeline.good()) throw Error(ErrorKind::io, fmt::format("run: stage {} failed", pipeline.first_failure()));
}

}  // namespace

void add_run(Command& program) {
  Command& command =
      program.subcommand("run", "Run a pipeline of commands connected by rings or pipes, with a live page");
  command.footer(
      "\nExamples:\n"
      "  ridge run day.toml\n"
      "  ridge run day.toml --dry          print the commands\n"
      "\nday.toml:\n"
      "  [page]\n"
      "  port = 8080                       # http://127.0.0.1:8080: rates, losses, waterfall, candidates\n"
      "  [[stage]]\n"
      "  run = \"capture\"                   # a ridge command; its input and output are rings unless given\n"
      "  in = \"udp://127.0.0.1:4001\"\n"
      "  header = \"obs.txt\"                # other keys are options: --header obs.txt\n"
      "  [[stage]]\n"
      "  run = \"channelize\"\n"
      "  channels = 1024\n"
      "  link = \"pipe\"                     # to the next stage, instead of a ring\n"
      "  [[stage]]\n"
      "  run = \"search\"\n"
      "  dm = \"0..500\"\n"
      "  out = \"candidates.json\"\n"
      "\nIf a stage fails, the other stages end too, and the exit code is 1. SIGINT ends the first stage; the other\n"
      "stages process the data that it sent and end. A second signal ends all of them.");
  auto options = std::make_shared<RunOptions>();
  command.option("description", options->description, "Description of the pipeline (.toml)").reads().required();
  command.option("--report", options->report, "Write the final state of all stages as JSON").writes();
  command.option("--linger", options->linger, "Serve the page this many seconds longer")
      .shows_default()
      .between(0, 1e6);
  command.option("--grace", options->grace, "After a failure: seconds until the other stages are ended")
      .shows_default()
      .between(0.1, 1e6);
  command.flag("--dry", options->dry, "Print the commands instead of running them");
  command.runs([options] { run_pipeline(*options); });
}

}  // namespace ridge::cli

// Commands and their options. Wraps CLI11, which only options.cpp includes: its header adds seconds to each
// compilation.
//
//   Command& command = program.subcommand("sar", "Focus frames of radar echoes");
//   command.option("--frames", options->frames, "Simulated frames").shows_default();
//   command.option("--window", options->window, "none or hamming").one_of({"none", "hamming"});
//   command.flag("--explain", options->explain, "Print the plans");
//   command.runs([options] { run_sar(*options); });
//
// A name without dashes is a positional argument. Variables must live as long as the program; they are set before any
// command runs. Malformed numbers (a std::size_t must be 0 or more), unknown names and missing values are reported to
// the user in one line.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ridge/error.hpp>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ridge::cli {

// Thrown to end the program with this code after a command has printed its own message.
struct ExitWith {
  int code = 1;
};

// A handle, cheap to copy. Setters return the option for chaining.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option shows_default() const;                      // in --help: [256]
  Option value_name(const std::string& name) const;  // in --help: FILE
  Option required() const;
  Option one_of(const std::vector<std::string>& words) const;
  Option between(double low, double high) const;
  Option positive() const;
  Option ends_in(const std::vector<std::string>& endings) const;  // file names; "-" is also accepted
  Option may_be_nan() const;                                      // or infinite; other number options must be finite
  Option separated_by(char separator) const;                      // lists: 64,128 as well as --x 64 --x 128
  Option not_with(const Option& other) const;
  Option only_with(const Option& other) const;
  // File options. Before the command runs, each output must be writable and must differ from every input, also through
  // links, relative names and redirections. "-" is a standard stream.
  Option reads() const;                                       // names of input files
  Option writes() const;                                      // names of output files
  Option writes_names_with(const std::string& suffix) const;  // output names begin with the value and `suffix`
  Option reads_then_writes() const;                           // a list: inputs, and the output last
  bool given() const;                                         // valid once the commands run

 private:
  CLI::Option* option_;
};

class Command {
 public:
  static constexpr const char* kDeviceHelp = "Device: host, cuda:0, opencl:pocl or best";
  explicit Command(CLI::App& app);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command& subcommand(const std::string& name, const std::string& about);
  void begin_group(const std::string& title);  // heading in --help of the subcommands that are added next
  void needs_subcommand();                     // `ridge bench` alone is an error
  void may_have_subcommand();                  // `ridge fft IN OUT` or `ridge fft check`
  bool has_subcommand() const;                 // one was chosen
  void footer(const std::string& text);        // end of --help: examples first

  Option option(const std::string& name, std::string& value, const std::string& help);
  Option option(const std::string& name, std::size_t& value, const std::string& help);
  Option option(const std::string& name, int& value, const std::string& help);
  Option option(const std::string& name, double& value, const std::string& help);
  Option option(const std::string& name, std::optional<double>& value, const std::string& help);
  Option option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option option(const std::string& name, std::vector<std::size_t>& values, const std::string& help);
  // Calls `take` with the word during parsing.
  Option option(const std::string& name, const std::function<void(const std::string& word)>& take,
                const std::string& help);
  Option bytes(const std::string& name, std::size_t& value, const std::string& help);      // 64M, 2G, 4096
  Option threads(std::size_t& value, const std::string& help = "Host: threads (0: all)");  // --threads
  Option flag(const std::string& name, bool& value, const std::string& help);
  // Options that many commands have: --device, --explain, --type.
  Option device(std::string& name) { return option("--device", name, kDeviceHelp).value_name("NAME"); }
  Option explain(bool& value) { return flag("--explain", value, "Print the plan"); }
  Option precision(std::string& type) {
    return option("--type", type, "Precision: f32 or f64").shows_default().one_of({"f32", "f64"});
  }

  void runs(const std::function<void()>& command);

 private:
  void check_files_once() const;
  CLI::App& app_;
  std::string group_ = "Subcommands";
  std::vector<std::unique_ptr<Command>> subcommands_;
};

// How a command uses the files that an option names: "read", "write", "write names", "read, then write", or empty.
std::string file_use(const CLI::Option& option);

// Runs the whole program; `add` adds the commands. Returns the exit code: 0, 1 for an error of the caller, 2 for a
// defect of ridge, with one line on stderr.
int run_program(int count, char** values, const std::string& about, const std::string& first_steps,
                const std::string& version, const std::function<void(Command& program)>& add);

// Replaces line ends and control characters, which a file or an argument may have put into a text.
std::string one_line(std::string text);

[[noreturn]] inline void mistake(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

// Adds `ridge completion SHELL` and `ridge manual`, generated from the commands that `program` has when they run.
void add_reference(CLI::App& program);

}  // namespace ridge::cli

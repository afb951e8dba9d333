// Command-line parsing by CLI11: options, checks of values and files, errors and exit codes.
#include "command/options.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/trace.hpp>

#include "base/log.hpp"
#include "base/new_file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/trace.hpp"
#include "command/output_folder.hpp"
#include "command/process.hpp"
#include "mpi/launched.hpp"

namespace ridge::cli {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return text;
}

namespace {

// CLI11 only reports a missing subcommand; this message names the unknown word.
std::string unknown_command(const CLI::App& program, int count, char** values) {
  const CLI::App* app = &program;
  for (int i = 1; i < count && values[i][0] != '-'; ++i) {
    const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return "";
    const CLI::App* next = nullptr;
    std::string names;
    for (const CLI::App* one : commands) {
      if (one->get_name() == values[i]) next = one;
      names += (names.empty() ? "" : ", ") + one->get_name();
    }
    if (next == nullptr && app->get_require_subcommand_min() == 0) return "";  // the word may be a file name
    if (next == nullptr) {
      return fmt::format("{} has no command \"{}\"; the commands are {}", app->get_name(), one_line(values[i]), names);
    }
    app = next;
  }
  return "";
}

int fail(int code, const std::string& message) {
  base::clear_progress();
  fmt::print(stderr, "ridge: {}\n", message);
  return code;
}

// Full name of the chosen command: "ridge bench fft".
std::string chosen(const CLI::App& program) {
  std::string words = program.get_name();
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    words += " " + app->get_name();
  }
  return words;
}

// Message with the unrecognized words in their order (CLI11 reverses them); empty if there are none.
std::string unexpected_words(const CLI::App& program) {
  const std::vector<std::string> words = program.remaining(true);
  if (words.empty()) return "";
  return fmt::format("unexpected argument{}: {}", words.size() > 1 ? "s" : "", fmt::join(words, " "));
}

// CLI11's messages of wrong numbers of values and of options that exclude or need each other, in plain words. Other
// messages stay as they are.
std::string plain_message(const CLI::ParseError& error) {
  const std::string message = error.what();
  const auto around = [&](std::string_view middle) -> std::optional<std::pair<std::string, std::string>> {
    const std::size_t at = message.find(middle);
    if (at == std::string::npos) return std::nullopt;
    return std::pair(message.substr(0, at), message.substr(at + middle.size()));
  };
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    constexpr std::string_view kMissing = " missing";
    if (const auto parts = around(": 1 required "); parts && parts->second.ends_with(kMissing))
      return fmt::format("{} needs a value: {}", parts->first,
                         parts->second.substr(0, parts->second.size() - kMissing.size()));
    if (const auto parts = around(": At Most 1 required but received "))
      return fmt::format("{} was given {} times, needs one value", parts->first, parts->second);
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    if (const auto parts = around(" excludes "))
      return fmt::format("{} and {} cannot be given together", parts->first, parts->second);
  } else if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    if (const auto parts = around(" requires ")) return fmt::format("{} needs {}", parts->first, parts->second);
  }
  return message;
}

// Rejects negative and too large values, which CLI11 converts to very large numbers.
CLI::Option* whole(CLI::Option* option) {
  return option->check([](const std::string& text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc{} && end == text.data() + text.size();
    return good ? std::string() : fmt::format("\"{}\" is not a whole number of 0 or more", text);
  });
}

// Every command's --device defaults to RIDGE_DEVICE.
CLI::Option* from_environment(CLI::Option* option) {
  return option->check_lname("device") ? option->envname("RIDGE_DEVICE") : option;
}

constexpr const char* kFinite = "finite";

// How a command uses the files that an option names.
enum class FileUse { read, write, write_names, last_is_write };
struct FileOption {
  FileUse use;
  std::string suffix{};  // for write_names
};
std::map<const CLI::Option*, FileOption>& file_options() {
  static std::map<const CLI::Option*, FileOption> all;
  return all;
}

// Checks the files named by a command's options before anything is computed: outputs must be writable and must not
// replace an input.
void check_files(const CLI::App& app) {
  std::vector<NamedFile> inputs, outputs;
  for (const CLI::Option* const option : app.get_options()) {
    const auto found = file_options().find(option);
    if (found == file_options().end()) continue;
    std::vector<std::string> names = option->results();
    if (names.empty() && !option->get_default_str().empty()) names.push_back(option->get_default_str());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) throw Error(ErrorKind::invalid_argument, option->get_name() + ": the file name is empty");
      const NamedFile file{option->get_name(), names[i] + found->second.suffix,
                           found->second.use == FileUse::write_names};
      const bool written =
          found->second.use == FileUse::last_is_write ? i + 1 == names.size() : found->second.use != FileUse::read;
      (written ? outputs : inputs).push_back(file);
      const bool one_file = found->second.use == FileUse::write || found->second.use == FileUse::write_names;
      // Numbers are substituted for {} later.
      if (one_file && file.name.find("{}") == std::string::npos) check_output(file.option, file.name);
    }
  }
  try {
    if (const std::string path = base::trace::path(); !path.empty()) outputs.push_back({"the trace", path});
    check_distinct(inputs, outputs);
  } catch (const Error&) {
    base::trace::discard();  // it would replace the file at the end
    throw;
  }
}

// Rejects NaN, which passes every range check.
CLI::Option* finite(CLI::Option* option) {
  const auto check = [](const std::string& text) {
    const auto value = base::number_of(text);
    return value && std::isfinite(*value) ? std::string() : fmt::format("\"{}\" is not a number", text);
  };
  return option->check(check, "", kFinite);
}

}  // namespace

Option Option::shows_default() const {
  option_->capture_default_str();
  return *this;
}
Option Option::value_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}
Option Option::required() const {
  option_->required();
  return *this;
}
Option Option::one_of(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return *this;
}
Option Option::between(double low, double high) const {
  const std::string range = fmt::format("{} to {}", low, high);
  const auto check = [low, high, range](const std::string& text) {
    const auto value = base::number_of(text);
    return value && *value >= low && *value <= high ? std::string()
                                                    : fmt::format("{} is not in the range {}", text, range);
  };
  option_->check(check, range);
  return *this;
}
Option Option::positive() const {
  const auto check = [](const std::string& text) {
    const auto value = base::number_of(text);
    return value && *value > 0 ? std::string() : fmt::format("{} is not above 0", text);
  };
  option_->check(check, "above 0");
  return *this;
}
Option Option::ends_in(const std::vector<std::string>& endings) const {
  option_->check([endings](const std::string& text) {
    const bool good = text == "-" || std::any_of(endings.begin(), endings.end(),
                                                 [&](const std::string& ending) { return text.ends_with(ending); });
    return good ? std::string() : fmt::format("{}: the name must end in {}", text, fmt::join(endings, " or "));
  });
  return *this;
}
Option Option::may_be_nan() const {
  option_->get_validator(kFinite)->active(false);
  return *this;
}
Option Option::separated_by(char separator) const {
  option_->delimiter(separator);
  return *this;
}
Option Option::not_with(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}
Option Option::only_with(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}
Option Option::reads() const {
  file_options()[option_] = {FileUse::read};
  return value_name("FILE");
}
Option Option::writes() const {
  file_options()[option_] = {FileUse::write};
  return value_name("FILE");
}
Option Option::writes_names_with(const std::string& suffix) const {
  file_options()[option_] = {FileUse::write_names, suffix};
  return value_name("PREFIX");
}
Option Option::reads_then_writes() const {
  file_options()[option_] = {FileUse::last_is_write};
  return value_name("FILE");
}
bool Option::given() const { return option_->count() > 0; }

Command::Command(CLI::App& app) : app_(app) {}
Command::~Command() = default;

Command& Command::subcommand(const std::string& name, const std::string& about) {
  CLI::App* const app = app_.add_subcommand(name, about);
  app->group(group_);  // by default it is the parent's
  subcommands_.push_back(std::make_unique<Command>(*app));
  return *subcommands_.back();
}
void Command::begin_group(const std::string& title) { group_ = title; }
void Command::needs_subcommand() { app_.require_subcommand(1); }
void Command::may_have_subcommand() { app_.require_subcommand(0, 1); }
bool Command::has_subcommand() const { return !app_.get_subcommands().empty(); }

void Command::footer(const std::string& text) { app_.footer(text); }

Option Command::option(const std::string& name, std::string& value, const std::string& help) {
  return Option(from_environment(app_.add_option(name, value, help)));
}
Option Command::option(const std::string& name, std::size_t& value, const std::string& help) {
  return Option(whole(app_.add_option(name, value, help)));
}
Option Command::option(const std::string& name, int& value, const std::string& help) {
  return Option(app_.add_option(name, value, help));
}
Option Command::option(const std::string& name, double& value, const std::string& help) {
  return Option(finite(app_.add_option(name, value, help)));
}
Option Command::option(const std::string& name, std::optional<double>& value, const std::string& help) {
  return Option(finite(app_.add_option(name, value, help)));
}
Option Command::option(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  CLI::Option* const option = app_.add_option(name, values, help);
  if (name[0] == '-')
    option->allow_extra_args(false);  // one value per occurrence: otherwise it also consumes a following --
  return Option(from_environment(option));
}
Option Command::option(const std::string& name, std::vector<std::size_t>& values, const std::string& help) {
  return Option(whole(app_.add_option(name, values, help)));
}
Option Command::option(const std::string& name, const std::function<void(const std::string& word)>& take,
                       const std::string& help) {
  return Option(app_.add_option_function<std::string>(name, take, help));
}
Option Command::bytes(const std::string& name, std::size_t& value, const std::string& help) {
  const auto take = [name, &value](const std::string& text) {
    const auto parsed = base::parse_bytes(text);
    if (!parsed)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} {}: needs a size in bytes, as in 64M or 2G", name, text));
    value = *parsed;
  };
  return option(name, take, help).value_name("BYTES");
}
Option Command::threads(std::size_t& value, const std::string& help) {
  return option("--threads", value, help).shows_default().between(0, static_cast<double>(base::kMostThreads));
}
Option Command::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_.add_flag(name, value, help));
}

// Under mpirun every process finds the same error: rank 0 reports it, and the others exit a second later.
void Command::check_files_once() const {
  try {
    check_files(app_);
  } catch (const Error&) {
    if (mpi::launch().rank == 0) throw;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    throw ExitWith{1};
  }
}

void Command::runs(const std::function<void()>& command) {
  app_.callback([this, command] {
    check_files_once();
    command();
  });
}

std::string file_use(const CLI::Option& option) {
  const auto found = file_options().find(&option);
  if (found == file_options().end()) return "";
  switch (found->second.use) {
    case FileUse::read:
      return "read";
    case FileUse::write:
      return "write";
    case FileUse::write_names:
      return "write names";
    default:
      return "read, then write";
  }
}

namespace {

// Removes `--trace FILE` from the arguments of any command but fftw, whose own option has this name, and starts the
// recording.
std::vector<char*> without_trace(int count, char** values) {
  std::vector<char*> kept;
  std::string path;
  const bool own = count > 1 && std::strcmp(values[1], "fftw") == 0;
  int i = 0;
  for (; i < count && !own; ++i) {
    const std::string word = values[i];
    if (word == "--") break;
    if (word == "--trace") {
      if (++i == count) mistake("--trace needs the name of a file, as in --trace out.json");
      path = values[i];
    } else if (word.starts_with("--trace=")) {
      path = word.substr(8);
    } else {
      kept.push_back(values[i]);
      continue;
    }
    if (path.empty() || path == "-") mistake("--trace needs the name of a file, as in --trace out.json");
  }
  for (; i < count; ++i) kept.push_back(values[i]);
  if (!path.empty()) {
    static_cast<void>(base::NewFile(path));  // reports a file that cannot be written before the work begins
    trace::start(path);
  }
  return kept;
}

}  // namespace

int run_program(int count, char** values, const std::string& about, const std::string& first_steps,
                const std::string& version, const std::function<void(Command& program)>& add) {
  CLI::App app{about, "ridge"};
  app.footer(first_steps);
  app.require_subcommand(1);
  app.set_version_flag("--version", version);
  try {
    Command program(app);
    add(program);
    add_reference(app);
    if (count == 1) {
      fmt::print("{}", app.help());
      return 0;
    }
    if (const std::string unknown = unknown_command(app, count, values); !unknown.empty()) return fail(1, unknown);
    std::vector<char*> words = without_trace(count, values);
    {
      const base::trace::Span span("command",
                                   [&] { return fmt::format("{}", fmt::join(words.begin(), words.end(), " ")); });
      app.parse(static_cast<int>(words.size()), words.data());
    }
    trace::stop();
    return 0;
  } catch (const CLI::Success& success) {  // --help and --version
    std::ostringstream text;
    const int code = app.exit(success, text, text);
    // Text beyond the buffer is written here; the end of the process reports errors of the rest.
    if (std::fputs(text.str().c_str(), stdout) == EOF) return standard_output_failed(errno);
    return code;
  } catch (const ExitWith& verdict) {
    return verdict.code;
  } catch (const CLI::ParseError& error) {
    const std::string words = unexpected_words(app);
    return fail(1,
                one_line(fmt::format("{} (see {} --help)", words.empty() ? plain_message(error) : words, chosen(app))));
  } catch (const Error& error) {
    // The message of a kernel that does not compile keeps its source lines.
    const bool source = error.kind() == ErrorKind::compile;
    return fail(error.callers_mistake() ? 1 : 2, source ? error.what() : one_line(error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(1, one_line(fmt::format("{}: {}", error.path1().string(), error.code().message())));
  } catch (const std::system_error& error) {
    // {fmt} throws this when writing standard output fails.
    if (std::ferror(stdout) != 0) return standard_output_failed(error.code().value());
    if (error.code() == std::errc::resource_unavailable_try_again)
      return fail(1, "the system cannot start more threads: use fewer --threads");
    return fail(2, one_line(fmt::format("unexpected failure: {}", error.what())));
  } catch (const std::bad_alloc&) {
    return fail(1, "not enough memory on this machine for this problem");
  } catch (const std::exception& error) {
    return fail(2, one_line(fmt::format("unexpected failure: {}", error.what())));
  }
}

}  // namespace ridge::cli

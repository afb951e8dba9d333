// Writes the manual page, the JSON list of options and completions for bash, zsh and fish.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "base/json.hpp"
#include "command/options.hpp"

namespace ridge::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Long and short names with their dashes; empty for a positional argument.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// The allowed words of an option. CLI11 stores them only in the text of the check, "FLOAT:{none,hamming}".
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  std::vector<std::string> words;
  if (open == std::string::npos || close == std::string::npos || close < open) return words;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1) + ",") {
    if (c == ',') {
      words.push_back(word), word.clear();
    } else {
      word += c;
    }
  }
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }
bool takes_device(const CLI::Option& option) { return option.check_lname("device"); }

void walk(const CLI::App& app, const std::string& path,
          const std::function<void(const CLI::App&, const std::string&)>& visit) {
  visit(app, path);
  for (const CLI::App* command : commands_of(app)) walk(*command, path + " " + command->get_name(), visit);
}

// --- the manual page ------------------------------------------------------------------------------------------------

// Escapes troff's special characters.
std::string plain(const std::string& text) {
  std::string escaped = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  std::string result;
  bool line_begins = true;
  for (const char c : escaped) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    result += c;
    line_begins = c == '\n';
  }
  return result;
}

// Built from the option objects, because CLI11 appends its own remarks to some descriptions.
std::string manual_options(const CLI::App& app) {
  std::string page;
  for (const CLI::Option* option : options_of(app)) {
    std::string head;
    for (const std::string& name : names_of(*option)) head += (head.empty() ? "" : ", ") + name;
    if (head.empty()) head = option->get_name();
    page += ".TP\n.B " + plain(head);
    if (takes_value(*option) && !option->get_type_name().empty() && option->nonpositional()) {
      page += " \\fI" + plain(option->get_type_name()) + "\\fR";
    }
    page += "\n" + plain(option->get_description());
    if (!option->get_default_str().empty()) page += " [" + plain(option->get_default_str()) + "]";
    page += "\n";
  }
  return page;
}

std::string manual_footer(const CLI::App& app) {
  if (app.get_footer().empty()) return "";
  return ".PP\n.nf\n" + plain(app.get_footer().substr(app.get_footer().find_first_not_of('\n'))) + "\n.fi\n";
}

// A section of terms with their explanations.
std::string manual_terms(const std::string& title, std::initializer_list<std::pair<const char*, const char*>> terms) {
  std::string section = ".SH " + title + "\n";
  for (const auto& [term, explanation] : terms) section += ".TP\n.B " + plain(term) + "\n" + plain(explanation) + "\n";
  return section;
}

std::string manual_end() {
  return manual_terms(
             "EXIT STATUS",
             {{"0", "Success."},
              {"1",
               "A user error: a wrong option, a missing file, an unavailable device. `ridge check accuracy` found an "
               "error "
               "above the gate. One line on standard error says what is needed."},
              {"2", "A defect of ridge, or a wrong result found by `ridge check`."},
              {"128+N", "Ended by signal N, after temporary files were removed: 130 for SIGINT, 143 for SIGTERM."}}) +
         manual_terms(
             "ENVIRONMENT",
             {{"RIDGE_DEVICE", "Device for commands without --device: host, opencl:0, opencl:pocl, cuda:0, best."},
              {"RIDGE_DEVICE_MEMORY",
               "Device memory that may be used, e.g. 4G; larger host arrays are computed in panels."},
              {"RIDGE_BACKENDS", "Back ends to look for, comma-separated: host, opencl, cuda."},
              {"RIDGE_THREADS", "Threads on the host. Default: all cores that the process may use."},
              {"RIDGE_PIN, RIDGE_NO_PIN", "1: pin threads to cores, or never do so."},
              {"RIDGE_NO_SPIN", "1: threads without work sleep at once, for machines that are busy otherwise."},
              {"RIDGE_CACHE_DIR", "Folder of the machine profile, wisdom and compiled kernels."},
              {"RIDGE_PROFILE", "File of the machine profile. A file that holds something else is not overwritten."},
              {"RIDGE_WISDOM", "File of the wisdom. A file that holds something else is not overwritten."},
              {"RIDGE_LIMITS", "JSON file of reduced device limits, for tests."},
              {"RIDGE_VERIFY",
               "1: plans compare each variant with a reference before it may win. strict: a wrong variant "
               "is an error."},
              {"RIDGE_IMPROVE",
               "next_time: quick plans are measured in the background for later processes. now: this process uses the "
               "better plan too. Default: never."},
              {"RIDGE_CHECK", "1: guard zones around buffers and new memory filled with NaN, to find defects. Slow."},
              {"RIDGE_SIMD", "Widest instruction set on the host: sse4, avx2, avx512, neon, fcma."},
              {"RIDGE_COMPILE_CACHE",
               "off: compile every kernel again. all: also cache kernels that PoCL caches itself."},
              {"RIDGE_KERNELS", "File of kernels compiled ahead (ridge kernels). off: none."},
              {"RIDGE_SHIPPED_WISDOM", "File of choices measured by packagers (ridge wisdom ship). off: none."},
              {"RIDGE_STATUS", "File to which capture, channelize and search write their state, for ridge run."},
              {"RIDGE_FFTW_TRACE", "File to which the FFTW drop-in appends a line per plan."},
              {"XDG_CACHE_HOME, HOME", "Location of the cache folder without RIDGE_CACHE_DIR."}}) +
         manual_terms("FILES", {{"~/.cache/ridge/machine-*.json", "Measured profile of this machine (ridge machine)."},
                                {"~/.cache/ridge/wisdom.json", "Measured choices of the planner (ridge wisdom)."},
                                {"~/.cache/ridge/kernels/", "Compiled device kernels."}});
}

std::string manual(const CLI::App& program) {
  std::string page = fmt::format(
      ".\\\" Made by `ridge manual` from the --help texts.\n.TH RIDGE 1 \"\" \"ridge {}\" \"User Commands\"\n.SH NAME\n"
      "ridge \\- regular, heavy computations close to the limit of the machine\n.SH SYNOPSIS\n.B ridge\n"
      "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n",
      plain(program.version()), plain(program.get_description()));
  page += manual_footer(program) + ".SH OPTIONS\n" + manual_options(program) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(program)) {
    walk(*command, "ridge " + command->get_name(), [&](const CLI::App& app, const std::string& path) {
      page +=
          ".SS " + plain(path) + "\n" + plain(app.get_description()) + "\n" + manual_options(app) + manual_footer(app);
    });
  }
  return page + manual_end();
}

// --- the table of options -------------------------------------------------------------------------------------------

// Every command with its options as JSON, for other programs and for tests over all options.
base::Json table(const CLI::App& program) {
  base::Json commands = base::Json::array();
  walk(program, "ridge", [&](const CLI::App& app, const std::string& path) {
    base::Json options = base::Json::array();
    for (const CLI::Option* option : options_of(app)) {
      options.push_back({{"names", option->nonpositional() ? names_of(*option) : std::vector{option->get_name()}},
                         {"positional", !option->nonpositional()},
                         {"required", option->get_required()},
                         {"takes_value", takes_value(*option)},
                         {"value", option->get_type_name()},
                         {"words", words_of(*option)},
                         {"default", option->get_default_str()},
                         {"file", file_use(*option)},
                         {"help", option->get_description()}});
    }
    commands.push_back({{"command", path},
                        {"about", app.get_description()},
                        {"needs_subcommand", app.get_require_subcommand_min() > 0},
                        {"options", options}});
  });
  return commands;
}

// --- completion -----------------------------------------------------------------------------------------------------

constexpr const char* kDevices = "ridge devices 2>/dev/null | grep -oE '(host|opencl:[0-9]+|cuda:[0-9]+)' | sort -u";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string bash(const CLI::App& program) {
  std::string commands, values;
  walk(program, "ridge", [&](const CLI::App& app, const std::string& path) {
    std::vector<std::string> words;
    for (const CLI::App* command : commands_of(app)) words.push_back(command->get_name());
    const std::string subcommands = joined(words);
    std::vector<std::string> options;
    for (const CLI::Option* option : options_of(app)) {
      for (const std::string& name : names_of(*option)) options.push_back(name);
      if (!takes_value(*option) || names_of(*option).empty()) continue;
      std::string of_each;
      for (const std::string& name : names_of(*option))
        of_each += (of_each.empty() ? "'" : "|'") + path + " " + name + "'";
      if (!words_of(*option).empty()) {
        values += fmt::format("    {}) words='{}' ;;\n", of_each, joined(words_of(*option)));
      } else if (takes_device(*option)) {
        values += fmt::format("    {}) words=\"best $({})\" ;;\n", of_each, kDevices);
      } else {
        values += fmt::format("    {}) files=1 ;;\n", of_each);
      }
    }
    commands += fmt::format("    '{}') commands='{}' options='{}' ;;\n", path, subcommands, joined(options));
  });
  return "# Completion of ridge for bash; made by `ridge completion bash`.\n"
         "_ridge() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path=ridge i\n"
         "  local commands options words= files=\n"
         "  _ridge_at() {\n    case $1 in\n" +
         commands +
         "    *) return 1 ;;\n    esac\n  }\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    _ridge_at \"$path ${COMP_WORDS[i]}\" && path+=\" ${COMP_WORDS[i]}\"\n"
         "  done\n"
         "  _ridge_at \"$path\"\n"
         "  case \"$path $before\" in\n" +
         values +
         "  esac\n"
         "  if [[ $files ]]; then\n    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  elif [[ $words ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  else\n    COMPREPLY=($(compgen -W \"$commands\" -f -- \"$word\"))\n  fi\n"
         "}\n"
         "complete -o filenames -F _ridge ridge\n";
}

std::string quoted(const std::string& text) { return replaced(text, "'", "'\\''"); }
// Escapes text for the specifications of _arguments and _describe.
std::string for_zsh(const std::string& text) {
  return quoted(replaced(replaced(replaced(replaced(text, "\\", "\\\\"), ":", "\\:"), "[", "\\["), "]", "\\]"));
}

std::string function_name(const std::string& path) { return "_" + replaced(replaced(path, " ", "__"), "-", "_"); }

std::string zsh(const CLI::App& program) {
  std::string text = "#compdef ridge\n# Completion of ridge for zsh; made by `ridge completion zsh`.\n";
  walk(program, "ridge", [&](const CLI::App& app, const std::string& path) {
    text += function_name(path) + "() {\n  local -a commands\n  commands=(\n";
    for (const CLI::App* command : commands_of(app)) {
      text += fmt::format("    '{}:{}'\n", command->get_name(), for_zsh(first_line(command->get_description())));
    }
    text += "  )\n  _arguments -C \\\n";
    for (const CLI::Option* option : options_of(app)) {
      for (const std::string& name : names_of(*option)) {
        std::string action;
        if (takes_value(*option)) {
          action = ":value:";
          if (!words_of(*option).empty()) {
            action += "(" + joined(words_of(*option)) + ")";
          } else if (takes_device(*option)) {
            action += fmt::format("($({}))", quoted(kDevices));
          } else {
            action += "_files";
          }
        }
        text += fmt::format("    '{}[{}]{}' \\\n", name, for_zsh(first_line(option->get_description())), action);
      }
    }
    if (commands_of(app).empty()) {
      text += "    '*:file:_files'\n}\n";
      return;
    }
    text +=
        "    '1: :->command' '*:: :->rest'\n  case $state in\n    command) _describe command commands; _files ;;\n"
        "    rest)\n      case $words[1] in\n";
    for (const CLI::App* command : commands_of(app)) {
      text += fmt::format("        {}) {} ;;\n", command->get_name(), function_name(path + " " + command->get_name()));
    }
    text += "        *) _files ;;\n      esac ;;\n  esac\n}\n";
  });
  return text + "if [[ $funcstack[1] == _ridge ]]; then _ridge \"$@\"; else compdef _ridge ridge; fi\n";
}

std::string fish(const CLI::App& program) {
  std::string text = "# Completion of ridge for fish; made by `ridge completion fish`.\n";
  const auto described = [](const std::string& about) {
    return "'" + replaced(replaced(first_line(about), "\\", "\\\\"), "'", "\\'") + "'";
  };
  walk(program, "", [&](const CLI::App& app, const std::string& path) {
    std::string condition = "__fish_use_subcommand";
    if (!path.empty()) {
      condition.clear();
      for (const std::string& word : CLI::detail::split(path.substr(1), ' ')) {
        condition += (condition.empty() ? "" : "; and ") + fmt::format("__fish_seen_subcommand_from {}", word);
      }
    }
    for (const CLI::App* command : commands_of(app)) {
      text += fmt::format("complete -c ridge -n '{}' -a {} -d {}\n", condition, command->get_name(),
                          described(command->get_description()));
    }
    for (const CLI::Option* option : options_of(app)) {
      for (const std::string& name : names_of(*option)) {
        text += fmt::format("complete -c ridge -n '{}' {} {}", condition, name.starts_with("--") ? "-l" : "-s",
                            name.substr(name.starts_with("--") ? 2 : 1));
        if (takes_value(*option)) {
          text += " -r";
          if (!words_of(*option).empty()) text += fmt::format(" -f -a '{}'", joined(words_of(*option)));
          if (words_of(*option).empty() && takes_device(*option)) {
            text += fmt::format(" -f -a '({})'", replaced(kDevices, "'", "\\'"));
          }
        }
        text += " -d " + described(option->get_description()) + "\n";
      }
    }
  });
  return text;
}

}  // namespace

void add_reference(CLI::App& program) {
  constexpr const char* kGroup = "This command";
  CLI::App* const completion = program.add_subcommand("completion", "Print the completion script for a shell");
  completion->group(kGroup);
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer(
      "\nExamples:\n"
      "  source <(ridge completion bash)                                    in this shell\n"
      "  ridge completion zsh > ~/.zfunc/_ridge                             a folder of $fpath\n"
      "  ridge completion fish > ~/.config/fish/completions/ridge.fish");
  completion->callback([&program, shell] {
    fmt::print("{}", *shell == "bash" ? bash(program) : *shell == "zsh" ? zsh(program) : fish(program));
  });
  CLI::App* const page = program.add_subcommand("manual", "Print the manual page");
  page->group(kGroup);
  page->footer("\nExamples:\n  ridge manual | man -l -\n  ridge manual > ridge.1");
  auto json = std::make_shared<bool>(false);
  page->add_flag("--json", *json, "Print every command and its options as JSON instead");
  page->callback([&program, json] { fmt::print("{}", *json ? table(program).dump(1) + "\n" : manual(program)); });
}

}  // namespace ridge::cli

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/command.hpp"

namespace {

constexpr const char* kAbout =
    "Ridgeline runs regular, heavy computations close to the limit of the machine it finds,\n"
    "and says how close and which limit binds.";

constexpr const char* kFooter = R"(
First steps:
  ridge tour                     measure this machine, run each workload on each device, write report.html
  ridge devices                  what there is to compute on, and what is missing and why
  ridge machine                  ceilings and rooflines, measured once and saved
  ridge fft in.npy out.npy       Fourier transforms of files and pipes
  ridge sar --png scene.png      focus simulated radar echoes, measure the points, report the rate
  ridge size --rate 1555         how many machines keep up with so many frames a second
  ridge stencil heat --demo --every 200 --png frames    heat, waves, gas flows on grids, with pictures
  ridge channelize in out        filter banks over files and pipes
  ridge bench fft                transforms of every length, beside other libraries
  ridge bench stencil            stencils against the memory roof and a plain loop
  ridge bench transpose          every variant of the corner turn against the copy bandwidth

Devices are named host, opencl:0, opencl:pocl, cuda:0 or best; RIDGE_DEVICE sets the default.
Every command has its own --help. The exit code is 0, 1 for a mistake of the caller's, 2 for one of ours.)";

// CLI11 only says that a subcommand is missing; a person wants to know which word was not understood.
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
    if (next == nullptr && app->get_require_subcommand_min() == 0) return "";  // it may be a file
    if (next == nullptr)
      return fmt::format("{} has no command \"{}\"; there are {}", app->get_name(), values[i], names);
    app = next;
  }
  return "";
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "ridge: {}\n", message);
  return code;
}

}  // namespace

int main(int count, char** values) {
  CLI::App program{kAbout, "ridge"};
  program.footer(kFooter);
  program.require_subcommand(1);
  program.set_version_flag("--version", RIDGE_VERSION);
  try {
    ridge::cli::add_tour(program);
    ridge::cli::add_devices(program);
    ridge::cli::add_machine(program);
    ridge::cli::add_bench(program);
    ridge::cli::add_fft(program);
    ridge::cli::add_sar(program);
    ridge::cli::add_size(program);
    ridge::cli::add_stencil(program);
    ridge::cli::add_channelize(program);
    ridge::cli::add_check(program);
    ridge::cli::add_wisdom(program);
    if (count == 1) {
      fmt::print("{}", program.help());
      return 0;
    }
    if (const std::string unknown = unknown_command(program, count, values); !unknown.empty()) return fail(1, unknown);
    program.parse(count, values);
    return 0;
  } catch (const CLI::Success& success) {  // --help and --version
    return program.exit(success);
  } catch (const CLI::RuntimeError& verdict) {  // a check that failed and has said why
    return verdict.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return fail(
        1,
        fmt::format("{} (see {} --help)", error.what(),
                    program.get_subcommands().empty() ? "ridge" : "ridge " + program.get_subcommands()[0]->get_name()));
  } catch (const ridge::Error& error) {
    return fail(error.callers_mistake() ? 1 : 2, error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, "not enough memory on this machine for that");
  } catch (const std::exception& error) {
    return fail(2, fmt::format("unexpected failure: {}", error.what()));
  }
}

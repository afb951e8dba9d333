// ridge machine: measures or loads the machine profile and prints it.
#include <memory>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/machine/machine.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "machine/profile.hpp"

namespace ridge::cli {

machine::Profile profile_or_measure(const ProfileOptions& options, ProfileSource* how) {
  if (!options.refresh) {
    // A saved quick profile is sufficient only for --quick.
    if (auto saved = machine::load(); saved && (saved->studies || options.quick)) {
      if (how != nullptr) *how = ProfileSource::saved;
      return *std::move(saved);
    }
  }
  machine::MeasureOptions measuring;
  measuring.progress = base::terminal_progress();
  measuring.studies = !options.quick;
  if (options.quick) measuring.seconds = 10;
  machine::Profile profile = machine::measure(measuring);
  measuring.progress(1, "");
  if (options.force && !profile.doubts.empty()) {
    base::warn(fmt::format("--force: saved although {}", profile.doubts.back()));
    profile.doubts.clear();
  }
  const bool saved = machine::save(profile);
  if (how != nullptr) *how = saved ? ProfileSource::measured : ProfileSource::not_saved;
  return profile;
}

namespace {

struct Options {
  ProfileOptions profile;
  bool json = false, roofline = false;
  std::string svg, study;
};

void run(const Options& options) {
  if (!options.study.empty()) return run_core_study(options.study);
  const double start = base::now();
  if (const std::string kept = machine::kept_file(); !kept.empty())
    mistake(kept);  // checked before a minute of measuring
  ProfileSource how{};
  const machine::Profile profile = profile_or_measure(options.profile, &how);
  if (options.json) {
    fmt::print("{}\n", machine::to_json(profile));
  } else {
    fmt::print("{}", machine::to_text(profile));
    const std::string time = base::human_seconds(base::now() - start);
    if (how == ProfileSource::saved) fmt::print("read in {}; measure again with --refresh\n", time);
    if (how == ProfileSource::measured) fmt::print("measured and saved in {}; {}\n", time, machine::path());
    if (how == ProfileSource::not_saved) fmt::print("measured in {}; not saved\n", time);
  }
  for (const auto& device : profile.devices) {
    const machine::Roofline roofline = machine::roofline(device);
    if (options.roofline) fmt::print("\n{}", machine::to_text(roofline));
    if (options.svg.empty()) continue;
    std::string name = device.id;
    for (char& c : name) c = c == ':' ? '-' : c;
    const std::string path = fmt::format("{}-{}.svg", options.svg, name);
    base::write_file(path, machine::to_svg(roofline));
    fmt::print(stderr, "wrote {}\n", path);
  }
}

}  // namespace

void add_machine(Command& program) {
  Command& command =
      program.subcommand("machine", "Devices, ceilings and rooflines of this machine, measured once and saved");
  auto options = std::make_shared<Options>();
  command.flag("--refresh", options->profile.refresh, "Measure again even if a saved profile exists (up to a minute)");
  command.flag("--quick", options->profile.quick,
               "Measure ceilings only, without the sweeps and studies (about ten seconds)");
  command.flag("--force", options->profile.force,
               "Save the profile even if its figures contradict each other (a busy machine)");
  command.flag("--json", options->json, "Print the whole profile as JSON to standard output");
  command.flag("--roofline", options->roofline, "Draw each device's roofline as text");
  command.option("--svg", options->svg, "Write each device's roofline to PREFIX-<device>.svg").writes_names_with("-");
  command
      .option("--study", options->study,
              "Only run FFTs on chosen cores: hyperthreads, far-cores, temperature, clock (as root) or all")
      .one_of({"hyperthreads", "far-cores", "temperature", "clock", "all"});
  command.footer(
      "\nExamples:\n"
      "  ridge machine                      measures the first time, reads the saved profile later\n"
      "  ridge machine --quick              ceilings only, about ten seconds\n"
      "  ridge machine --roofline           drawn in the terminal\n"
      "  ridge machine --study all          hyperthreads, distance of cores, temperature, clock: FFTs of 1024 points\n"
      "  ridge machine --refresh --svg roof    measure again; roof-host.svg, roof-cuda-0.svg\n"
      "\nThe profile is keyed by the hardware and stored in the cache folder (RIDGE_CACHE_DIR, else ~/.cache/ridge);\n"
      "RIDGE_PROFILE names another file. Planners use it for predictions; it is never measured implicitly.\n"
      "A profile is not saved if its figures contradict each other, if repeated runs differ by more than a quarter, or "
      "if\n"
      "other processes used more than a fifth of the CPUs during the measurement; --force saves it nevertheless.");
  command.runs([options] { run(*options); });
}

}  // namespace ridge::cli

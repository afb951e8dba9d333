// ridge tour: measures this machine and writes an HTML report; a first version within half a minute.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/machine/machine.hpp"
#include "cli/tour/cases.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "report/overview.hpp"

namespace ridge::cli {
namespace {

constexpr double kFirstPageSeconds = 20;  // cases of the first pass start within this time
constexpr double kBetweenPages = 5;       // minimum seconds between updates of the page

struct TourOptions {
  ProfileOptions profile;
  std::string out = "report.html";
};

std::string title() {
  const auto& all = devices().devices;
  const DeviceInfo& host = all.front().info();
  std::string text =
      fmt::format("{}, {} core{}", host.name, host.limits.compute_units, host.limits.compute_units == 1 ? "" : "s");
  for (const Device& device : all) {
    if (device.info().backend == Backend::cuda) text += " and " + device.info().name;
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> facts(const DeviceInfo& info) {
  std::vector<std::pair<std::string, std::string>> list{
      {"instruction set", info.isa},
      {"compute units", fmt::to_string(info.limits.compute_units)},
      {"memory", base::human_bytes(static_cast<double>(info.limits.memory))},
      {"driver", info.driver}};
  if (info.backend != Backend::host) {
    list.emplace_back("work-group", fmt::format("{} items", info.limits.work_group));
    list.emplace_back("local memory", base::human_bytes(static_cast<double>(info.limits.local_memory)));
  }
  return list;
}

class Tour {
 public:
  explicit Tour(const TourOptions& options)
      : options_(options), json_(std::filesystem::path(options.out).replace_extension(".json")) {
    page_.title = title();
    page_.notes = devices().notes;
    page_.benches = tour_benches();
  }

  void run() {
    const auto saved = options_.profile.refresh ? std::nullopt : machine::load();
    if (!options_.profile.quick && !(saved && saved->studies)) first_look();
    take_profile(profile_or_measure(options_.profile));
    const auto cases = tour_cases(devices().devices, options_.profile.quick);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      page_.pending.clear();
      for (std::size_t later = i + 1; later < cases.size(); ++later) page_.pending.push_back(words(cases[later]));
      measure(cases[i], static_cast<double>(i) / static_cast<double>(cases.size()));
      if (base::now() - published_ > kBetweenPages && i + 1 < cases.size()) publish();
    }
    if (auto picture = tour_picture()) page_.benches[2].illustrations.push_back(std::move(*picture));
    if (auto picture = tour_flow_picture()) page_.benches[4].illustrations.push_back(std::move(*picture));
    progress_(1, "");
    publish();
    fmt::print("{}\n{}", page_.title, report::overview_text(page_));
    for (const std::string& note : page_.notes) fmt::print("{}\n", note);
    fmt::print("{} and {} written in {}; open the first in a browser\n", options_.out, json_.string(),
               base::human_seconds(base::now() - start_));
  }

 private:
  static std::string words(const TourCase& one) { return one.what + " on " + one.device; }

  // Measures ceilings without the studies and one small problem per workload, within the time limit.
  void first_look() {
    machine::MeasureOptions measuring;
    measuring.progress = base::terminal_progress();
    measuring.studies = false;
    measuring.seconds = 6;
    take_profile(machine::measure(measuring));
    measuring.progress(1, "");
    const auto cases = tour_cases(devices().devices, true);
    std::set<std::pair<std::size_t, std::string>> seen;
    for (std::size_t i = 0; i < cases.size() && base::now() - start_ < kFirstPageSeconds; ++i) {
      if (!seen.insert({cases[i].bench, cases[i].device}).second) continue;
      measure(cases[i], static_cast<double>(i) / static_cast<double>(cases.size()));
    }
    progress_(1, "");
    page_.pending = {"all memory levels, transfers and studies of each device",
                     "all workloads at full size; the figures below are of small problems"};
    publish();
    fmt::print("first page after {}: {}; larger problems are still being measured\n",
               base::human_seconds(base::now() - start_), options_.out);
    std::fflush(stdout);
    for (const report::Bench& bench : page_.benches) {
      for (const report::BenchRow& row : bench.rows) small_.insert({bench.title, row.device});
    }
  }

  void take_profile(const machine::Profile& profile) {
    page_.hardware = profile.hardware;
    page_.measured_at = profile.measured_at;
    page_.seconds_taken = profile.seconds_taken;
    page_.doubts = profile.doubts;
    page_.devices.clear();
    for (const Device& device : devices().devices) {
      if (const auto* found = profile.find(device.id())) page_.devices.push_back({*found, facts(device.info()), {}});
    }
  }

  // Adds the rows of one case; a failing case is skipped with a warning.
  void measure(const TourCase& one, double share) {
    progress_(share, words(one));
    report::Bench& bench = page_.benches[one.bench];
    try {
      const auto rows = one.run();
      // Rows of real size replace those of the first pass.
      if (small_.erase({bench.title, one.device}) > 0) {
        std::erase_if(bench.rows, [&](const report::BenchRow& row) { return row.device == one.device; });
      }
      bench.rows.insert(bench.rows.end(), rows.begin(), rows.end());
    } catch (const Error& error) {
      base::warn(fmt::format("{}: {} left out: {}", one.device, one.what, error.what()));
    }
  }

  void publish() {
    for (auto& section : page_.devices) {
      section.points.clear();
      for (const report::Bench& bench : page_.benches) {
        const auto points = report::points_of(bench.rows, section.profile.id, 1);
        section.points.insert(section.points.end(), points.begin(), points.end());
      }
    }
    base::write_file(options_.out, report::to_html(page_));
    base::write_file(json_, report::to_json(page_));
    published_ = base::now();
  }

  const TourOptions& options_;
  std::filesystem::path json_;
  report::Report page_;
  std::set<std::pair<std::string, std::string>> small_;  // benches and devices whose rows are from the first pass
  base::Progress progress_ = base::terminal_progress();
  double start_ = base::now(), published_ = start_;
};

}  // namespace

void add_tour(Command& program) {
  Command& command =
      program.subcommand("tour", "Measure this machine, run each workload on each device, write an HTML report");
  command.footer(
      "\nExamples:\n"
      "  ridge tour                         report.html: a first page within half a minute, complete in two or three\n"
      "  ridge tour --quick                 small problems only: seconds\n"
      "  ridge tour --refresh --out new.html   measure the machine again\n"
      "\nThe page is updated during the tour and lists what is still being measured; a second tour reuses the\n"
      "machine profile, the plans and the compiled kernels of the first.");
  auto options = std::make_shared<TourOptions>();
  command.option("--out", options->out, "The HTML page; its data are written next to it as .json")
      .shows_default()
      .writes();
  command.flag("--quick", options->profile.quick,
               "Smaller problems and ceilings only: seconds instead of a minute or two");
  command.flag("--refresh", options->profile.refresh, "Measure the machine again even if a saved profile exists");
  command.runs([options] {
    if (options->out.ends_with(".json"))
      mistake("--out names the HTML page; its data are written next to it as .json: give another name");
    Tour(*options).run();
  });
}

}  // namespace ridge::cli

// Benchmark rows as JSON and as text, the summary against other libraries, and warnings about shares above 100 %.
#include "report/bench_rows.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "machine/profile.hpp"

namespace ridge::report {

using base::Json;

namespace {

bool timed(double seconds) { return std::isfinite(seconds) && seconds > 0; }

// JSON has no infinity and no NaN: non-finite values become null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const BenchRow& row) {
  Json peers = Json::object();
  for (const auto& [peer, seconds] : row.peers) peers[peer] = number(seconds);
  Json json{{"problem", row.problem},
            {"device", row.device},
            {"variant", row.variant},
            {"seconds", number(row.seconds)},
            {"gflops", number(row.gflops)},
            {"gbytes_per_s", number(row.gbytes_per_s)},
            {"roof_share", number(row.roof_share)},
            {"peers", std::move(peers)}};
  for (const auto& [name, value] : row.more) json[name] = number(value);
  if (row.chosen) json["chosen"] = true;
  return json;
}

Json json_of(const PeerSummary& summary) {
  return {{"geomean_speedup", summary.geomean_speedup},
          {"worst_speedup", summary.worst_speedup},
          {"worst_problem", summary.worst_problem},
          {"problems", summary.problems}};
}

// True if `row` represents its problem better than `known`: the planner's choice first, then the shorter time.
bool better(const BenchRow& row, const BenchRow& known) {
  if (row.chosen != known.chosen) return row.chosen;
  return timed(row.seconds) && (!timed(known.seconds) || row.seconds < known.seconds);
}

bool beyond_roof(const BenchRow& row) {
  return std::isfinite(row.roof_share) && std::lround(100 * row.roof_share) > 100;
}

// True if the row's ceiling is the copy rate of main memory in the profile (within 1 %).
bool memory_is_roof(const BenchRow& row, const machine::Ceilings& ceilings) {
  const double roof = row.gbytes_per_s * 1e9 / row.roof_share;
  const double copy = std::max(ceilings.memory().all.copy, ceilings.memory().all.copy_streaming);
  return std::abs(roof - copy) <= 0.01 * copy;
}

// Name of the largest cache that holds the bytes a row moves; empty if none does.
std::string cache_of(const BenchRow& row, const machine::Ceilings& ceilings) {
  const double bytes = row.gbytes_per_s * 1e9 * row.seconds;
  for (std::size_t i = ceilings.levels.size() - 1; i-- > 0;) {
    if (bytes <= static_cast<double>(ceilings.levels[i].capacity)) return ceilings.levels[i].name;
  }
  return "";
}

std::string cause_of(const BenchRow& row, const std::optional<machine::Profile>& profile) {
  const machine::DeviceProfile* device = profile ? profile->find(row.device) : nullptr;
  if (device == nullptr || !device->ceilings.measured)
    return "its ceilings are estimates; measure them with `ridge machine`";
  const bool memory = memory_is_roof(row, device->ceilings);
  if (const std::string cache = cache_of(row, device->ceilings); memory && !cache.empty())
    return fmt::format("the data fit in {}, and the roof is that of main memory", cache);
  if (!memory && row.device != "host") return "the roof is a copy timed in the same run, which was slower than usual";
  return fmt::format(
      "the profile of {} is lower than what this machine does now; measure again while it is quiet with `ridge machine "
      "--refresh`",
      profile->measured_at);
}

}  // namespace

std::vector<std::string> roof_warnings(const Bench& bench, const std::optional<machine::Profile>& profile) {
  struct Beyond {
    std::size_t count = 0;
    const BenchRow* most = nullptr;
  };
  std::map<std::string, Beyond> devices;
  for (const BenchRow& row : bench.rows) {
    if (!beyond_roof(row)) continue;
    Beyond& found = devices[row.device];
    ++found.count;
    if (found.most == nullptr || row.roof_share > found.most->roof_share) found.most = &row;
  }
  std::vector<std::string> warnings;
  for (const auto& [device, found] : devices) {
    const BenchRow& row = *found.most;
    warnings.push_back(fmt::format("{}: {} above 100 % of the roof, at most {:.0f} % ({}, {}): {}", device,
                                   found.count == 1 ? "a row is" : fmt::format("{} rows are", found.count),
                                   100 * row.roof_share, row.problem, row.variant,
                                   bench.beyond_roof.empty() ? cause_of(row, profile) : bench.beyond_roof));
  }
  return warnings;
}

std::vector<std::size_t> best_rows(const std::vector<BenchRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::size_t> place;
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [found, first] = place.try_emplace({rows[i].problem, rows[i].device}, best.size());
    if (first) {
      best.push_back(i);
    } else if (better(rows[i], rows[best[found->second]])) {
      best[found->second] = i;
    }
  }
  return best;
}

std::map<std::string, PeerSummary> summarize(const std::vector<BenchRow>& rows) {
  std::map<std::string, PeerSummary> summaries;
  for (const std::size_t i : best_rows(rows)) {
    const BenchRow& row = rows[i];
    for (const auto& [peer, seconds] : row.peers) {
      if (!timed(seconds) || !timed(row.seconds)) continue;
      const double speedup = seconds / row.seconds;
      PeerSummary& summary = summaries[peer];
      summary.geomean_speedup += std::log(speedup);  // sum of logarithms; turned into the mean after the loop
      if (summary.problems == 0 || speedup < summary.worst_speedup) {
        summary.worst_speedup = speedup;
        summary.worst_problem = row.problem + " on " + row.device;
      }
      ++summary.problems;
    }
  }
  for (auto& [peer, summary] : summaries)
    summary.geomean_speedup = std::exp(summary.geomean_speedup / static_cast<double>(summary.problems));
  return summaries;
}

std::vector<machine::Point> points_of(const std::vector<BenchRow>& rows, const std::string& device, std::size_t most) {
  std::vector<std::string> problems;
  std::map<std::string, std::vector<const BenchRow*>> of_problem;
  for (const BenchRow& row : rows) {
    if (row.device != device || !timed(row.seconds)) continue;
    auto& group = of_problem[row.problem];
    if (group.empty()) problems.push_back(row.problem);
    group.push_back(&row);
  }
  std::vector<machine::Point> points;
  for (const std::string& problem : problems) {
    auto& group = of_problem[problem];
    std::stable_sort(group.begin(), group.end(), [](auto* a, auto* b) { return a->seconds < b->seconds; });
    for (std::size_t i = 0; i < group.size(); ++i) {
      const BenchRow& row = *group[i];
      if (i >= most && !row.chosen) continue;
      points.push_back({problem + " " + row.variant, row.gflops * 1e9 * row.seconds,
                        row.gbytes_per_s * 1e9 * row.seconds, row.seconds});
    }
  }
  return points;
}

Json json_of(const Bench& bench) {
  Json rows = Json::array();
  for (const BenchRow& row : bench.rows) rows.push_back(json_of(row));
  Json summary = Json::object();
  for (const auto& [peer, numbers] : summarize(bench.rows)) summary[peer] = json_of(numbers);
  Json json{{"title", bench.title}, {"note", bench.note}, {"rows", std::move(rows)}, {"summary", std::move(summary)}};
  if (!bench.missing_peers.empty()) json["missing_peers"] = bench.missing_peers;
  return json;
}

std::string to_json(const Bench& bench, const Json& machine) {
  Json document{{"machine", machine}};
  document.update(json_of(bench));
  document.erase("title");
  document.erase("note");
  return machine::readable(document);
}

std::string to_text(const Bench& bench) {
  std::set<std::string> peers;
  for (const BenchRow& row : bench.rows) {
    for (const auto& [peer, seconds] : row.peers) peers.insert(peer);
  }
  std::vector<std::vector<std::string>> table{
      {"problem", "device", "variant", "time", "arithmetic", "traffic", "of roof"}};
  for (const std::string& peer : peers) table[0].push_back("vs " + peer);
  for (const BenchRow& row : bench.rows) {
    std::vector<std::string> cells{row.problem,
                                   row.device,
                                   row.variant + (row.chosen ? " *" : ""),
                                   base::human_seconds(row.seconds),
                                   row.gflops > 0 ? base::human_rate(row.gflops * 1e9, "FLOP/s") : "-",
                                   row.gbytes_per_s > 0 ? base::human_rate(row.gbytes_per_s * 1e9, "B/s") : "-",
                                   row.roof_share > 0 ? fmt::format("{:.0f} %", row.roof_share * 100) : "-"};
    for (const std::string& peer : peers) {
      const auto seconds = row.peers.find(peer);
      const bool known = seconds != row.peers.end() && timed(seconds->second) && timed(row.seconds);
      cells.push_back(known ? fmt::format("{:.2f}x", seconds->second / row.seconds) : "-");
    }
    table.push_back(std::move(cells));
  }
  std::string out = base::table(table);
  for (const auto& [peer, summary] : summarize(bench.rows))
    out += fmt::format("against {}: {:.2f}x in the geometric mean of {}, at worst {:.2f}x ({})\n", peer,
                       summary.geomean_speedup, summary.problems, summary.worst_speedup, summary.worst_problem);
  for (const std::string& missing : bench.missing_peers) out += fmt::format("not compared with {}\n", missing);
  return out;
}

}  // namespace ridge::report

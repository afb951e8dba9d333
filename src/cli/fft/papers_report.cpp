// Formats the measurements of `ridge fft papers` as text, Markdown and JSON.
#include "cli/fft/papers_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/text.hpp"
#include "papers/fft/device/published.hpp"

namespace ridge::cli {
namespace {

using namespace fft::papers;

std::string number(double value, int digits = 2) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
}

// Three digits, for values from 0.05 to some thousands.
std::string factor(double value) { return number(value, value < 10 ? 2 : value < 100 ? 1 : 0); }

std::string micro(double seconds) { return seconds > 0 ? fmt::format("{:.4g}", seconds * 1e6) : std::string("-"); }

std::string series_text(const PaperSeries& series) {
  const std::string groups = fmt::format("groups of {}", group_limits(series.device.limits).items());
  if (series.platform == "own") return fmt::format("{}, {}, {}", series.device.id, series.device.name, groups);
  return fmt::format("{}, {}, emulating {} ({})", series.device.id, series.device.name, series.platform, groups);
}

// The paper's platform to compare a series with: the emulated one, otherwise the one with the same work-group size.
std::string beside(const PaperSeries& series) {
  if (series.platform != "own") return series.platform;
  for (const Platform& platform : platforms()) {
    if (platform.work_group == group_limits(series.device.limits).items() && platform.units == 0) return platform.name;
  }
  return "nvidia";
}

Figures figures_of(const PaperLength& length, const VariantTimes& variant) {
  return figures(length.cpu.radix2, variant.times, length.times.of("A").times);
}

PaperTable winners_table(const PaperSeries& series) {
  const std::string paper = beside(series);
  PaperTable table{
      fmt::format("Which variant wins: {}", series_text(series)),
      fmt::format("K1, K2, K2^, K3, %K against the paper's sequential radix 2 on one core of this host, bit "
                  "reversal by table; `law`: K2^ predicted from the next shorter length by the composition "
                  "law; K2 against Ridgeline's FFT on all cores, and FFTW on one; last, the paper's {}.",
                  paper),
      {{"N", "wins", "K1", "K2", "K2^", "K3", "%K", "law K2^", "K2 host", "K2 fftw", "paper", "paper K2"}}};
  for (std::size_t i = 0; i < series.lengths.size(); ++i) {
    const PaperLength& length = series.lengths[i];
    const VariantTimes& winner = length.times.variants[length.times.winner];
    const Figures f = figures_of(length, winner);
    const std::string theirs = published_winner(paper, length.times.log_n);
    const auto k2 = theirs.empty() ? std::nullopt : published_k2(paper, theirs, length.times.log_n);
    table.rows.push_back(
        {fmt::format("2^{}", length.times.log_n), winner.plan.variant, factor(f.k1), factor(f.k2), number(f.k2_up),
         number(f.k3), number(100 * f.share, 1), number(law_k2_up(series, i, winner.plan.variant)),
         number(length.cpu.host / winner.times.kernels()), number(length.cpu.fftw / winner.times.kernels()),
         theirs.empty() ? "-" : theirs, k2 ? number(*k2, 1) : "-"});
  }
  return table;
}

PaperTable k2_table(const PaperSeries& series) {
  PaperTable table{fmt::format("K2 of every variant: {}", series_text(series)),
                   "Against the sequential radix 2. A dash: beyond the variant's limit.",
                   {{"N"}}};
  for (const Variant& variant : variants()) table.rows[0].emplace_back(variant.name);
  for (const PaperLength& length : series.lengths) {
    std::vector<std::string> row{fmt::format("2^{}", length.times.log_n)};
    for (const VariantTimes& variant : length.times.variants) {
      row.push_back(variant.plan.refusal.empty() ? factor(figures_of(length, variant).k2) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PaperTable times_table(const PaperSeries& series) {
  PaperTable table{
      fmt::format("Times in microseconds: {}", series_text(series)),
      "One transform. Host: the sequential radix 2, Ridgeline's FFT on all cores, FFTW on one. Part 1 with a table "
      "of reversed indices, with computed ones and in tiles of 16 x 16 points. The kernels of A, of the winner and of "
      "the planner's choice "
      "among both methods of bit reversal (saved as wisdom of \"burtsev\").",
      {{"N", "radix 2", "host", "fftw", "by table", "computed", "tiled", "A", "winner", "chosen", "choice"}}};
  for (const PaperLength& length : series.lengths) {
    const planner::Trial& chosen = length.times.decision.trials[length.times.decision.winner];
    table.rows.push_back({fmt::format("2^{}", length.times.log_n), micro(length.cpu.radix2), micro(length.cpu.host),
                          micro(length.cpu.fftw), micro(length.times.part1_table), micro(length.times.part1_computed),
                          micro(length.times.part1_tiled), micro(length.times.of("A").times.kernels()),
                          micro(length.times.variants[length.times.winner].times.kernels()),
                          micro(chosen.measured_seconds), chosen.name.substr(std::string(kFamily).size() + 1)});
  }
  return table;
}

// The thesis's GFLOP/s of one unit at 1024 points.
std::string thesis(const UnitRow& row) {
  if (row.length != 1024) return "-";
  static const std::map<std::size_t, const char*> kPublished{{1024, "2"}, {2, "2"}, {4, "3.5"}, {8, "8"}};
  const auto found = kPublished.find(row.p);
  return found == kPublished.end() ? "-" : found->second;
}

// Prediction of the thesis's capacity model for its two machines.
std::string capacity_text(const std::string& name) {
  if (name == "own" || platform(name).capacity.registers == 0) return {};
  const UnitCapacity& unit = platform(name).capacity;
  return fmt::format(" The capacity model for {}: {} registers per work-item, so p = {}; N up to {} in local memory.",
                     name, registers_per_item(unit), points_per_item(unit), longest_in_local_memory(unit));
}

PaperTable units_table(const UnitSeries& series) {
  PaperTable table{
      fmt::format("One FFT per unit: {}, {}{}", series.device.id, series.device.name,
                  series.platform == "own" ? "" : ", emulating " + series.platform),
      "GFLOP/s by 5 N log2 N, data resident. Rcc: fused multiply-adds per word exchanged through local memory. "
      "Units: work-groups that divide the transforms, each with one at a time (`free`: one group per "
      "transform). Thesis: GFLOP/s of one unit of the HD 4000." +
          capacity_text(series.platform),
      {{"N", "p", "items", "radices", "twiddles", "Rcc", "units", "GFLOP/s", "a unit", "thesis"}}};
  for (const UnitRow& row : series.rows) {
    table.rows.push_back({fmt::to_string(row.length), row.p == row.length ? "registers" : fmt::to_string(row.p),
                          fmt::to_string(row.items), row.radices, row.twiddles,
                          std::isfinite(row.rcc) ? number(row.rcc) : "-",
                          row.units == 0 ? "free" : fmt::to_string(row.units), fmt::format("{:.4g}", row.gflops),
                          row.units == 0 ? "-" : number(row.gflops / static_cast<double>(row.units)), thesis(row)});
  }
  return table;
}

base::Json variant_json(const PaperSeries& series, std::size_t at, const VariantTimes& variant) {
  const PaperLength& length = series.lengths[at];
  base::Json json{{"variant", variant.plan.variant}};
  if (!variant.plan.refusal.empty()) {
    json["refusal"] = variant.plan.refusal;
    return json;
  }
  const Figures f = figures_of(length, variant);
  json["stages"] = variant.plan.stages_text();
  json["seconds"] = {{"part1", variant.times.part1},
                     {"part2", variant.times.part2},
                     {"total", variant.times.total},
                     {"with_computed_reversal", variant.computed},
                     {"runs", variant.runs}};
  json["K1"] = f.k1;
  json["K2"] = f.k2;
  json["K2^"] = f.k2_up;
  json["K3"] = f.k3;
  json["%K"] = 100 * f.share;
  if (const double law = law_k2_up(series, at, variant.plan.variant); law > 0) json["law_K2^"] = law;
  if (const auto paper = published_k2(beside(series), variant.plan.variant, length.times.log_n)) {
    json["paper_K2"] = *paper;
  }
  return json;
}

}  // namespace

double law_k2_up(const PaperSeries& series, std::size_t length, const std::string& variant) {
  const StagePlan& longer = series.lengths[length].times.of(variant).plan;
  for (std::size_t i = length; i-- > 0;) {
    const LengthTimes& shorter = series.lengths[i].times;
    if (shorter.log_n >= longer.log_n) continue;
    const VariantTimes& times = shorter.of(variant);
    if (!times.plan.refusal.empty()) continue;
    const ShortMeasurement measured{.plan = times.plan,
                                    .a_part1 = shorter.of("A").times.part1,
                                    .a_part2 = shorter.of("A").times.part2,
                                    .part1 = times.times.part1,
                                    .runs = times.runs};
    if (const double predicted = predicted_k2_up(measured, longer); predicted > 0) return predicted;
  }
  return 0;
}

std::vector<PaperTable> paper_tables(const PaperReport& report) {
  std::vector<PaperTable> tables;
  for (const PaperSeries& series : report.series) {
    tables.push_back(winners_table(series));
    tables.push_back(k2_table(series));
    tables.push_back(times_table(series));
  }
  for (const UnitSeries& series : report.units) tables.push_back(units_table(series));
  return tables;
}

std::string to_text(const std::vector<PaperTable>& tables) {
  std::string text;
  for (const PaperTable& table : tables) {
    text += fmt::format("{}\n{}\n{}\n", table.title, table.note, base::table(table.rows));
  }
  return text;
}

std::string to_markdown(const std::vector<PaperTable>& tables) {
  std::string text;
  for (const PaperTable& table : tables) {
    text += fmt::format("### {}\n\n{}\n\n", table.title, table.note);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      for (const std::string& cell : table.rows[i]) text += "| " + cell + " ";
      text += "|\n";
      if (i > 0) continue;
      for (std::size_t k = 0; k < table.rows[i].size(); ++k) text += "|---";
      text += "|\n";
    }
    text += "\n";
  }
  return text;
}

base::Json to_json(const PaperReport& report) {
  base::Json json{{"series", base::Json::array()}, {"units", base::Json::array()}};
  for (const PaperSeries& series : report.series) {
    base::Json one{{"device", series.device.id},  {"name", series.device.name},
                   {"platform", series.platform}, {"work_group", group_limits(series.device.limits).items()},
                   {"beside", beside(series)},    {"lengths", base::Json::array()}};
    for (std::size_t i = 0; i < series.lengths.size(); ++i) {
      const PaperLength& length = series.lengths[i];
      base::Json row{{"log2_n", length.times.log_n},
                     {"cpu_seconds", {{"radix2", length.cpu.radix2}, {"host", length.cpu.host}}},
                     {"part1_seconds",
                      {{"table", length.times.part1_table},
                       {"computed", length.times.part1_computed},
                       {"tiled", length.times.part1_tiled}}},
                     {"winner", length.times.variants[length.times.winner].plan.variant},
                     {"chosen", length.times.decision.trials[length.times.decision.winner].name},
                     {"paper_winner", published_winner(beside(series), length.times.log_n)},
                     {"variants", base::Json::array()}};
      if (length.cpu.fftw > 0) row["cpu_seconds"]["fftw"] = length.cpu.fftw;
      for (const VariantTimes& variant : length.times.variants) {
        row["variants"].push_back(variant_json(series, i, variant));
      }
      one["lengths"].push_back(std::move(row));
    }
    json["series"].push_back(std::move(one));
  }
  for (const UnitSeries& series : report.units) {
    base::Json one{{"device", series.device.id},
                   {"name", series.device.name},
                   {"platform", series.platform},
                   {"rows", base::Json::array()}};
    for (const UnitRow& row : series.rows) {
      one["rows"].push_back({{"length", row.length},
                             {"p", row.p},
                             {"items", row.items},
                             {"radices", row.radices},
                             {"twiddles", row.twiddles},
                             {"units", row.units},
                             {"gflops", row.gflops}});
      if (std::isfinite(row.rcc)) one["rows"].back()["rcc"] = row.rcc;
    }
    json["units"].push_back(std::move(one));
  }
  return json;
}

}  // namespace ridge::cli

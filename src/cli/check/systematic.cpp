// Runs all FFTs up to a length, or those listed in a file, and writes the HTML page of outcomes.
#include "cli/check/systematic.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/svg.hpp"
#include "check/systematic.hpp"
#include "command/command.hpp"
#include "command/output_folder.hpp"
#include "report/page_parts.hpp"

namespace ridge::cli {
namespace {

using base::svg::escape;

struct CellCounts {
  std::size_t right = 0, wrong = 0, refused = 0;
  void add(const check::Outcome& outcome) {
    ++(!outcome.wrong.empty() ? wrong : !outcome.refused.empty() ? refused : right);
  }
  std::string text() const { return fmt::format("{} right, {} refused, {} wrong", right, refused, wrong); }
};

CellCounts counted(const std::vector<check::SystematicRow>& rows) {
  CellCounts counts;
  for (const check::SystematicRow& row : rows) {
    for (const check::SystematicCell& cell : row.cells) counts.add(cell.outcome);
  }
  return counts;
}

// A cell has a colour and a character, for readers who do not distinguish red and green.
std::string cell_html(const check::SystematicCell& cell) {
  const check::Outcome& o = cell.outcome;
  const char* const kind = !o.wrong.empty() ? "wrong" : !o.refused.empty() ? "refused" : "right";
  const char* const sign = !o.wrong.empty() ? "✕" : !o.refused.empty() ? "–" : "";
  const std::string& why = !o.wrong.empty() ? o.wrong : o.refused;
  return fmt::format("<td class=\"{}\" title=\"{}{}{}\">{}</td>", kind, escape(cell.problem), why.empty() ? "" : ": ",
                     escape(why), sign);
}

std::string page_of(const std::string& device, std::size_t most, const std::vector<check::SystematicRow>& rows) {
  const std::string title = fmt::format("Transforms of 1 to {} points on {}", most, device);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{} – Ridgeline</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{}"
      "table.cells{{width:auto;font-size:11px}}table.cells th{{padding:1px 6px 1px 0;border:0}}"
      "table.cells td{{width:9px;height:14px;padding:0;border:1px solid var(--surface);text-align:center}}"
      "td.right{{background:#2f9e57}}td.wrong{{background:#c92a2a;color:#fff}}td.refused{{background:var(--grid)}}"
      "</style>\n</head>\n<body>\n<div class=\"wrap\">\n<header class=\"top\"><div class=\"mark\">Ridgeline</div>\n"
      "<h1>{}</h1>\n<div class=\"meta\">{}. Columns are the lengths n, starting at 1; a cell's text names the problem "
      "as "
      "ridge check --problems reads it.</div></header>\n<section class=\"card\"><div class=\"scroll\">\n"
      "<table class=\"cells\">\n",
      escape(title), base::svg::style(), report::page_style(), escape(title), counted(rows).text());
  for (const check::SystematicRow& row : rows) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", escape(row.name));
    for (const check::SystematicCell& cell : row.cells) out += cell_html(cell);
    out += "</tr>\n";
  }
  return out + "</table></div></section>\n</div>\n</body>\n</html>\n";
}

void print_wrong(const check::SystematicCell& cell) {
  if (!cell.outcome.wrong.empty()) fmt::print("{}\n  WRONG: {}\n", cell.problem, cell.outcome.wrong);
}

}  // namespace

void check_systematically(const Device& device, std::size_t most, const std::string& page) {
  if (!page.empty()) check_output("--page", page);
  const auto rows = check::check_systematically(device, most, base::terminal_progress());
  for (const check::SystematicRow& row : rows) {
    for (const check::SystematicCell& cell : row.cells) print_wrong(cell);
  }
  if (!page.empty()) base::write_file(page, page_of(device.id(), most, rows));
  const CellCounts counts = counted(rows);
  fmt::print("{}: lengths 1 to {}: {}\n", device.id(), most, counts.text());
  if (counts.wrong > 0) throw ExitWith{2};
}

void check_file(const Device& device, const std::string& path) {
  CellCounts counts;
  for (const check::SystematicCell& cell :
       check::check_problems(device, check::read_problems(path), base::terminal_progress())) {
    print_wrong(cell);
    if (!cell.outcome.refused.empty()) fmt::print("{}\n  refused: {}\n", cell.problem, cell.outcome.refused);
    counts.add(cell.outcome);
  }
  fmt::print("{}: {}: {}\n", device.id(), path, counts.text());
  if (counts.wrong > 0) throw ExitWith{2};
}

}  // namespace ridge::cli

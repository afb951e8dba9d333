// JSON fields of the report.
#include <cctype>

#include "place/program.hpp"
#include "place/report/report.hpp"

namespace ridge::place {

using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CarriedDependence, kind, variable, from_line, to_line, from, to, example, certain)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopVerdict, id, parent, function, line, kind, source, iterator, parallel, placed,
                                   threads, axis, why, not_placed, claim, privates, reductions, reads, writes, scans,
                                   transformed, tried, dependences, begin, end, body)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, file, line, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelReport, name, text, loops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SpineNode, kind, id, depth, line, source, begin, end)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, type, element, kind, constant, length, fields, bytes, is_unsigned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoopRun, loop, function, parent, entries, turns, seconds, own)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FunctionRun, function, line, body, calls, seconds, own)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BranchRun, branch, held, failed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, file, function, result, emit, qualified, source, errors, diagnostics, loops,
                                   notes, assumptions, kernels, spine, parameters, placed, device_part, header,
                                   permuted, reassociates, varies, libm, has_main, run, functions, branches,
                                   run_seconds, readings, judged, enough)

namespace {

// t.placed_cells_() as t.cells_
std::string without_accessors(std::string text) {
  const std::string start = kAccessor;
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    std::size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    const bool field = at > 0 && (text[at - 1] == '.' || text[at - 1] == '>');
    if (field && text.compare(end, 2, "()") == 0) text.erase(end, 2).erase(at, start.size());
  }
  return text;
}

void in_users_words(Json& all) {
  if (all.is_string())
    all = without_accessors(all.get<std::string>());
  else if (all.is_structured())
    for (Json& each : all) in_users_words(each);
}

}  // namespace

Json report_to_json(const Report& report) {
  Json json = report;
  for (const char* part : {"loops", "notes", "assumptions"}) in_users_words(json[part]);
  return json;
}

Report report_from_json(const Json& json) { return json.get<Report>(); }

}  // namespace ridge::place

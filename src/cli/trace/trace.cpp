// ridge trace: prints where the time of a recorded trace went.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/number.hpp"
#include "command/command.hpp"

namespace ridge::cli {
namespace {

struct TraceSpan {
  double begin = 0, end = 0;  // microseconds
  std::string name{}, what{};
};

struct TraceTrack {
  std::string name{};
  std::vector<TraceSpan> spans{};
};

struct Total {
  std::size_t count = 0;
  double seconds = 0, own = 0;  // own: without the spans inside
  double bytes = 0;
};

struct TraceFile {
  std::map<int, TraceTrack> tracks{};
  std::map<std::string, Total> shorts{};
};

[[noreturn]] void not_a_trace(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::io, fmt::format("{}: {}; needs a file written by --trace or RIDGE_TRACE", path, why));
}

base::Json trace_json(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const auto text = base::read_file(path, kMost);
  if (!text) throw Error(ErrorKind::io, fmt::format("{} does not exist", path));
  try {
    return base::parse_json(*text, {.bytes = kMost, .depth = 16, .values = std::size_t{1} << 26});
  } catch (const Error& error) {
    not_a_trace(path, error.what());
  }
}

TraceFile read_trace(const std::string& path) {
  const base::Json json = trace_json(path);
  TraceFile file;
  try {
    if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array())
      not_a_trace(path, "no list \"traceEvents\"");
    for (const base::Json& event : json["traceEvents"]) {
      const std::string phase = event.value("ph", ""), name = one_line(event.value("name", ""));
      const base::Json arguments = event.value("args", base::Json::object());
      const int track = event.value("tid", 0);
      if (phase == "M" && name == "thread_name") {
        file.tracks[track].name = one_line(arguments.value("name", ""));
      } else if (phase == "X") {
        const double begin = event.value("ts", 0.0), length = event.value("dur", 0.0);
        if (!(length >= 0) || !(begin >= 0)) not_a_trace(path, fmt::format("a span \"{}\" of negative length", name));
        file.tracks[track].spans.push_back({begin, begin + length, name, arguments.value("what", "")});
      } else if (phase == "i" && name == "short calls") {
        Total& total = file.shorts[one_line(arguments.value("name", ""))];
        total.count += arguments.value("count", std::size_t{0});
        total.seconds += arguments.value("seconds", 0.0);
      }
    }
  } catch (const nlohmann::json::exception& error) {
    not_a_trace(path, error.what());
  }
  return file;
}

// Sums by name. Spans of a track nest: the parent's own time is its length minus that of its children.
void add_totals(TraceTrack& track, std::map<std::string, Total>& totals) {
  std::sort(track.spans.begin(), track.spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<const TraceSpan*> open;
  for (const TraceSpan& span : track.spans) {
    while (!open.empty() && open.back()->end <= span.begin) open.pop_back();
    const double seconds = (span.end - span.begin) * 1e-6;
    if (!open.empty()) totals[open.back()->name].own -= seconds;
    Total& total = totals[span.name];
    ++total.count;
    total.seconds += seconds;
    total.own += seconds;
    if (std::string_view what = span.what; what.ends_with(" bytes"))
      total.bytes += base::leading_number(what).value_or(0);
    open.push_back(&span);
  }
}

void print_totals(const std::string& title, const std::map<std::string, Total>& totals, double whole,
                  std::size_t rows) {
  std::vector<std::pair<std::string, Total>> sorted(totals.begin(), totals.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.own > b.second.own; });
  if (sorted.size() > rows) sorted.resize(rows);
  fmt::print("{}\n  {:<40} {:>8} {:>12} {:>12} {:>7} {:>9}\n", title, "span", "count", "total ms", "own ms", "share",
             "GB/s");
  for (const auto& [name, total] : sorted) {
    const std::string rate =
        total.bytes > 0 && total.seconds > 0 ? fmt::format("{:.2f}", total.bytes / total.seconds * 1e-9) : "";
    fmt::print("  {:<40} {:>8} {:>12.3f} {:>12.3f} {:>6.1f}% {:>9}\n", name.substr(0, 40), total.count,
               total.seconds * 1e3, total.own * 1e3, whole > 0 ? 100 * total.own / whole : 0, rate);
  }
}

void print_device(TraceTrack& track, std::size_t rows) {
  std::map<std::string, Total> totals;
  add_totals(track, totals);
  double busy = 0, end = 0;
  for (const TraceSpan& span : track.spans) {
    busy += std::max(0.0, span.end - std::max(span.begin, end)) * 1e-6;
    end = std::max(end, span.end);
  }
  const double whole = track.spans.empty() ? 0 : (end - track.spans.front().begin) * 1e-6;
  print_totals(fmt::format("\n{}: busy {:.3f} of {:.3f} ms ({:.1f} %), idle {:.3f} ms", track.name, busy * 1e3,
                           whole * 1e3, whole > 0 ? 100 * busy / whole : 0, (whole - busy) * 1e3),
               totals, whole, rows);
}

bool is_thread(const TraceTrack& track) { return track.name.starts_with("thread "); }

void summarize(const std::string& path, std::size_t rows) {
  TraceFile file = read_trace(path);
  std::map<std::string, Total> totals;
  double first = 1e300, last = 0;
  std::size_t threads = 0, cached = 0, compiled = 0;
  for (auto& [number, track] : file.tracks) {
    for (const TraceSpan& span : track.spans) {
      first = std::min(first, span.begin), last = std::max(last, span.end);
      if (span.name == "compile") ++(span.what.ends_with("from the cache") ? cached : compiled);
    }
    if (!is_thread(track)) continue;
    ++threads;
    add_totals(track, totals);
  }
  if (last == 0 && file.shorts.empty()) return void(fmt::print("{}: no spans\n", path));
  const double whole = last > first ? (last - first) * 1e-6 : 0;
  print_totals(fmt::format("{}: {:.3f} ms, {} threads", path, whole * 1e3, threads), totals, whole, rows);
  for (auto& [number, track] : file.tracks) {
    if (!is_thread(track) && !track.spans.empty()) print_device(track, rows);
  }
  if (compiled + cached > 0) fmt::print("\nkernels: {} compiled, {} from the cache\n", compiled, cached);
  for (const auto& [name, total] : file.shorts) {
    fmt::print("calls below 3 us: {} of \"{}\", {:.3f} ms in all\n", total.count, name, total.seconds * 1e3);
  }
}

}  // namespace

void add_trace(Command& program) {
  Command& command = program.subcommand("trace", "Print where the time of a recorded trace went");
  command.footer(
      "\nExamples:\n"
      "  ridge fft in.npy out.npy --trace out.json      record any command\n"
      "  RIDGE_TRACE=out.json python3 program.py        record any program that uses the library\n"
      "  ridge trace out.json                           threads, device queues, compiled kernels, transfers\n"
      "\n\"own\" is the time of a span without the spans inside it; shares are of the whole recording, so several\n"
      "threads may exceed 100 %. The file opens in https://ui.perfetto.dev and chrome://tracing.");
  struct TraceRequest {
    std::string path{};
    std::size_t rows = 15;
  };
  auto request = std::make_shared<TraceRequest>();
  command.option("trace", request->path, "File written by --trace or RIDGE_TRACE").required().reads();
  command.option("--rows", request->rows, "Rows per table").shows_default().between(1, 10000);
  command.runs([request] { summarize(request->path, request->rows); });
}

}  // namespace ridge::cli

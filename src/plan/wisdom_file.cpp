// Parses and prints the lines of a wisdom file, and bounds their number.
#include "plan/wisdom_file.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::wisdom {
namespace {

using base::Json;

constexpr int kSchema = 1;
constexpr const char* kSchemaField = "ridge wisdom";
constexpr double kLongestSeconds = 1e6;
constexpr double kLatestTime = 1e11;  // seconds since 1970: the year 5138
constexpr const char* kRigors[] = {"estimated", "measured", "patient"};

// An entry that names no rigor was measured.
Rigor rigor_in(const Json& object) {
  if (!object.contains("rigor")) return Rigor::measured;
  const std::string name = base::text_in(object, "rigor");
  for (const Rigor rigor : {Rigor::estimated, Rigor::measured, Rigor::patient}) {
    if (name == kRigors[static_cast<int>(rigor)]) return rigor;
  }
  throw Error(ErrorKind::io, fmt::format("unknown rigor \"{}\": expected estimated, measured or patient", name));
}

Stored stored_from(const Json& object) {
  Stored stored;
  Entry& entry = stored.entry;
  entry.workload = base::text_in(object, "workload");
  entry.problem = base::text_in(object, "problem");
  entry.device = base::text_in(object, "device");
  entry.fingerprint = base::text_in(object, "fingerprint");
  entry.winner = base::text_in(object, "winner");
  entry.seconds = base::number_in(object, "seconds", 0, kLongestSeconds);
  if (object.contains("measured_at"))
    entry.measured_at = static_cast<std::int64_t>(base::number_in(object, "measured_at", 0, kLatestTime));
  entry.pinned = object.contains("pinned");
  stored.version = base::text_in(object, "version");
  stored.rigor = rigor_in(object);
  if ((entry.seconds == 0 && !entry.pinned) || entry.workload.empty() || entry.problem.empty() || entry.winner.empty())
    throw Error(ErrorKind::io, "an entry has an empty field or 0 seconds");
  return stored;
}

std::string line_of(const Stored& stored) {
  const Entry& entry = stored.entry;
  Json object = {{"workload", entry.workload}, {"problem", entry.problem}, {"winner", entry.winner},
                 {"seconds", entry.seconds},   {"device", entry.device},   {"fingerprint", entry.fingerprint},
                 {"version", stored.version}};
  if (entry.measured_at != 0) object["measured_at"] = entry.measured_at;
  if (entry.pinned) object["pinned"] = true;
  if (stored.rigor != Rigor::measured) object["rigor"] = kRigors[static_cast<int>(stored.rigor)];
  // A device name may be invalid UTF-8.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string key_of(const std::string& fingerprint, const std::string& workload, const std::string& problem,
                   const std::string& version) {
  std::string key;
  key.reserve(fingerprint.size() + workload.size() + problem.size() + version.size() + 4);
  for (const std::string* part : {&fingerprint, &workload, &problem, &version}) (key += *part) += '\0';
  return key;
}

std::string key_of(const Entry& entry, const std::string& version) {
  return key_of(entry.fingerprint, entry.workload, entry.problem, version);
}

std::vector<Stored> from_json(const Json& file, std::size_t& skipped) {
  if (base::number_in(file, kSchemaField, 0, 1e9) != kSchema)
    throw Error(ErrorKind::io, fmt::format("needs schema {}", kSchema));
  const auto list = file.find("entries");
  if (list == file.end() || !list->is_array()) throw Error(ErrorKind::io, "the list \"entries\" is missing");
  std::vector<Stored> entries;
  skipped = 0;
  const std::size_t first = list->size() > kMostEntries ? list->size() - kMostEntries : 0;
  for (std::size_t i = first; i < list->size(); ++i) {
    try {
      entries.push_back(stored_from((*list)[i]));
    } catch (const Error&) {
      ++skipped;
    }
  }
  return entries;
}

std::string to_text(const std::vector<Stored>& entries) {
  const std::string head = fmt::format("{{\n\"{}\": {},\n\"entries\": [", kSchemaField, kSchema);
  const std::string tail = "\n]}\n";
  std::vector<std::string> lines;  // newest first, as many as the bounds hold
  std::size_t bytes = head.size() + tail.size();
  for (auto stored = entries.rbegin(); stored != entries.rend() && lines.size() < kMostEntries; ++stored) {
    lines.push_back(line_of(*stored));
    bytes += lines.back().size() + 2;
    if (bytes > kBounds.bytes) {
      lines.pop_back();
      break;
    }
  }
  std::string text = head;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    text += line == lines.rbegin() ? "\n" : ",\n";
    text += *line;
  }
  return text + tail;
}

}  // namespace ridge::wisdom

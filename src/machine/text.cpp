// Prints the profile for a terminal.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/text.hpp"
#include "machine/roofline/roofline.hpp"

namespace ridge::machine {
namespace {

std::string flops(double rate) { return rate > 0 ? base::human_rate(rate, "FLOP/s") : "-"; }
std::string bytes(double rate) { return rate > 0 ? base::human_rate(rate, "B/s") : "-"; }

void add_row(std::string& out, const std::string& name, const std::string& value) {
  out += fmt::format("  {:<13}{}\n", name, value);
}

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out.substr(0, out.size() - 2);
}

std::string levels(const Ceilings& ceilings) {
  bool streaming = false, one = false;
  for (const Level& level : ceilings.levels) {
    streaming = streaming || level.all.copy_streaming > 0;
    one = one || level.one.copy > 0;
  }
  std::vector<std::vector<std::string>> rows{{"bandwidth", "holds", "read", "write", "copy"}};
  if (streaming) rows[0].insert(rows[0].end(), {"write nt", "copy nt"});
  if (one) rows[0].emplace_back("copy, one core");
  for (const Level& level : ceilings.levels) {
    std::vector<std::string> row{level.name,
                                 level.capacity > 0 ? base::human_bytes(static_cast<double>(level.capacity)) : "-",
                                 bytes(level.all.read), bytes(level.all.write), bytes(level.all.copy)};
    if (streaming) row.insert(row.end(), {bytes(level.all.write_streaming), bytes(level.all.copy_streaming)});
    if (one) row.push_back(bytes(level.one.copy));
    rows.push_back(std::move(row));
  }
  return indented(base::table(rows));
}

bool any(const Transfers& t) {
  return t.upload_pageable > 0 || t.download_pageable > 0 || t.upload_pinned > 0 || t.download_pinned > 0 ||
         t.upload_mapped > 0 || t.download_mapped > 0;
}

std::string energy(const Energy& e) {
  if (e.counter.empty()) return e.why_not.empty() ? "no counter" : "no counter: " + e.why_not;
  return fmt::format("{}: idle {:.0f} W, under load {:.0f} W, {} per watt", e.counter, e.idle_watts, e.load_watts,
                     flops(e.flops_per_watt));
}

std::string device_text(const DeviceProfile& device) {
  const Ceilings& c = device.ceilings;
  std::string out = fmt::format("{}  {}{}\n", device.id, device.name, c.measured ? "" : "  (estimated, not measured)");
  std::string peak = fmt::format("float {}, double {}", flops(c.flops_float), flops(c.flops_double));
  if (c.flops_float_one > 0)
    peak += fmt::format("; one core {}, {}", flops(c.flops_float_one), flops(c.flops_double_one));
  add_row(out, "peak", peak);
  out += levels(c);
  if (const double ridge = ridge_point(roofline(device)); ridge > 0)
    add_row(out, "ridge", fmt::format("{:.3g} FLOP/byte: below it memory binds, above it arithmetic", ridge));
  add_row(out, "launch", base::human_seconds(c.launch_seconds));
  if (any(c.transfers)) {
    const Transfers& t = c.transfers;
    add_row(out, "to device",
            fmt::format("pageable {}, pinned {}, mapped {}", bytes(t.upload_pageable), bytes(t.upload_pinned),
                        bytes(t.upload_mapped)));
    add_row(out, "from device",
            fmt::format("pageable {}, pinned {}, mapped {}", bytes(t.download_pageable), bytes(t.download_pinned),
                        bytes(t.download_mapped)));
  }
  if (c.copy_while_others_busy > 0 || c.flops_float_while_others_busy > 0)
    add_row(out, "shared",
            fmt::format("while the other devices work: copy {}, float {}", bytes(c.copy_while_others_busy),
                        flops(c.flops_float_while_others_busy)));
  add_row(out, "energy", energy(c.energy));
  return out;
}

}  // namespace

std::string to_text(const Profile& profile) {
  std::string out;
  for (const DeviceProfile& device : profile.devices) out += device_text(device) + "\n";
  if (!profile.measured_at.empty())
    out += fmt::format("measured {} in {}\n", profile.measured_at, base::human_seconds(profile.seconds_taken));
  for (const std::string& doubt : profile.doubts) out += fmt::format("not reliable: {}\n", doubt);
  return out;
}

}  // namespace ridge::machine

// ridge devices: lists the devices and their limits.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/device.hpp>

#include "base/json.hpp"
#include "base/text.hpp"
#include "command/command.hpp"

namespace ridge::cli {
namespace {

base::Json to_json(const DeviceInfo& info) {
  const Limits& limits = info.limits;
  return {{"id", info.id},
          {"name", info.name},
          {"vendor", info.vendor},
          {"driver", info.driver},
          {"isa", info.isa},
          {"clock_ghz", info.clock_ghz},
          {"shares_host_memory", info.shares_host_memory},
          {"runs_on_host_cores", info.runs_on_host_cores},
          {"overrides", info.overrides},
          {"limits",
           {{"work_group", limits.work_group},
            {"local_memory", limits.local_memory},
            {"registers", limits.registers},
            {"constant_memory", limits.constant_memory},
            {"sub_group", limits.sub_group},
            {"alignment", limits.alignment},
            {"compute_units", limits.compute_units},
            {"items_per_unit", limits.items_per_unit},
            {"memory", limits.memory},
            {"allocation", limits.allocation},
            {"float64", limits.float64},
            {"architecture", limits.architecture},
            {"unit_registers", limits.unit_registers},
            {"unit_local_memory", limits.unit_local_memory},
            {"matrix_units", limits.matrix_units},
            {"asynchronous_copies", limits.asynchronous_copies},
            {"clusters", limits.clusters},
            {"tensor_maps", limits.tensor_maps},
            {"private_arrays_in_registers", limits.private_arrays_in_registers}}}};
}

// Features of a device that decide which variants it supports.
std::string traits_text(const DeviceInfo& info) {
  const Limits& limits = info.limits;
  std::vector<std::string> traits;
  if (info.runs_on_host_cores) traits.emplace_back("on the host's cores");
  if (limits.architecture != 0) traits.push_back(fmt::format("architecture {}", limits.architecture));
  if (limits.unit_registers != 0) traits.push_back(fmt::format("{} registers per unit", limits.unit_registers));
  if (limits.unit_local_memory != 0) {
    traits.push_back(base::human_bytes(static_cast<double>(limits.unit_local_memory)) + " of local memory per unit");
  }
  if (limits.sub_group != 0) traits.push_back(fmt::format("sub-groups of {}", limits.sub_group));
  if (limits.matrix_units) traits.emplace_back("matrix units");
  if (limits.asynchronous_copies) traits.emplace_back("asynchronous copies");
  if (limits.clusters) traits.emplace_back("clusters");
  if (limits.tensor_maps) traits.emplace_back("tensor maps");
  if (!limits.private_arrays_in_registers) traits.emplace_back("private arrays in memory");
  if (!limits.float64) traits.emplace_back("no double");
  return fmt::format("{}", fmt::join(traits, ", "));
}

std::string bytes_or_dash(std::size_t bytes) {
  return bytes == 0 ? "-" : base::human_bytes(static_cast<double>(bytes));
}

void show_devices(bool json) {
  const DeviceList& list = devices();
  if (json) {
    base::Json out{{"devices", base::Json::array()}, {"notes", list.notes}, {"best", best().id()}};
    for (const Device& device : list.devices) out["devices"].push_back(to_json(device.info()));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows{
      {"device", "name", "units", "memory", "work-group", "local", "isa", "driver"}};
  for (const Device& device : list.devices) {
    const DeviceInfo& info = device.info();
    rows.push_back({info.id, info.name, fmt::to_string(info.limits.compute_units), bytes_or_dash(info.limits.memory),
                    device.is_host() ? "-" : fmt::to_string(info.limits.work_group),
                    bytes_or_dash(info.limits.local_memory), info.isa, info.driver.substr(0, 60)});
  }
  fmt::print("{}", base::table(rows));
  for (const Device& device : list.devices) {
    const std::string traits = device.is_host() ? "" : traits_text(device.info());
    if (!traits.empty()) fmt::print("{}: {}\n", device.id(), traits);
  }
  for (const Device& device : list.devices) {
    for (const std::string& change : device.info().overrides)
      fmt::print("{}: limit overridden: {}\n", device.id(), change);
  }
  for (const std::string& note : list.notes) fmt::print("{}\n", note);
  fmt::print("best: {}\n", best().id());
}

}  // namespace

void add_devices(Command& program) {
  Command& command = program.subcommand("devices", "List the devices and their limits, and why others are missing");
  command.footer(
      "\nExamples:\n"
      "  ridge devices                                  one line per device, and why others are missing\n"
      "  ridge devices --json | jq '.devices[].id'\n"
      "  RIDGE_BACKENDS=host,opencl ridge devices       without looking for CUDA\n"
      "\nRIDGE_LIMITS=FILE reduces device limits: {\"opencl:0\": {\"work_group\": 128, \"local_memory\": 16384}}\n"
      "RIDGE_BACKENDS=host,opencl limits the back ends that are searched.");
  auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print JSON to standard output");
  command.runs([json] { show_devices(*json); });
}

}  // namespace ridge::cli

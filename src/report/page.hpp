// The report: one HTML page that a browser opens with no network, and the same data as JSON.
//
// Every number the page shows stands in an element with data-key, its path in the JSON ("device.host.flops_float",
// "bench.0.rows.3.seconds": members by name, list elements by index), and data-value, the number itself. The JSON is in
// the page too, in <script type="application/json" id="report-data">.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"
#include "report/bench_rows.hpp"

namespace ridge::report {

struct DeviceSection {
  machine::DeviceProfile profile;
  std::vector<std::pair<std::string, std::string>> facts = {};  // {"work-group", "1024 items"}: limits in words
  std::vector<machine::Point> points = {};                      // workloads to show on its roofline
};

struct Report {
  std::string title;                  // the machine: "Neoverse-V1, 64 cores, and one NVIDIA H200"
  std::vector<std::string> pending;   // "stencils on cuda:0": what a first page has not measured yet
  std::string hardware, measured_at;  // of the profile
  double seconds_taken = 0;
  std::vector<std::string> doubts = {};  // of the profile: why its figures cannot be trusted
  std::vector<DeviceSection> devices;
  std::vector<Bench> benches;      // a section each
  std::vector<std::string> notes;  // "CUDA: no driver": what is not there and why
};

base::Json json_of(const Report& report);
std::string to_json(const Report& report);  // what stands in the page's report-data
std::string to_html(const Report& report);

}  // namespace ridge::report

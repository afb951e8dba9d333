// The report: one HTML page that needs no network, and the same data as JSON.
//
// Every number on the page is in an element with two attributes: data-key, its path in the JSON
// ("device.host.flops_float", "bench.0.rows.3.seconds": members by name, list elements by index), and data-value, the
// number itself. The page also contains the JSON, in <script type="application/json" id="report-data">.
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
  std::vector<std::pair<std::string, std::string>> facts = {};  // limits as text: {"work-group", "1024 items"}
  std::vector<machine::Point> points = {};                      // workloads shown on its roofline
};

struct Report {
  std::string title;                  // the machine: "Neoverse-V1, 64 cores, and one NVIDIA H200"
  std::vector<std::string> pending;   // measurements not made yet: "stencils on cuda:0"
  std::string hardware, measured_at;  // of the profile
  double seconds_taken = 0;
  std::vector<std::string> doubts = {};  // of the profile: reasons not to trust its figures
  std::vector<DeviceSection> devices;
  std::vector<Bench> benches;      // one section each
  std::vector<std::string> notes;  // unavailable parts and the reason: "CUDA: no driver"
};

base::Json json_of(const Report& report);
std::string to_json(const Report& report);  // the content of the page's report-data
std::string to_html(const Report& report);

}  // namespace ridge::report

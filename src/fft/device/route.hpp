// How one axis of a problem is transformed: passes in their order, and what lies between them. A family of routes is a
// file with a lister, and its line in routes.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "fft/device/compiled_pass.hpp"
#include "fft/device/pass.hpp"
#include "fft/device/spectrum_text.hpp"
#include "fft/historical/papers/stage_plan.hpp"
#include "fft/historical/papers/unit.hpp"

namespace ridge::fft::on_device {

// Lines of one length, all transformed the same way.
struct AxisProblem {
  bool float64 = false;
  Direction direction = Direction::forward;
  Kind kind = Kind::complex;
  std::size_t length = 1;             // real: of the samples
  std::vector<std::uint64_t> counts;  // of the digits that number the lines, fastest first; at least one
  Address in, out;
  bool in_place = false;
  Samples samples = Samples::same;
  FactorTable load = {}, store = {};  // of the points of a whole shape
  Address load_at = {}, store_at = {};
  double scale = 1;

  std::uint64_t lines() const;
};

// Digits whose strides continue each other become one, and the one with the shortest steps comes first.
void normalize(AxisProblem& problem);

// Arrays a step reads and writes. All but input and output belong to the route.
enum class Place { input, output, scratch, work, spare };

struct Step {
  std::variant<PassDesign, SpectrumDesign, ClusterDesign, RingDesign, papers::StagePlan, papers::UnitDesign> design;
  Place from = Place::input, to = Place::output;
  std::uint64_t lines = 1;                       // for each value of the problem's last digit
  std::uint64_t from_stride = 0, to_stride = 0;  // elements from one value of the last digit to the next
  FactorTable load = {}, store = {}, filter = {};
};

KernelSource kernel_of(const Step& step);                // of a step that is one kernel
std::vector<KernelSource> kernels_of(const Step& step);  // of any

struct Route {
  planner::Candidate candidate;
  std::vector<Step> steps;
  std::uint64_t outer = 1;                         // values of the last digit
  std::uint64_t at_once = 0;                       // of them in one launch; 0: all
  std::uint64_t scratch = 0, work = 0, spare = 0;  // complex elements for each value of the last digit
};

// Every route, best expected first, refusals included; those of the papers only where `wanted` names them.
std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted = {});

// The route of that name with its parameters, if the problem has it.
std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name);

void list_one_pass(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_clusters(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_rings(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_tiles_ahead(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_real_passes(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_many_passes(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
void list_primes(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);

// Convolutions too long for one kernel; a part of list_primes.
void list_long_bluestein(const Device& device, const AxisProblem& problem, std::vector<Route>& routes);
std::vector<std::size_t> padded_lengths(std::size_t n);  // for Bluestein's method, shortest first

// --- what the families share -----------------------------------------------------------------------------------------

// The least a pass over the problem's data moves.
double problem_bytes(const AxisProblem& problem);
double usual_flops(const AxisProblem& problem);

Order order_of(const Address& at);

// A pass over the problem as it stands: sides, operators, digits; no radices yet.
PassDesign plain_pass(const AxisProblem& problem);

// The name and the cost of a route by its steps.
planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency);

std::size_t longest_held(const PassDesign& design);  // points in a work-item's registers
std::string too_many_registers(const Device& device, const PassDesign& design, std::size_t lines);

// How a group shares the lines of a design: fills lines, resident, and keeps to what the device has. Empty, or why not.
std::string fit(const Device& device, PassDesign& design, std::size_t lines);

// Groups on a compute unit where the compiler is held to few more registers than the points take: on NVIDIA it was seen
// to manage without spilling.
std::size_t most_resident(const Device& device, const PassDesign& design);

// Designs for the design's length, best first: radices, work-items, lines a group. At most `most`.
// `lines` forces the lines of a group, `most_held` the points in a work-item's registers; 0: as serves.
std::vector<PassDesign> fitted(const Device& device, const PassDesign& plain, std::size_t lines, std::size_t most,
                               std::string& refusal, std::size_t most_held = 0);

// "16*16*16", for names.
std::string radices_text(const PassDesign& design);

// The passes of a complex transform of `factors`' product, each but the last followed by its twiddle.
struct Split {
  std::vector<std::size_t> factors;  // a pass each
  std::size_t width = 16;            // lines side by side in a group
  std::size_t most_held = 0;         // points in a work-item's registers; 0: as serves
  Place from = Place::input, between = Place::scratch, to = Place::output;
  Values load = Values::complex, store = Values::complex;
  std::size_t load_valid = 0, store_valid = 0;
};
// What lies between the passes.
struct SplitPlaces {
  std::uint64_t between = 0;  // complex elements for each value of the last digit
  bool apart = true;          // what belongs to different values of the last digit lies apart
  std::uint64_t step = 0;     // elements from one of them to the next
};
// The passes without radices yet.
std::vector<PassDesign> split_designs(const AxisProblem& problem, const Split& split, SplitPlaces& places);

// Appends the steps, each with the radices and the group that fit best.
struct SplitResult {
  std::string refusal = {};
  std::uint64_t between = 0;  // as above
  bool apart = true;
};
SplitResult split_passes(const Device& device, const AxisProblem& problem, const Split& split,
                         std::vector<Step>& steps);

// Tiles that fill a compute unit, or half of one, and come ahead (tiles_ahead.cpp).
struct TileShape {
  std::size_t points;    // a tile
  std::size_t items;     // a group
  std::size_t resident;  // groups a compute unit
};
inline constexpr TileShape kColumnTile{16384, 512, 1};
// Why the lines of a problem cannot be brought ahead in tiles; empty: they can.
std::string tiles_refusal(const Device& device, const AxisProblem& problem);
// Gives a pass the radices and the work-items of such tiles; empty, or why not.
std::string shape_tile(const Device& device, PassDesign& pass, const TileShape& shape);

// Lines one after the other, as a route keeps them on its own.
Address packed_lines(const AxisProblem& problem, std::size_t points);

// The lines of one value of the last digit.
std::uint64_t inner_lines(const AxisProblem& problem);

// Factors of a length for that many passes, most even first; none where it has too large a prime.
std::vector<std::vector<std::size_t>> pass_factors(std::size_t length, std::size_t passes, std::size_t most_a_pass);

}  // namespace ridge::fft::on_device

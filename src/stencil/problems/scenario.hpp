// A problem with everything a run needs: shape, borders, initial state, quantities to show, and the parameters that a
// checkpoint must match.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "base/json.hpp"

namespace ridge::stencil {

// A quantity that is shown and written, computed from the fields of the state.
template <class T>
struct View {
  std::string name;
  std::function<void(const T* const* fields, std::size_t count, T* out)> map;
};

template <class T>
struct Scenario {
  std::string name;   // "heat"
  std::string about;  // human-readable: "alpha dt sum 1/dx^2 = 0.473"
  Update<T> update;
  Problem problem = {};
  std::vector<double> spacing = {};  // per axis
  double dt = 1;
  std::vector<std::string> fields = {};                                              // of the state
  std::function<void(const std::array<std::size_t, 3>& cell, T* values)> initial{};  // z, y, x; one value per field
  std::vector<View<T>> views = {};
  base::Json parameters = base::Json::object();
  // Colour map of pictures.
  std::string colours = "ember";
  std::optional<double> low = {}, high = {};
  bool y_up = true;
  // Describes an error in a state ("density below 0 ..."), checked occasionally; empty if the state is valid.
  std::function<std::string(const T* const* fields, std::size_t count)> complaint{};
};

// Parses "periodic", "x=periodic,y=fixed" or "y=fixed/mirror" (low side / high side). Throws Error{invalid_argument}
// for an unknown kind or axis, and for a missing axis.
Borders parse_borders(const std::string& text, std::size_t dimensions);
std::string borders_text(const Borders& borders, std::size_t dimensions);  // canonical spelling

struct HeatOptions {
  std::vector<std::size_t> shape{512, 512};
  std::string border = "fixed";
  std::string initial = "spots";  // spots, mode, random
  double alpha = 1, dt = 0;       // 0: 0.9 of the limit
  double length = 1;              // of the first axis; cells are cubes
  int accuracy = 2;
};
// Demo of the stenCINES paper: 128 x 128 cells of 1.3 mm, alpha 0.4, dt 1e-6, a cold spot of -30 at the bottom left and
// a hot one of 30 at the top right in a plate of 1.
HeatOptions heat_demo();
template <class T>
Scenario<T> heat_scenario(const HeatOptions& options);

struct WaveOptions {
  std::vector<std::size_t> shape{512, 512};
  std::string border = "fixed";
  std::string initial = "drop";  // drop, mode
  double speed = 1, dt = 0;      // 0: a Courant number of 0.9
  double length = 1;
};
template <class T>
Scenario<T> wave_scenario(const WaveOptions& options);

struct EulerOptions {
  std::vector<std::size_t> shape{};  // empty: the case's default
  std::string border{};              // empty: the case's default
  std::string flow = "blast";        // sod, vortex, blast, shear
  double gamma = 1.4, dt = 0;        // 0: from the Courant number
  double courant = 0.8;
};
template <class T>
Scenario<T> euler_scenario(const EulerOptions& options);
// Initial state of a flow at the position (x, y), in the flow's coordinates.
Gas euler_initial(const std::string& flow, double gamma, double y, double x);

struct FluidOptions {
  std::vector<std::size_t> shape{};  // empty: the case's default
  std::string border{};              // empty: the case's default
  std::string flow = "vortex";       // vortex, channel
  double viscosity = 0.05;
  double sound = 0, dt = 0;  // 0: ten times the fastest flow; half of the stability limit
};
template <class T>
Scenario<T> fluid_scenario(const FluidOptions& options);
struct FluidState {
  double pressure = 0;
  std::array<double, 3> velocity{};  // along z, y, x
};
// Exact solution of a flow at a time and a position (z, y, x).
FluidState fluid_exact(const std::string& flow, double viscosity, double t, const std::array<double, 3>& at);
// Position of a cell's centre (face = -1) or of its low face along the axis `face`; cells have the size h.
std::array<double, 3> fluid_position(const FluidOptions& options, double h, const std::array<std::size_t, 3>& cell,
                                     int face);

struct LifeOptions {
  std::vector<std::size_t> shape{512, 512};
  std::string border = "periodic";
  std::string rule = "B3/S23";
  double density = 0.3;  // initial share of living cells
  std::uint64_t seed = 1;
};
template <class T>
Scenario<T> life_scenario(const LifeOptions& options);

struct ConvolveOptions {
  std::vector<std::size_t> shape{};
  std::size_t channels = 1;
  std::string border = "mirror";
  std::string kernel = "gauss:2";
};
// The caller supplies the image, which is the initial state.
template <class T>
Scenario<T> convolve_scenario(const ConvolveOptions& options);

// A number in [0, 1) that depends only on seed and index, so that every process makes the same grid.
double random_share(std::uint64_t seed, std::uint64_t index);

}  // namespace ridge::stencil

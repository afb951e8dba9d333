// A ready problem with everything a run needs: shape, borders, initial state, what to show, and the parameters that a
// checkpoint must agree with.
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

// What is shown and written, made from the fields of the state.
template <class T>
struct View {
  std::string name;
  std::function<void(const T* const* fields, std::size_t count, T* out)> map;
};

template <class T>
struct Scenario {
  std::string name;   // "heat"
  std::string about;  // for a person: "alpha dt sum 1/dx^2 = 0.473"
  Update<T> update;
  Problem problem = {};
  std::vector<double> spacing = {};  // an axis each
  double dt = 1;
  std::vector<std::string> fields = {};                                              // of the state
  std::function<void(const std::array<std::size_t, 3>& cell, T* values)> initial{};  // z, y, x; a value a field
  std::vector<View<T>> views = {};
  base::Json parameters = base::Json::object();
  // How a picture shows it.
  std::string colours = "ember";
  std::optional<double> low = {}, high = {};
  bool y_up = true;
  // What is wrong with a state ("density below 0 ..."), looked at now and then; empty where nothing is.
  std::function<std::string(const T* const* fields, std::size_t count)> complaint{};
};

// Of "periodic", "x=periodic,y=fixed", "y=fixed/mirror" (low side / high side). Error{invalid_argument} for a kind or
// an axis that does not exist, and for an axis without one.
Borders parse_borders(const std::string& text, std::size_t dimensions);
std::string borders_text(const Borders& borders, std::size_t dimensions);  // the same in every spelling

struct HeatOptions {
  std::vector<std::size_t> shape{512, 512};
  std::string border = "fixed";
  std::string initial = "spots";  // spots, mode, random
  double alpha = 1, dt = 0;       // 0: 0.9 of the limit
  double length = 1;              // of the first axis; cells are cubes
  int accuracy = 2;
};
// The stenCINES paper's demo: 128 x 128 cells of 1.3 mm, alpha 0.4, dt 1e-6, a cold spot of -30 at the bottom left and
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
  std::vector<std::size_t> shape{};  // empty: what the case wants
  std::string border{};              // empty: the same
  std::string flow = "blast";        // sod, vortex, blast, shear
  double gamma = 1.4, dt = 0;        // 0: from the Courant number
  double courant = 0.8;
};
template <class T>
Scenario<T> euler_scenario(const EulerOptions& options);
// The state of a flow at t = 0 at a point, x and y in its own coordinates.
Gas euler_initial(const std::string& flow, double gamma, double y, double x);

struct LifeOptions {
  std::vector<std::size_t> shape{512, 512};
  std::string border = "periodic";
  std::string rule = "B3/S23";
  double density = 0.3;  // of living cells at the start
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
// Its initial state is the image, which the caller brings.
template <class T>
Scenario<T> convolve_scenario(const ConvolveOptions& options);

// A number in [0, 1) that depends on seed and index only, so that every process makes the same grid.
double random_share(std::uint64_t seed, std::uint64_t index);

}  // namespace ridge::stencil

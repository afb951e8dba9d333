// Predefined stencil problems: updates with checked stability. Run them with a grid, borders and a plan (stencil.hpp).
//
//   auto update = ridge::stencil::heat<float>({.alpha = 0.4, .dt = 1e-6, .spacing = {1.3e-3, 1.3e-3}});
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/stencil/grid.hpp>
#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// --- heat: u_t = alpha (u_xx + u_yy + u_zz) -------------------------------------------------------------------------
struct Heat {
  double alpha = 1;
  double dt = 0;
  std::vector<double> spacing{};  // one per axis, slowest first: one, two or three
  int accuracy = 2;               // of the second derivatives: 2, 4, 6 or 8, with a radius of half that
};
// alpha dt (sum of 1/dx^2), stable below 0.5 (accuracy 4: 3/8, 6: 0.331, 8: 0.308).
double heat_number(const Heat& heat);
double heat_limit(int accuracy);
// One field, linear. If unstable, Error{invalid_argument} with both numbers and a stable dt.
template <class T>
Update<T> heat(const Heat& heat);

// --- wave: u_tt = c^2 (u_xx + u_yy + u_zz) --------------------------------------------------------------------------
struct Wave {
  double speed = 1;
  double dt = 0;
  std::vector<double> spacing{};
};
double courant_number(const Wave& wave);  // c dt sqrt(sum of 1/dx^2), stable up to 1
// Two fields, linear: u now and u one step before. Error if unstable.
template <class T>
Update<T> wave(const Wave& wave);

// --- acoustic waves in a medium: u_tt = c(x)^2 (u_xx + u_yy + u_zz) -------------------------------------------------
//
// Leapfrog in time, finite differences of order 2 to 8 in space, as in seismic modelling. One velocity per cell.
struct Acoustic {
  double dt = 0;
  std::vector<double> spacing{};  // one per axis, slowest first
  int accuracy = 8;               // of the second derivatives: 2, 4, 6 or 8
  bool absorbing = false;         // adds a second coefficient, which damps waves where it is below 1
  bool batch = false;             // grids have one more axis, the slowest: independent waves (one or two axes)
};
double courant_number(const Acoustic& acoustic, double fastest);  // c dt sqrt(sum of 1/dx^2)
double acoustic_limit(int accuracy);  // stability limit: 1 for order 2, then 0.87, 0.81, 0.78
// Two fields: u now and u one step before. Coefficients per cell: (c dt)^2, and with `absorbing` 1 / (1 + dt *
// damping), where u_tt + 2 damping u_t = c^2 (...).
template <class T>
Update<T> acoustic(const Acoustic& acoustic);

// Convolutional perfectly matched layers (CPML): waves leave the grid, almost without reflection, through its sides.
// The sides are fixed borders; a layer is next to the cells that do not change. Eight cells return less than 1e-6 of
// the energy of waves of 16 cells.
struct AbsorbingLayers {
  std::size_t cells = 8;
  double fastest = 0;                                                 // largest velocity of the medium
  double frequency = 0;                                               // peak frequency of the source
  std::array<bool, 3> low{true, true, true}, high{true, true, true};  // sides with a layer, in the order of `spacing`
  // The low side of the first axis is a free surface, without a layer: u is 0 there, and odd across it.
  bool free_surface = false;
  double power = 3;          // of the damping's growth with the depth
  double reflection = 1e-5;  // of the continuous equation, at normal incidence
};
template <class T>
Update<T> acoustic(const Acoustic& acoustic, const AbsorbingLayers& layers);

// --- Maxwell's equations: FDTD on the Yee grid, 2D, electric field perpendicular to the plane (TM) ------------------
//
// Second order in space and time. Fields: Ez at the cells, Hx half a cell above them along y, Hy half a cell beside
// them along x, both half a step before Ez. Coefficients per cell: the decay factor of Ez, (1 - s) / (1 + s) with s =
// conductivity dt / (2 permittivity), and the factor of its curl, dt / (permittivity (1 + s)).
struct Maxwell {
  double dt = 0;
  double dy = 1, dx = 1;
  double permeability = 1;
};
// dt / sqrt(minimum permittivity * permeability) * sqrt(1/dx^2 + 1/dy^2), stable up to 1
double courant_number(const Maxwell& maxwell, double least_permittivity = 1);
template <class T>
Update<T> maxwell(const Maxwell& maxwell);

// --- elastic waves in a medium, 2D (P and SV waves): velocities and stresses on a staggered grid --------------------
//
// Fields: vz half a cell below the cells, vx half a cell beside them, both half a step before the stresses szz, sxx (at
// the cells) and sxz (half a cell below and beside). Coefficients per cell: dt / density for vz and for vx, dt (lambda
// + 2 mu), dt lambda, dt mu for sxz. With layers (CPML) the memory variables are eight more fields, and their profiles
// eight more coefficients: an ordinary update, which runs on every device and can be transposed. After these, with
// `anisotropic` a coefficient for sxx and the derivative along x (dt c11), and with `attenuating` one by which
// velocities and stresses are multiplied in each step.
struct Elastic {
  double dt = 0;
  double spacing = 1;
  int accuracy = 4;  // of the first derivatives: 2 or 4
  bool layers = true;
  bool anisotropic = false, attenuating = false;
  std::size_t layer_cells = 0;  // with layers: their width, which hosts and devices may use; 0: unknown
};
double elastic_limit(int accuracy);  // of c dt sqrt(2) / spacing, c the largest velocity of P waves: 1, then 0.857
template <class T>
Update<T> elastic(const Elastic& elastic);

// A model of the ground with absorbing layers around it, which continue its edge.
struct ElasticModel {
  std::vector<std::size_t> shape{};                           // depth, then the other axis
  std::vector<double> p_velocity{}, s_velocity{}, density{};  // one value per cell; s_velocity may be 0
  // Thomsen's parameters of a medium whose axis of symmetry is vertical (VTI); velocities are then those along z.
  // Empty: 0.
  std::vector<double> epsilon{}, delta{};
  // Waves decay by exp(-pi frequency t / quality), the same at all frequencies. Empty: no attenuation.
  std::vector<double> quality{};
  double spacing = 1;
  double dt = 0;         // 0: 0.9 of the stability limit
  double frequency = 0;  // peak of the source's pulse; 0: 16 cells per wave at the lowest velocity
  int accuracy = 4;
  std::size_t layer = 8;                                  // cells of the layers; 0: none
  std::array<bool, 2> low{true, true}, high{true, true};  // sides with a layer
  bool free_surface = false;  // nothing is above depth 0: the surface is half a cell above the first row
};
template <class T>
struct ElasticProblem {
  Update<T> update{};
  Grid<T> coefficients;
  std::vector<std::size_t> begin{};  // of the model in the grid; the grid has the shape of the coefficients
  double dt = 0, frequency = 0, courant = 0;
};
// Error{invalid_argument}, with the numbers, for values that are not finite or not above 0, s_velocity above 0.866 of
// p_velocity, epsilon and delta of no stable medium, an unstable time step, and waves of fewer than two cells.
template <class T>
ElasticProblem<T> elastic_problem(const ElasticModel& model);
// The derivative with respect to p_velocity in each cell of the model, from that with respect to the coefficients.
// Cells of the layers add to the edge that they continue.
template <class T>
std::vector<double> p_velocity_gradient(const ElasticModel& model, const ElasticProblem<T>& problem,
                                        const Grid<T>& coefficients);

// --- Euler's equations of a gas, 2D ---------------------------------------------------------------------------------
// Finite volumes, MUSCL-Hancock with HLLC fluxes and van Leer's limiter in the primitive variables: second order in
// space and time for smooth flow, shocks within two or three cells. Four fields: density, momentum along x, momentum
// along y, total energy. Radius 2. A mirror border is an outflow border, not a wall.
struct Euler {
  double gamma = 1.4;
  double dt = 0;
  double dy = 1, dx = 1;
};
struct Gas {  // a state in primitive variables
  double density = 1, u = 0, v = 0, pressure = 1;
};
double courant_number(const Euler& euler, const Gas& gas);  // dt ((|u| + c) / dx + (|v| + c) / dy), stable below 1
template <class T>
Update<T> euler(const Euler& euler);

// The exact solution of the Riemann problem (Toro, chapter 4) at x/t = speed; the gas may move along x.
Gas riemann(const Gas& left, const Gas& right, double gamma, double speed);
// Its fastest wave: max |u| + c.
double riemann_speed(const Gas& left, const Gas& right, double gamma);

// --- viscous flow, 3D -----------------------------------------------------------------------------------------------
// Incompressible Navier-Stokes equations with artificial compressibility: p_t = -sound^2 div v. Second order in space
// (staggered grid: each velocity on the low face of its axis) and in time (Adams-Bashforth), radius 1. Errors of the
// velocity grow with (|v| / sound)^2. Seven fields: pressure, velocity along x, y, z, and the rates of change of the
// three by advection and viscosity in the step before. A fixed border is a wall at the centres of its cells, where
// velocities are 0; its pressure is kept too, so it suits channels and ducts, not jets against a wall.
struct Fluid {
  double viscosity = 0.05;  // kinematic
  double sound = 10;        // speed of pressure waves
  double dt = 0;
  std::array<double, 3> spacing{1, 1, 1};  // z, y, x
  std::array<double, 3> force{0, 0, 0};    // acceleration along z, y, x
};
// dt (sound sqrt(sum of 1/dx^2) + 4 viscosity (sum of 1/dx^2)), stable below 1
double fluid_number(const Fluid& fluid);
template <class T>
Update<T> fluid(const Fluid& fluid);  // Error if unstable

// --- cellular automata ----------------------------------------------------------------------------------------------
// "B3/S23": cells of 0 and 1; born with 3 of 8 neighbours, survives with 2 or 3. Error for an invalid rule.
template <class T>
Update<T> life(const std::string& rule = "B3/S23");

// --- convolution of an image ----------------------------------------------------------------------------------------
struct Kernel {
  std::size_t rows = 0, columns = 0;  // odd
  std::vector<double> weights{};
};
// "gauss:2" (sigma, cut at 3 sigma), "box:1" (radius), "sharpen", "laplace", "sobel-x", "sobel-y", "emboss", or rows of
// numbers: "0 1 0; 1 -4 1; 0 1 0". Error{invalid_argument} for anything else.
Kernel parse_kernel(const std::string& text);
// new(y, x) = sum of weight(r, c) old(y + r - rows / 2, x + c - columns / 2), the same for each channel. Weights are
// not flipped.
template <class T>
Update<T> convolution(const Kernel& kernel, std::size_t channels = 1);

}  // namespace ridge::stencil

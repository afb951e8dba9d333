// The spreading kernel: the prolate spheroidal wave function of order 0, which of all functions of its width has the
// most energy inside a band, and so the least aliasing error.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

namespace ridge::nufft {

inline constexpr std::size_t kWidest = 16;                                  // cells of the widest kernel
inline constexpr std::array<double, 4> kUpsamplings{2.0, 1.5, 1.25, 2.25};  // those with known errors

// Relative error of a transform with a kernel of this width: aliasing, with a margin, and rounding. `roundoff` is half
// the distance from 1 to the next number of the type, `upsampling` one of kUpsamplings.
double expected_error(std::size_t width, double upsampling, std::size_t axes, double roundoff);

// The same if products of the strengths and weights are rounded to TF32.
double rounded_products_error(std::size_t width, double upsampling, std::size_t axes);

// Smallest width in cells whose error is at most epsilon; 0 if there is none.
std::size_t kernel_width(double epsilon, double upsampling, std::size_t axes, double roundoff);

// Smallest error of all widths, at the first upsampling.
double least_error(std::size_t axes, double roundoff);

class Kernel {
 public:
  Kernel(std::size_t width, double upsampling);

  std::size_t width() const { return width_; }
  double operator()(double z) const;  // value at z in [-1, 1] across the kernel; 1 at 0

  // Value in cell c of a point as a polynomial in s: the first cell is (s + 1) / 2 cells right of the kernel's left
  // end, s in [-1, 1). Coefficient of s^(degree - p) for cell c at [p * width + c].
  std::vector<double> polynomials() const;
  // Derivatives of the polynomials by a coordinate of 2 pi radians per `cells` cells.
  std::vector<double> slope_polynomials(std::size_t cells) const;
  std::size_t degree() const;

  // 1 / Fourier transform of the kernel at an angle per cell.
  double factor(double angle) const;
  // Factors of the modes -(modes/2) ... on a fine grid.
  std::vector<double> mode_factors(std::size_t modes, std::size_t cells) const;

 private:
  std::size_t width_;
  double bandwidth_;              // the prolate function's c
  std::vector<double> legendre_;  // coefficients of the even orders
};

}  // namespace ridge::nufft

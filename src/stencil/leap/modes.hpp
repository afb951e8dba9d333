// The basis in which a linear stencil with constant weights is diagonal, chosen per axis by its borders; the stencil's
// symbol, which is the factor by which a step multiplies each mode; and powers of that symbol.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/layout.hpp"

namespace ridge::stencil::leap {

enum class Basis {
  none,     // the stencil has no neighbours along this axis
  fourier,  // periodic
  cosine,   // mirror: DCT-II forward, DCT-III inverse
  sine,     // fixed, radius 1: DST-I of the inner cells
};

struct Axis {
  Basis basis = Basis::none;
  std::size_t cells = 1;  // cells that change
  std::size_t modes = 1;  // as many, or n / 2 + 1 along the halved axis
  bool symmetric = true;  // even weights along it: only cosines
  double norm = 1;        // a forward and inverse transform multiply by this
  // cos and sin of the angle of mode k times offset o, at index o * modes + k; o is 0 to the radius.
  std::vector<double> cosines = {}, sines = {};
};

// Weights of one offset along x, from one field to another.
struct SymbolPart {
  std::size_t to = 0, from = 0;
  int x = 0;
  struct Weight {
    int z = 0, y = 0;
    double weight = 0;
  };
  std::vector<Weight> weights = {};
};

struct Modes {
  std::string refusal = {};  // reason if there is no such basis; all else is unset then
  std::array<Axis, 3> axes = {};
  std::size_t fields = 1;
  bool complex = false;         // complex spectrum: some axis is periodic
  std::size_t halved = 3;       // the axis with only half of the spectrum stored; 3: none
  bool complex_symbol = false;  // the weights are not even along a periodic axis
  std::vector<SymbolPart> parts = {};
  std::vector<Term> terms = {};

  std::size_t rows() const { return axes[0].modes * axes[1].modes; }
  std::size_t count() const { return rows() * axes[2].modes; }  // per field
  double norm() const { return axes[0].norm * axes[1].norm * axes[2].norm; }
  // Factor of the part's weights that is constant along x.
  struct Factor {
    double real = 0, imaginary = 0;
  };
  Factor factor(const SymbolPart& part, std::size_t z, std::size_t y) const;
  std::string describe() const;  // "cosine x fourier"
};

// Determines without tables if there is such a basis, and its shape.
template <class T>
Modes modes_of(const Update<T>& update, const Layout& layout);
void fill_tables(Modes& modes, const Layout& layout);

template <class T>
Modes modes_with_tables(const Update<T>& update, const Layout& layout) {
  Modes modes = modes_of(update, layout);
  fill_tables(modes, layout);
  return modes;
}

// Powers of the symbol, one row of modes at a time, in double: the factor of any number of steps. Computed by squaring,
// so that no intermediate value leaves the range that stepping would use.

struct Reach {
  std::size_t steps = 0;
  bool forever = false;     // the limit of infinitely many steps, one field
  double still = 0;         // for `forever`: a symbol this close to 1 counts as 1
  double most_growth = 16;  // of a mode; more is refused
};

// Advances the row (z, y) of the spectrum of `fields` fields, `stride` numbers (complex or real) apart, by the steps.
// `forces`, in the same layout, is the spectrum of what fixed borders add per step, or null. Returns false, with the
// row undefined, if a number is not finite, a mode grows by more than most_growth, or there is no limit.
template <class T>
bool advance_row(const Modes& modes, const Reach& reach, std::size_t z, std::size_t y, T* row, std::size_t stride,
                 const double* forces, std::size_t force_stride);

}  // namespace ridge::stencil::leap

// The basis in which a linear stencil with constant weights is diagonal: an axis at a time, by its borders; and the
// stencil's symbol there, what a step multiplies each mode by.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/layout.hpp"

namespace ridge::stencil::leap {

enum class Basis {
  none,     // the stencil does not reach along this axis
  fourier,  // periodic
  cosine,   // mirror: DCT-II there, DCT-III back
  sine,     // fixed, radius 1: DST-I of the cells inside
};

struct Axis {
  Basis basis = Basis::none;
  std::size_t cells = 1;  // that change
  std::size_t modes = 1;  // as many, but n / 2 + 1 along the halved axis
  bool symmetric = true;  // the weights are even along it: cosines alone
  double norm = 1;        // there and back multiplies by this
  // Of the angle of mode k times an offset o from 0 to the radius, at o * modes + k.
  std::vector<double> cosines = {}, sines = {};
};

// Weights of one offset along x from one field to another.
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
  std::string refusal = {};  // why there is no such basis; nothing else is set then
  std::array<Axis, 3> axes = {};
  std::size_t fields = 1;
  bool complex = false;         // the spectrum: some axis is periodic
  std::size_t halved = 3;       // the axis of which half a spectrum is kept; 3: none
  bool complex_symbol = false;  // the weights are uneven along a periodic axis
  std::vector<SymbolPart> parts = {};
  std::vector<Term> terms = {};

  std::size_t rows() const { return axes[0].modes * axes[1].modes; }
  std::size_t count() const { return rows() * axes[2].modes; }  // of one field
  double norm() const { return axes[0].norm * axes[1].norm * axes[2].norm; }
  // The factor of the part's weights that does not change along x.
  struct Factor {
    double real = 0, imaginary = 0;
  };
  Factor factor(const SymbolPart& part, std::size_t z, std::size_t y) const;
  std::string describe() const;  // "cosine x fourier"
};

// Without tables: whether there is such a basis, and its shape.
template <class T>
Modes modes_of(const Update<T>& update, const Layout& layout);
void fill_tables(Modes& modes, const Layout& layout);

}  // namespace ridge::stencil::leap

// Prototypes of filter banks: windowed sincs, and how good they are.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <ridge/window.hpp>

namespace ridge::filterbank {

using ridge::Window;

// A windowed sinc, -6 dB at `width` / 2 channels from the centre, with the sum 1: a tone of amplitude 1 in the centre
// of a channel has amplitude 1 there.
struct Prototype {
  Window window = Window::kaiser;
  double shape = 0;  // kaiser: beta, 0 means 10.61; gaussian: sigma in half lengths, 0 means 0.22; others: none
  double width = 1;  // channels
};

std::vector<double> design(std::size_t channels, std::size_t taps, const Prototype& prototype = {});

// c[m * taps + i] of a prototype, and back.
std::vector<double> branch_weights(std::span<const double> prototype, std::size_t channels);
std::vector<double> prototype_of(std::span<const double> weights, std::size_t channels);

// The gain at `offset` channels from a channel's centre, in dB of the gain there.
double response_db(std::span<const double> prototype, std::size_t channels, double offset);

struct Quality {
  double leakage_db = 0;  // the worst response beyond `beyond` channels from the centre
  double ripple_db = 0;   // highest less lowest response within a quarter of a channel
  double edge_db = 0;     // half a channel from the centre
  double beyond = 0;
};
Quality quality(std::span<const double> prototype, std::size_t channels, double beyond = 1.5);

}  // namespace ridge::filterbank

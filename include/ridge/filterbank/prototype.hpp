// Prototype filters of filter banks: windowed sincs, their response and quality.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <ridge/window.hpp>

namespace ridge::filterbank {

using ridge::Window;

// A windowed sinc with gain -6 dB at `width` / 2 channels from the centre and sum 1: a tone of amplitude 1 at a
// channel's centre has amplitude 1 in that channel.
struct Prototype {
  Window window = Window::kaiser;
  double shape = 0;  // kaiser: beta, 0 means 10.61; gaussian: sigma in half lengths, 0 means 0.22; others: unused
  double width = 1;  // channels
};

std::vector<double> design(std::size_t channels, std::size_t taps, const Prototype& prototype = {});

// Weights c[m * taps + i] of a prototype, and the inverse conversion.
std::vector<double> branch_weights(std::span<const double> prototype, std::size_t channels);
std::vector<double> prototype_of(std::span<const double> weights, std::size_t channels);

// Gain at `offset` channels from a channel's centre, in dB relative to the centre.
double response_db(std::span<const double> prototype, std::size_t channels, double offset);

struct Quality {
  double leakage_db = 0;  // highest response at more than `beyond` channels from the centre
  double ripple_db = 0;   // highest minus lowest response within a quarter of a channel
  double edge_db = 0;     // response half a channel from the centre
  double beyond = 0;
};
Quality quality(std::span<const double> prototype, std::size_t channels, double beyond = 1.5);

}  // namespace ridge::filterbank

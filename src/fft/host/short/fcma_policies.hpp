// Policies of Armv8.3 complex arithmetic for short transforms, derived from those of power2.
#pragma once
#include "fft/host/power2/fcma/fcma.hpp"
#include "fft/host/short/policies.hpp"

namespace ridge::fft::shorts::fcma {

template <bool kInverse>
struct FloatPairs : Pairs<power2::fcma::Float<kInverse>> {};
template <bool kInverse>
struct Doubles : Ones<power2::fcma::Double<kInverse>> {};

}  // namespace ridge::fft::shorts::fcma

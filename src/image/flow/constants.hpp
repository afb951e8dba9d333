// Constants that the search of every back end shares, so that all select the same vectors. Constants only: this is
// included by files compiled for other instruction sets.
#pragma once

namespace ridge::image::flow {

// Polynomial for 2^f = 1 + f (...), -1/2 <= f <= 1/2, relative error 1e-7; the highest power first.
inline constexpr float kExp2[6] = {1.32647273e-3f, 9.67151299e-3f, 5.55073358e-2f,
                                   2.40222424e-1f, 6.93147004e-1f, 1.0f};
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
// Lower bound of the weights' exponents: 2^-60 is negligible, and far enough above the smallest float that costs can be
// scaled.
inline constexpr float kLeastExponent = -60.0f;

}  // namespace ridge::image::flow

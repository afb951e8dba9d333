// Numbers that every back end's search shares, so that all choose the same vectors. Constants only: files compiled for
// other instruction sets include this.
#pragma once

namespace ridge::image::flow {

// 2^f = 1 + f (...), -1/2 <= f <= 1/2, relative error 1e-7; the highest power first.
inline constexpr float kExp2[6] = {1.32647273e-3f, 9.67151299e-3f, 5.55073358e-2f,
                                   2.40222424e-1f, 6.93147004e-1f, 1.0f};
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: added, it rounds to whole numbers
// Exponents of weights end here: as good as nothing, and far enough from the least float that costs may be scaled.
inline constexpr float kLeastExponent = -60.0f;

}  // namespace ridge::image::flow

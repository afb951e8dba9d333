// Highway for a precompiled header. If the build has a single instruction set (RIDGE_TARGETS=native), all vector
// kernels include exactly these lines, which take 1.2 s to parse. Otherwise it includes the list of sets only.
#pragma once
#define HWY_DISABLED_TARGETS 0  // no kernel has more instruction sets
#include <hwy/detect_targets.h>

#if HWY_TARGETS == HWY_STATIC_TARGET
#define HWY_TARGET_INCLUDE "base/simd_precompiled.hpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>
#undef HWY_TARGET_INCLUDE
#endif
#undef HWY_DISABLED_TARGETS  // each kernel defines its own list

// Timing work on a queue by the device's own clock.
#pragma once
#include <functional>
#include <vector>

#include <ridge/device.hpp>

#include "base/clock.hpp"

namespace ridge {

// Seconds per call of each function, which enqueues on `queue` and does not wait. The functions alternate round by
// round, and the least time counts; a round holds enough calls to hide launch latency and synchronizes once. The first,
// cold call is not counted. On the host calls are synchronous and the same rules hold.
std::vector<double> best_device_seconds(Queue& queue, const std::vector<std::function<void()>>& enqueue,
                                        const base::Repeat& repeat = {});

}  // namespace ridge

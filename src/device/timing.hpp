// Timing work on a queue by the device's own clock.
#pragma once
#include <functional>
#include <vector>

#include <ridge/device.hpp>

#include "base/clock.hpp"

namespace ridge {

// Seconds of one call of each function, which enqueues on `queue` and does not wait. Taken in turn round by round, the
// least over the rounds; a round holds enough calls to hide launch latency and synchronises once. The cold call is not
// counted. On the host, calls work at once and the same rules hold.
std::vector<double> best_device_seconds(Queue& queue, const std::vector<std::function<void()>>& enqueue,
                                        const base::Repeat& repeat = {});

}  // namespace ridge

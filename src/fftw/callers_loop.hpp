// fftw_threads_set_callback: runs transforms in the caller's parallel loop instead of our threads, for both precisions.
#pragma once
#include <cstddef>

namespace ridge::fftw {

// Calls work(jobs + i * bytes) for i from 0 to count - 1, in any order.
using CallersLoop = void (*)(void* (*work)(char*), char* jobs, std::size_t bytes, int count, void* data);

// Null restores our own threads.
void use_callers_loop(CallersLoop loop, void* data) noexcept;

}  // namespace ridge::fftw

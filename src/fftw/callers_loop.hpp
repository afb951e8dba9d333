// fftw_threads_set_callback: the program's own parallel loop in place of our threads, in both precisions.
#pragma once
#include <cstddef>

namespace ridge::fftw {

// Calls work(jobs + i * bytes) for i from 0 to count - 1, in any order.
using CallersLoop = void (*)(void* (*work)(char*), char* jobs, std::size_t bytes, int count, void* data);

// Null brings our own threads back.
void use_callers_loop(CallersLoop loop, void* data) noexcept;

}  // namespace ridge::fftw

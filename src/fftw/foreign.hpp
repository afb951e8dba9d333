// Access to the real FFTW library, for plans that fftw_mpi makes with it and then passes to calls served here, and
// loops that the caller runs with its own threads.
#pragma once
#include <cstddef>
#include <type_traits>

namespace ridge::fftw {

// The function of that name in the real library ("fftw_execute"), or null if the library is not found.
void* real_function(const char* name);

// True if this process has loaded FFTW's MPI library, which plans with the real FFTW.
bool mpi_is_loaded(bool single);

template <class Function, class... Arguments>
auto call_real(const char* name, Arguments... arguments) {
  using Result = decltype(static_cast<Function*>(nullptr)(arguments...));
  auto* const function = reinterpret_cast<Function*>(real_function(name));
  if constexpr (std::is_void_v<Result>) {
    if (function != nullptr) function(arguments...);
  } else {
    return function != nullptr ? function(arguments...) : Result{};
  }
}

// fftw_threads_set_callback: runs transforms in the caller's parallel loop instead of our threads, for both precisions.

// Calls work(jobs + i * bytes) for i from 0 to count - 1, in any order.
using CallersLoop = void (*)(void* (*work)(char*), char* jobs, std::size_t bytes, int count, void* data);

// Null restores our own threads.
void use_callers_loop(CallersLoop loop, void* data) noexcept;

}  // namespace ridge::fftw

// Plans that are not ours: fftw_mpi makes them with the real library, and hands them to calls that this one serves.
#pragma once
#include <type_traits>

namespace ridge::fftw {

// The function of that name in the real library ("fftw_execute"), or null where there is none.
void* real_function(const char* name);

// Whether this process has loaded FFTW's MPI library, which plans with the real one.
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

}  // namespace ridge::fftw

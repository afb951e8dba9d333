// Access to the real FFTW library, for plans that fftw_mpi makes with it and then passes to calls served here.
#pragma once
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

}  // namespace ridge::fftw

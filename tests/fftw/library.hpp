// Calls FFTW's interface in a shared library by name, so that ours and the real one can be loaded together.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

#include <dlfcn.h>

namespace ridge::fftw_test {

struct IoDim64 {
  std::ptrdiff_t n, is, os;
};

template <class R>
class Library {
 public:
  // The handle is null if the file cannot be opened.
  explicit Library(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL | kOwnSymbols)) {}
  bool here() const { return handle_ != nullptr; }

  static std::string name(const std::string& call) { return (std::is_same_v<R, float> ? "fftwf_" : "fftw_") + call; }
  void* symbol(const std::string& full) const { return dlsym(handle_, full.c_str()); }

  template <class Result = void*, class... Arguments>
  Result call(const char* which, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Result (*)(Arguments...)>(symbol(name(which)));
    return function(arguments...);
  }

 private:
  // Not with sanitizers, whose run time must be loaded first.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr int kOwnSymbols = 0;
#else
  static constexpr int kOwnSymbols = RTLD_DEEPBIND;
#endif
  void* handle_;
};

}  // namespace ridge::fftw_test

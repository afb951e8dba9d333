// FFTW's interface as a shared object offers it: ours and the real one side by side in one process.
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
  // Null handle where the file cannot be opened.
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
  // A sanitizer's run time has to come first, and refuses it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr int kOwnSymbols = 0;
#else
  static constexpr int kOwnSymbols = RTLD_DEEPBIND;
#endif
  void* handle_;
};

}  // namespace ridge::fftw_test

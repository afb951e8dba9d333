// Loads the drop-in library and the real FFTW into one process.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

namespace ridge::fftw_test {

struct IoDim64 {
  std::ptrdiff_t n, is, os;
};

// FFTW's interface in a shared library, called by name, so that ours and the real one can be loaded together.
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

constexpr unsigned kEstimate = 1U << 6, kPreserve = 1U << 4, kWisdomOnly = 1U << 21, kMeasure = 0, kPatient = 1U << 5;

template <class R>
class DropIn : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ours.here()) << dlerror();
    if (!real.here()) GTEST_SKIP() << "FFTW itself is not installed";
  }
  Library<R> ours{RIDGE_FFTW_LIBRARY};
  Library<R> real{std::is_same_v<R, float> ? "libfftw3f.so.3" : "libfftw3.so.3"};
};

using Precisions = testing::Types<float, double>;

}  // namespace ridge::fftw_test

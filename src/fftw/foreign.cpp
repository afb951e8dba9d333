// Opens the real FFTW library, looks up its functions, and runs loops on the caller's threads.
#include "fftw/foreign.hpp"

#include <dlfcn.h>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <ridge/threads.hpp>

namespace ridge::fftw {
namespace {

// True if the handle belongs to this library: symbolic links with FFTW's names may lead to it.
bool is_this_library(void* handle, const char* symbol) {
  void* const found = dlsym(handle, symbol);
  Dl_info theirs{}, ours{};
  if (found == nullptr || dladdr(found, &theirs) == 0) return true;  // unusable in either case
  return dladdr(reinterpret_cast<const void*>(&real_function), &ours) != 0 && theirs.dli_fbase == ours.dli_fbase;
}

// Opens the real FFTW by name, then in the directories of distributions. RTLD_NEXT fails because Python loads its
// modules with RTLD_LOCAL.
void* open_real(bool single) {
  const std::string file = single ? "libfftw3f.so.3" : "libfftw3.so.3";
  const char* const symbol = single ? "fftwf_execute" : "fftw_execute";
  constexpr std::array folders = {
      "", "/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/", "/usr/local/lib/"};
  for (const char* folder : folders) {
    void* const handle = dlopen((folder + file).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle != nullptr && !is_this_library(handle, symbol)) return handle;
  }
  return nullptr;
}

}  // namespace

void* real_function(const char* name) {
  static void* const double_library = open_real(false);
  static void* const single_library = open_real(true);
  void* const library = std::strncmp(name, "fftwf_", 6) == 0 ? single_library : double_library;
  return library == nullptr ? nullptr : dlsym(library, name);
}

bool mpi_is_loaded(bool single) {
  void* const handle = dlopen(single ? "libfftw3f_mpi.so.3" : "libfftw3_mpi.so.3", RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

namespace {

struct Job {
  const std::function<void(std::size_t)>* run;
  std::size_t number;
};

void* do_job(char* memory) {
  const Job& job = *reinterpret_cast<const Job*>(memory);
  (*job.run)(job.number);
  return nullptr;
}

}  // namespace

void use_callers_loop(CallersLoop loop, void* data) noexcept {
  try {
    if (loop == nullptr) return set_parallel_loop({});
    set_parallel_loop([loop, data](std::size_t count, const std::function<void(std::size_t)>& run) {
      std::vector<Job> jobs(count);
      for (std::size_t i = 0; i < count; ++i) jobs[i] = {&run, i};
      loop(do_job, reinterpret_cast<char*>(jobs.data()), sizeof(Job), static_cast<int>(count), data);
    });
  } catch (const std::exception&) {  // out of memory: the present loop is kept
  }
}

}  // namespace ridge::fftw

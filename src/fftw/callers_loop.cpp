#include "fftw/callers_loop.hpp"

#include <exception>
#include <functional>
#include <vector>

#include <ridge/threads.hpp>

namespace ridge::fftw {
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

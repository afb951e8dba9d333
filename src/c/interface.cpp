// The C interface: opaque plans, status codes, one message per thread.
#include <ridge.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/error.hpp>
#include <ridge/fft/convolution.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/trace.hpp>
#include <ridge/transpose.hpp>

using ridge::Error;
using ridge::ErrorKind;

struct ridge_fft_plan {
  std::variant<ridge::fft::TensorPlan<float>, ridge::fft::TensorPlan<double>> plan;
};
struct ridge_transpose_plan {
  ridge::transpose::AnyPlan plan;
  std::size_t element_bytes;
};
struct ridge_convolution_plan {
  std::variant<ridge::fft::Convolution<float>, ridge::fft::Convolution<double>,
               ridge::fft::Convolution<std::complex<float>>, ridge::fft::Convolution<std::complex<double>>>
      plan;
};

namespace {

thread_local std::string last_error;
std::mutex holds_mutex;
std::vector<std::unique_ptr<ridge::planner::Hold>> holds;  // of ridge_hold()

ridge_status status_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
      return RIDGE_INVALID_ARGUMENT;
    case ErrorKind::out_of_memory:
      return RIDGE_OUT_OF_MEMORY;
    case ErrorKind::unavailable:
      return RIDGE_UNAVAILABLE;
    case ErrorKind::io:
      return RIDGE_IO;
    default:
      return RIDGE_INTERNAL;
  }
}

// Runs the body and turns exceptions into a status and this thread's message.
template <class Body>
ridge_status guarded(const Body& body) noexcept {
  try {
    last_error.clear();
    body();
    return RIDGE_OK;
  } catch (const Error& error) {
    last_error = error.what();
    return status_of(error);
  } catch (const std::bad_alloc&) {
    last_error = "not enough memory";
    return RIDGE_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error = error.what();
    return RIDGE_INTERNAL;
  }
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

template <class T>
const T& present(const T* pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is NULL");
  return *pointer;
}

void needs_arrays(const void* in, std::size_t in_size, const void* out, std::size_t out_size) {
  if (in == nullptr && in_size > 0) refuse("in is NULL");
  if (out == nullptr && out_size > 0) refuse("out is NULL");
}

// A copy of the caller's struct: members that it does not know are zero.
template <class T>
T complete(const T* given, const char* what) {
  present(given, what);
  if (given->struct_size < sizeof(std::size_t) || given->struct_size > 65536)
    refuse(std::string(what) + ".struct_size must be sizeof(" + what + "), got " + std::to_string(given->struct_size));
  T result{};
  std::memcpy(&result, given, std::min(given->struct_size, sizeof(T)));
  return result;
}

void put_text(const std::string& text, char* to, std::size_t* size) {
  if (size == nullptr) refuse("size is NULL");
  const std::size_t room = *size;
  *size = text.size() + 1;
  if (to == nullptr) return;
  if (room < text.size() + 1)
    refuse("the text has " + std::to_string(text.size() + 1) + " bytes, the buffer " + std::to_string(room));
  std::memcpy(to, text.c_str(), text.size() + 1);
}

ridge::Device device_named(const char* name) { return ridge::device(name == nullptr ? "host" : name); }

ridge::planner::Options options_of(int measured) {
  return {.effort = measured != 0 ? ridge::Effort::measured : ridge::Effort::quick, .save_wisdom = measured != 0};
}

std::vector<ridge::fft::Dimension> dimensions_of(const ridge_dimension* first, std::size_t count, const char* what) {
  if (count > 64) refuse(std::string(what) + ": at most 64, got " + std::to_string(count));
  if (count > 0) present(first, what);
  std::vector<ridge::fft::Dimension> result;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i].length < 0) refuse(std::string(what) + ": a negative length");
    result.push_back({static_cast<std::size_t>(first[i].length), first[i].input_stride, first[i].output_stride});
  }
  return result;
}

ridge::fft::TensorProblem problem_of(const ridge_fft_problem& given) {
  if (given.kind < RIDGE_FORWARD || given.kind > RIDGE_REAL_TO_REAL)
    refuse("kind must be 0 to 4, got " + std::to_string(given.kind));
  if (given.precision != RIDGE_FLOAT32 && given.precision != RIDGE_FLOAT64)
    refuse("precision must be 0 or 1, got " + std::to_string(given.precision));
  ridge::fft::TensorProblem problem{.kind = static_cast<ridge::fft::TensorKind>(given.kind),
                                    .axes = dimensions_of(given.axis, given.axes, "axis"),
                                    .loops = dimensions_of(given.loop, given.loops, "loop"),
                                    .in_place = given.in_place != 0,
                                    .scale = given.scale == 0 ? 1 : given.scale,
                                    .threads = std::max<std::size_t>(given.threads, 1)};
  if (given.kind != RIDGE_REAL_TO_REAL) return problem;
  present(given.real_kind, "real_kind");
  for (std::size_t i = 0; i < given.axes; ++i) {
    if (given.real_kind[i] < RIDGE_HALFCOMPLEX || given.real_kind[i] > RIDGE_DST4)
      refuse("real_kind must be 0 to 10, got " + std::to_string(given.real_kind[i]));
    problem.real_kinds.push_back(static_cast<ridge::fft::RealKind>(given.real_kind[i]));
  }
  return problem;
}

template <class Element>
void run_convolution(const ridge::fft::Convolution<Element>& plan, const void* in, std::size_t in_size, void* out,
                     std::size_t out_size) {
  plan.run(std::span(static_cast<const Element*>(in), in_size), std::span(static_cast<Element*>(out), out_size));
}

}  // namespace

int ridge_abi(void) { return RIDGE_ABI; }
const char* ridge_version(void) { return RIDGE_VERSION; }
const char* ridge_last_error(void) { return last_error.c_str(); }

ridge_status ridge_devices(char* text, size_t* size) {
  return guarded([&] {
    std::string names;
    for (const ridge::Device& device : ridge::devices().devices) names += device.id() + "\n";
    put_text(names, text, size);
  });
}
ridge_status ridge_trace_start(const char* path) {
  return guarded([&] { ridge::trace::start(std::string(&present(path, "path"))); });
}
ridge_status ridge_trace_stop(void) {
  return guarded([] { ridge::trace::stop(); });
}

ridge_status ridge_improve(int improvement) {
  return guarded([&] {
    using ridge::planner::Improve;
    if (improvement < RIDGE_IMPROVE_NEVER || improvement > RIDGE_IMPROVE_NOW)
      refuse("improvement must be 0 to 2, got " + std::to_string(improvement));
    constexpr Improve kModes[] = {Improve::never, Improve::next_time, Improve::now};
    ridge::planner::set_improve(kModes[improvement]);
  });
}
ridge_status ridge_hold(void) {
  return guarded([] {
    const std::lock_guard lock(holds_mutex);
    holds.push_back(std::make_unique<ridge::planner::Hold>());
  });
}
ridge_status ridge_release(void) {
  return guarded([] {
    const std::lock_guard lock(holds_mutex);
    if (holds.empty()) refuse("ridge_release() without ridge_hold()");
    holds.pop_back();
  });
}

ridge_status ridge_fft_plan_create(const char* device, const ridge_fft_problem* given, ridge_fft_plan** plan) {
  return guarded([&] {
    present(plan, "plan");
    *plan = nullptr;
    const ridge_fft_problem problem = complete(given, "ridge_fft_problem");
    const ridge::fft::TensorProblem tensor = problem_of(problem);
    const ridge::Device where = device_named(device);
    const ridge::planner::Options options = options_of(problem.measured);
    *plan = problem.precision == RIDGE_FLOAT32
                ? new ridge_fft_plan{ridge::fft::TensorPlan<float>(where, tensor, options)}
                : new ridge_fft_plan{ridge::fft::TensorPlan<double>(where, tensor, options)};
  });
}
ridge_status ridge_fft_run(const ridge_fft_plan* plan, const void* in, void* out) {
  if (plan == nullptr || in == nullptr || out == nullptr) {
    return guarded([] { refuse("plan, in or out is NULL"); });
  }
  std::visit([&](const auto& one) { one.run(in, out); }, plan->plan);
  return RIDGE_OK;
}
ridge_status ridge_fft_explain(const ridge_fft_plan* plan, char* text, size_t* size) {
  return guarded([&] {
    put_text(std::visit([](const auto& one) { return one.explain(); }, present(plan, "plan").plan), text, size);
  });
}
ridge_status ridge_fft_adjoint(const ridge_fft_plan* plan, ridge_fft_plan** adjoint) {
  return guarded([&] {
    present(adjoint, "adjoint");
    *adjoint = nullptr;
    *adjoint = std::visit([](const auto& one) { return new ridge_fft_plan{one.adjoint(options_of(0))}; },
                          present(plan, "plan").plan);
  });
}
void ridge_fft_plan_free(ridge_fft_plan* plan) { delete plan; }

ridge_status ridge_transpose_plan_create(const char* device, const ridge_transpose_problem* given,
                                         ridge_transpose_plan** plan) {
  return guarded([&] {
    present(plan, "plan");
    *plan = nullptr;
    const ridge_transpose_problem problem = complete(given, "ridge_transpose_problem");
    const ridge::transpose::Problem described{.rows = problem.rows,
                                              .columns = problem.columns,
                                              .batch = std::max<std::size_t>(problem.batch, 1),
                                              .input = {.row = problem.input_row},
                                              .output = {.row = problem.output_row},
                                              .threads = problem.threads};
    *plan = new ridge_transpose_plan{
        {device_named(device), described, problem.element_bytes, options_of(problem.measured)}, problem.element_bytes};
  });
}
ridge_status ridge_transpose_run(const ridge_transpose_plan* plan, const void* in, size_t in_bytes, void* out,
                                 size_t out_bytes) {
  return guarded([&] {
    needs_arrays(in, in_bytes, out, out_bytes);
    present(plan, "plan").plan.run_bytes(in, in_bytes, out, out_bytes);
  });
}
ridge_status ridge_transpose_explain(const ridge_transpose_plan* plan, char* text, size_t* size) {
  return guarded([&] { put_text(present(plan, "plan").plan.explain(), text, size); });
}
ridge_status ridge_transpose_adjoint(const ridge_transpose_plan* plan, ridge_transpose_plan** adjoint) {
  return guarded([&] {
    present(adjoint, "adjoint");
    *adjoint = nullptr;
    const ridge::transpose::AnyPlan& one = present(plan, "plan").plan;
    *adjoint = new ridge_transpose_plan{
        {one.device(), ridge::transpose::adjoint(one.problem()), plan->element_bytes, options_of(0)},
        plan->element_bytes};
  });
}
void ridge_transpose_plan_free(ridge_transpose_plan* plan) { delete plan; }

ridge_status ridge_convolution_plan_create(const char* device, const ridge_convolution_problem* given,
                                           ridge_convolution_plan** plan) {
  return guarded([&] {
    present(plan, "plan");
    *plan = nullptr;
    const ridge_convolution_problem problem = complete(given, "ridge_convolution_problem");
    if (problem.precision != RIDGE_FLOAT32 && problem.precision != RIDGE_FLOAT64)
      refuse("precision must be 0 or 1, got " + std::to_string(problem.precision));
    if (problem.filter_size > 0 && problem.filter == nullptr) refuse("filter is NULL");
    const auto make = [&]<class Element>(Element) {
      const std::span filter(static_cast<const Element*>(problem.filter), problem.filter_size);
      *plan = new ridge_convolution_plan{
          ridge::fft::Convolution<Element>(device_named(device), filter, {.threads = problem.threads})};
    };
    const bool complex = problem.complex_values != 0;
    if (problem.precision == RIDGE_FLOAT32) {
      complex ? make(std::complex<float>()) : make(float());
    } else {
      complex ? make(std::complex<double>()) : make(double());
    }
  });
}
ridge_status ridge_convolution_run(const ridge_convolution_plan* plan, const void* in, size_t in_size, void* out,
                                   size_t out_size) {
  return guarded([&] {
    needs_arrays(in, in_size, out, out_size);
    std::visit([&](const auto& one) { run_convolution(one, in, in_size, out, out_size); }, present(plan, "plan").plan);
  });
}
ridge_status ridge_convolution_explain(const ridge_convolution_plan* plan, char* text, size_t* size) {
  return guarded([&] {
    put_text(std::visit([](const auto& one) { return one.explain(); }, present(plan, "plan").plan), text, size);
  });
}
ridge_status ridge_convolution_adjoint(const ridge_convolution_plan* plan, ridge_convolution_plan** adjoint) {
  return guarded([&] {
    present(adjoint, "adjoint");
    *adjoint = nullptr;
    *adjoint = std::visit([](const auto& one) { return new ridge_convolution_plan{one.adjoint()}; },
                          present(plan, "plan").plan);
  });
}
void ridge_convolution_plan_free(ridge_convolution_plan* plan) { delete plan; }

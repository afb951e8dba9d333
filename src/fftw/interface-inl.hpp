// FFTW's C interface in one precision. Included by interface_double.cpp and interface_float.cpp, which define R and X:
// X(execute) is fftw_execute or fftwf_execute. Not a header: no guard.
//
// No exception leaves these functions: on failure a planner returns NULL and the others do nothing.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string>

#include "base/fork_gate.hpp"
#include "fftw/foreign.hpp"
#include "fftw/make_plan.hpp"
#include "fftw/wisdom.hpp"

#define RIDGE_FFTW_TEXT_OF(x) #x
#define RIDGE_FFTW_TEXT(x) RIDGE_FFTW_TEXT_OF(x)
#define RIDGE_FFTW_REAL(name) RIDGE_FFTW_TEXT(X(name))

namespace {

namespace fft = ridge::fft;
using namespace ridge::fftw;  // NOLINT: this file is a translation unit of its own
using fft::TensorKind;
using C = R[2];
using Handle = Plan<R>*;

// Returns our plan, or null for a plan of the real library.
Plan<R>* ours(const void* plan) {
  auto* const mine = static_cast<Plan<R>*>(const_cast<void*>(plan));
  return mine != nullptr && mine->magic == kMagic ? mine : nullptr;
}

template <class Pointer>
R* reals(Pointer pointer) {
  return reinterpret_cast<R*>(pointer);
}

Request request(TensorKind kind, const void* in, const void* out) {
  Request made;
  made.problem.kind = kind;
  made.problem.in_place = in == out;
  return made;
}

TensorKind by_sign(int sign) { return sign == -1 ? TensorKind::complex_forward : TensorKind::complex_inverse; }

template <class In, class Out>
Handle plan_packed(TensorKind kind, int rank, const int* n, In* in, Out* out, unsigned flags,
                   const int* kinds = nullptr) {
  Request made = request(kind, in, out);
  made.packed(rank, n);
  if (kind == TensorKind::real_to_real) made.kinds(rank, kinds);
  return make_plan<R>(made, {.in = reals(in), .out = reals(out)}, flags);
}

template <class In, class Out>
Handle plan_many(TensorKind kind, int rank, const int* n, int howmany, In* in, const Request::Places& input, Out* out,
                 const Request::Places& output, unsigned flags, const int* kinds = nullptr) {
  Request made = request(kind, in, out);
  made.many(rank, n, howmany, input, output);
  if (kind == TensorKind::real_to_real) made.kinds(rank, kinds);
  return make_plan<R>(made, {.in = reals(in), .out = reals(out)}, flags);
}

template <class Dim, class In, class Out>
Handle plan_guru(TensorKind kind, int rank, const Dim* dims, int loops, const Dim* loop_dims, In* in, Out* out,
                 unsigned flags, const int* kinds = nullptr) {
  Request made = request(kind, in, out);
  made.guru(rank, dims, loops, loop_dims);
  if (kind == TensorKind::real_to_real) made.kinds(rank, kinds);
  return make_plan<R>(made, {.in = reals(in), .out = reals(out)}, flags);
}

template <class Dim>
Handle plan_split(TensorKind kind, int rank, const Dim* dims, int loops, const Dim* loop_dims, const Arrays<R>& arrays,
                  unsigned flags) {
  Request made = request(kind, arrays.in, arrays.out);
  made.problem.split_input = kind != TensorKind::real_forward;
  made.problem.split_output = kind != TensorKind::real_inverse;
  made.guru(rank, dims, loops, loop_dims);
  return make_plan<R>(made, arrays, flags);
}

char* copy_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

std::string plan_text(const void* plan) {
  const Plan<R>* const mine = ours(plan);
  return mine == nullptr ? "" : "(ridgeline\n" + mine->plan().explain() + ")";
}

constexpr bool kSingle = sizeof(R) == sizeof(float);

bool take_wisdom(const std::function<int()>& next) {
  try {
    const ridge::base::ForkGate gate;
    return ridge::fftw::wisdom::import_from(kSingle, next);
  } catch (const std::exception&) {
    return false;
  }
}

// Returns an empty text if memory is exhausted.
std::string give_wisdom() {
  try {
    const ridge::base::ForkGate gate;
    return ridge::fftw::wisdom::export_text(kSingle);
  } catch (const std::exception&) {
    return {};
  }
}

void forget_wisdom() {
  try {
    const ridge::base::ForkGate gate;
    ridge::fftw::wisdom::forget(kSingle);
  } catch (const std::exception&) {
  }
}

}  // namespace

extern "C" {

extern const char X(version)[] = "fftw-3.3.10";  // as long as FFTW's own: programs hold copies of it
extern const char X(cc)[] = "Ridgeline";
extern const char X(codelet_optim)[] = "";

// --- complex -----------------------------------------------------------------------------------------------------

Handle X(plan_dft)(int rank, const int* n, C* in, C* out, int sign, unsigned flags) {
  return plan_packed(by_sign(sign), rank, n, in, out, flags);
}
Handle X(plan_dft_1d)(int n, C* in, C* out, int sign, unsigned flags) {
  return plan_packed(by_sign(sign), 1, &n, in, out, flags);
}
Handle X(plan_dft_2d)(int n0, int n1, C* in, C* out, int sign, unsigned flags) {
  const int n[] = {n0, n1};
  return plan_packed(by_sign(sign), 2, n, in, out, flags);
}
Handle X(plan_dft_3d)(int n0, int n1, int n2, C* in, C* out, int sign, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return plan_packed(by_sign(sign), 3, n, in, out, flags);
}
Handle X(plan_many_dft)(int rank, const int* n, int howmany, C* in, const int* inembed, int istride, int idist, C* out,
                        const int* onembed, int ostride, int odist, int sign, unsigned flags) {
  return plan_many(by_sign(sign), rank, n, howmany, in, {inembed, istride, idist}, out, {onembed, ostride, odist},
                   flags);
}
Handle X(plan_guru_dft)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, C* in, C* out, int sign,
                        unsigned flags) {
  return plan_guru(by_sign(sign), rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru64_dft)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, C* in, C* out, int sign,
                          unsigned flags) {
  return plan_guru(by_sign(sign), rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru_split_dft)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, R* ri, R* ii, R* ro,
                              R* io, unsigned flags) {
  return plan_split(TensorKind::complex_forward, rank, dims, loops, loop_dims, {ri, ii, ro, io}, flags);
}
Handle X(plan_guru64_split_dft)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, R* ri, R* ii, R* ro,
                                R* io, unsigned flags) {
  return plan_split(TensorKind::complex_forward, rank, dims, loops, loop_dims, {ri, ii, ro, io}, flags);
}

// --- real to complex and back ------------------------------------------------------------------------------------

Handle X(plan_dft_r2c)(int rank, const int* n, R* in, C* out, unsigned flags) {
  return plan_packed(TensorKind::real_forward, rank, n, in, out, flags);
}
Handle X(plan_dft_r2c_1d)(int n, R* in, C* out, unsigned flags) {
  return plan_packed(TensorKind::real_forward, 1, &n, in, out, flags);
}
Handle X(plan_dft_r2c_2d)(int n0, int n1, R* in, C* out, unsigned flags) {
  const int n[] = {n0, n1};
  return plan_packed(TensorKind::real_forward, 2, n, in, out, flags);
}
Handle X(plan_dft_r2c_3d)(int n0, int n1, int n2, R* in, C* out, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return plan_packed(TensorKind::real_forward, 3, n, in, out, flags);
}
Handle X(plan_many_dft_r2c)(int rank, const int* n, int howmany, R* in, const int* inembed, int istride, int idist,
                            C* out, const int* onembed, int ostride, int odist, unsigned flags) {
  return plan_many(TensorKind::real_forward, rank, n, howmany, in, {inembed, istride, idist}, out,
                   {onembed, ostride, odist}, flags);
}
Handle X(plan_guru_dft_r2c)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, R* in, C* out,
                            unsigned flags) {
  return plan_guru(TensorKind::real_forward, rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru64_dft_r2c)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, R* in, C* out,
                              unsigned flags) {
  return plan_guru(TensorKind::real_forward, rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru_split_dft_r2c)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, R* in, R* ro, R* io,
                                  unsigned flags) {
  return plan_split(TensorKind::real_forward, rank, dims, loops, loop_dims, {in, nullptr, ro, io}, flags);
}
Handle X(plan_guru64_split_dft_r2c)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, R* in, R* ro,
                                    R* io, unsigned flags) {
  return plan_split(TensorKind::real_forward, rank, dims, loops, loop_dims, {in, nullptr, ro, io}, flags);
}
Handle X(plan_dft_c2r)(int rank, const int* n, C* in, R* out, unsigned flags) {
  return plan_packed(TensorKind::real_inverse, rank, n, in, out, flags);
}
Handle X(plan_dft_c2r_1d)(int n, C* in, R* out, unsigned flags) {
  return plan_packed(TensorKind::real_inverse, 1, &n, in, out, flags);
}
Handle X(plan_dft_c2r_2d)(int n0, int n1, C* in, R* out, unsigned flags) {
  const int n[] = {n0, n1};
  return plan_packed(TensorKind::real_inverse, 2, n, in, out, flags);
}
Handle X(plan_dft_c2r_3d)(int n0, int n1, int n2, C* in, R* out, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return plan_packed(TensorKind::real_inverse, 3, n, in, out, flags);
}
Handle X(plan_many_dft_c2r)(int rank, const int* n, int howmany, C* in, const int* inembed, int istride, int idist,
                            R* out, const int* onembed, int ostride, int odist, unsigned flags) {
  return plan_many(TensorKind::real_inverse, rank, n, howmany, in, {inembed, istride, idist}, out,
                   {onembed, ostride, odist}, flags);
}
Handle X(plan_guru_dft_c2r)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, C* in, R* out,
                            unsigned flags) {
  return plan_guru(TensorKind::real_inverse, rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru64_dft_c2r)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, C* in, R* out,
                              unsigned flags) {
  return plan_guru(TensorKind::real_inverse, rank, dims, loops, loop_dims, in, out, flags);
}
Handle X(plan_guru_split_dft_c2r)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, R* ri, R* ii, R* out,
                                  unsigned flags) {
  return plan_split(TensorKind::real_inverse, rank, dims, loops, loop_dims, {ri, ii, out, nullptr}, flags);
}
Handle X(plan_guru64_split_dft_c2r)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, R* ri, R* ii,
                                    R* out, unsigned flags) {
  return plan_split(TensorKind::real_inverse, rank, dims, loops, loop_dims, {ri, ii, out, nullptr}, flags);
}

// --- real to real ------------------------------------------------------------------------------------------------

Handle X(plan_r2r)(int rank, const int* n, R* in, R* out, const int* kind, unsigned flags) {
  return plan_packed(TensorKind::real_to_real, rank, n, in, out, flags, kind);
}
Handle X(plan_r2r_1d)(int n, R* in, R* out, int kind, unsigned flags) {
  return plan_packed(TensorKind::real_to_real, 1, &n, in, out, flags, &kind);
}
Handle X(plan_r2r_2d)(int n0, int n1, R* in, R* out, int kind0, int kind1, unsigned flags) {
  const int n[] = {n0, n1}, kinds[] = {kind0, kind1};
  return plan_packed(TensorKind::real_to_real, 2, n, in, out, flags, kinds);
}
Handle X(plan_r2r_3d)(int n0, int n1, int n2, R* in, R* out, int kind0, int kind1, int kind2, unsigned flags) {
  const int n[] = {n0, n1, n2}, kinds[] = {kind0, kind1, kind2};
  return plan_packed(TensorKind::real_to_real, 3, n, in, out, flags, kinds);
}
Handle X(plan_many_r2r)(int rank, const int* n, int howmany, R* in, const int* inembed, int istride, int idist, R* out,
                        const int* onembed, int ostride, int odist, const int* kind, unsigned flags) {
  return plan_many(TensorKind::real_to_real, rank, n, howmany, in, {inembed, istride, idist}, out,
                   {onembed, ostride, odist}, flags, kind);
}
Handle X(plan_guru_r2r)(int rank, const IoDim* dims, int loops, const IoDim* loop_dims, R* in, R* out, const int* kind,
                        unsigned flags) {
  return plan_guru(TensorKind::real_to_real, rank, dims, loops, loop_dims, in, out, flags, kind);
}
Handle X(plan_guru64_r2r)(int rank, const IoDim64* dims, int loops, const IoDim64* loop_dims, R* in, R* out,
                          const int* kind, unsigned flags) {
  return plan_guru(TensorKind::real_to_real, rank, dims, loops, loop_dims, in, out, flags, kind);
}

// --- executing ---------------------------------------------------------------------------------------------------

void X(execute)(const void* plan) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute();
  call_real<void(const void*)>(RIDGE_FFTW_REAL(execute), plan);
}
void X(execute_dft)(const void* plan, C* in, C* out) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) {
    return mine->execute({reals(in), reals(in) + 1, reals(out), reals(out) + 1});
  }
  call_real<void(const void*, C*, C*)>(RIDGE_FFTW_REAL(execute_dft), plan, in, out);
}
void X(execute_dft_r2c)(const void* plan, R* in, C* out) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute({in, nullptr, reals(out), reals(out) + 1});
  call_real<void(const void*, R*, C*)>(RIDGE_FFTW_REAL(execute_dft_r2c), plan, in, out);
}
void X(execute_dft_c2r)(const void* plan, C* in, R* out) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute({reals(in), reals(in) + 1, out, nullptr});
  call_real<void(const void*, C*, R*)>(RIDGE_FFTW_REAL(execute_dft_c2r), plan, in, out);
}
void X(execute_r2r)(const void* plan, R* in, R* out) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute({in, nullptr, out, nullptr});
  call_real<void(const void*, R*, R*)>(RIDGE_FFTW_REAL(execute_r2r), plan, in, out);
}
void X(execute_split_dft)(const void* plan, R* ri, R* ii, R* ro, R* io) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute_split({ri, ii, ro, io});
  call_real<void(const void*, R*, R*, R*, R*)>(RIDGE_FFTW_REAL(execute_split_dft), plan, ri, ii, ro, io);
}
void X(execute_split_dft_r2c)(const void* plan, R* in, R* ro, R* io) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute_split({in, nullptr, ro, io});
  call_real<void(const void*, R*, R*, R*)>(RIDGE_FFTW_REAL(execute_split_dft_r2c), plan, in, ro, io);
}
void X(execute_split_dft_c2r)(const void* plan, R* ri, R* ii, R* out) {
  if (plan == nullptr) return;
  if (const Plan<R>* const mine = ours(plan)) return mine->execute_split({ri, ii, out, nullptr});
  call_real<void(const void*, R*, R*, R*)>(RIDGE_FFTW_REAL(execute_split_dft_c2r), plan, ri, ii, out);
}

// --- plans as objects --------------------------------------------------------------------------------------------

void* X(copy_plan)(void* plan) {
  if (Plan<R>* const mine = ours(plan)) {
    ++mine->references;
    return plan;
  }
  return plan == nullptr ? nullptr : call_real<void*(void*)>(RIDGE_FFTW_REAL(copy_plan), plan);
}
void X(destroy_plan)(void* plan) {
  if (plan == nullptr) return;
  if (Plan<R>* const mine = ours(plan)) {
    if (--mine->references == 0) delete mine;
    return;
  }
  call_real<void(void*)>(RIDGE_FFTW_REAL(destroy_plan), plan);
}
void X(flops)(const void* plan, double* add, double* mul, double* fma) {
  const Plan<R>* const mine = ours(plan);
  if (mine == nullptr && plan != nullptr) {
    return call_real<void(const void*, double*, double*, double*)>(RIDGE_FFTW_REAL(flops), plan, add, mul, fma);
  }
  if (add != nullptr) *add = mine == nullptr ? 0 : mine->plan().done_flops();
  if (mul != nullptr) *mul = 0;
  if (fma != nullptr) *fma = 0;
}
double X(cost)(const void* plan) {
  if (const Plan<R>* const mine = ours(plan)) return mine->cost();
  return plan == nullptr ? 0 : call_real<double(const void*)>(RIDGE_FFTW_REAL(cost), plan);
}
double X(estimate_cost)(const void* plan) {
  if (const Plan<R>* const mine = ours(plan)) return mine->cost();
  return plan == nullptr ? 0 : call_real<double(const void*)>(RIDGE_FFTW_REAL(estimate_cost), plan);
}
void X(fprint_plan)(const void* plan, std::FILE* file) {
  if (plan != nullptr && ours(plan) == nullptr) {
    return call_real<void(const void*, std::FILE*)>(RIDGE_FFTW_REAL(fprint_plan), plan, file);
  }
  if (file != nullptr) std::fputs(plan_text(plan).c_str(), file);
}
void X(print_plan)(const void* plan) { X(fprint_plan)(plan, stdout); }
char* X(sprint_plan)(const void* plan) {
  if (plan != nullptr && ours(plan) == nullptr) {
    return call_real<char*(const void*)>(RIDGE_FFTW_REAL(sprint_plan), plan);
  }
  return copy_of(plan_text(plan));
}

// --- memory ------------------------------------------------------------------------------------------------------

void* X(malloc)(std::size_t bytes) {
  void* memory = nullptr;
  return posix_memalign(&memory, 64, bytes == 0 ? 1 : bytes) == 0 ? memory : nullptr;
}
R* X(alloc_real)(std::size_t n) {
  return n > SIZE_MAX / sizeof(R) ? nullptr : static_cast<R*>(X(malloc)(n * sizeof(R)));
}
C* X(alloc_complex)(std::size_t n) {
  return n > SIZE_MAX / sizeof(C) ? nullptr : static_cast<C*>(X(malloc)(n * sizeof(C)));
}
void X(free)(void* memory) { std::free(memory); }
int X(alignment_of)(R* address) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % sizeof(R)); }

// --- the planner's settings, threads, wisdom ---------------------------------------------------------------------

void X(cleanup)() {
  forget_wisdom();
  try {
    fft::forget_cached_plans();
  } catch (const std::exception&) {
  }
}
void X(forget_wisdom)() { forget_wisdom(); }
void X(set_timelimit)(double seconds) { settings().time_limit = seconds; }
int X(init_threads)() { return 1; }
void X(cleanup_threads)() { X(cleanup)(); }
void X(plan_with_nthreads)(int threads) { settings().threads = threads < 1 ? 1 : threads; }
int X(planner_nthreads)() { return settings().threads; }
void X(make_planner_thread_safe)() {}
void X(threads_set_callback)(CallersLoop loop, void* data) { use_callers_loop(loop, data); }

void X(export_wisdom)(void (*write_char)(char, void*), void* data) {
  if (write_char == nullptr) return;
  for (const char c : give_wisdom()) write_char(c, data);
}
void X(export_wisdom_to_file)(std::FILE* file) {
  if (file != nullptr) std::fputs(give_wisdom().c_str(), file);
}
int X(export_wisdom_to_filename)(const char* name) {
  const std::string text = give_wisdom();
  std::FILE* const file = name == nullptr || text.empty() ? nullptr : std::fopen(name, "w");
  if (file == nullptr) return 0;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written ? 1 : 0;
}
char* X(export_wisdom_to_string)() { return copy_of(give_wisdom()); }
int X(import_wisdom)(int (*read_char)(void*), void* data) {
  if (read_char == nullptr) return 0;
  return take_wisdom([&] { return read_char(data); }) ? 1 : 0;
}
int X(import_wisdom_from_file)(std::FILE* file) {
  if (file == nullptr) return 0;
  return take_wisdom([&] { return std::fgetc(file); }) ? 1 : 0;
}
int X(import_wisdom_from_filename)(const char* name) {
  std::FILE* const file = name == nullptr ? nullptr : std::fopen(name, "r");
  if (file == nullptr) return 0;
  const int taken = X(import_wisdom_from_file)(file);
  std::fclose(file);
  return taken;
}
int X(import_system_wisdom)() {
  return X(import_wisdom_from_filename)(kSingle ? "/etc/fftw/wisdomf" : "/etc/fftw/wisdom");
}
int X(import_wisdom_from_string)(const char* text) {
  if (text == nullptr) return 0;
  return take_wisdom([&] { return *text != '\0' ? static_cast<unsigned char>(*text++) : EOF; }) ? 1 : 0;
}

}  // extern "C"

// Fortran entry points in one precision: arguments by address, shapes in Fortran order (first axis fastest), names with
// one or two trailing underscores for different compilers. Included after interface-inl.hpp by the same units. Not a
// header: no guard.
#include <vector>

#define RIDGE_FORTRAN(name, parameters, ...) void F(name) parameters __VA_ARGS__ void F2(name) parameters __VA_ARGS__

namespace {

std::vector<int> reversed(int rank, const int* values) {
  std::vector<int> result;
  if (values == nullptr || rank < 0 || rank > Request::kMostRank) return result;
  for (int i = rank; i-- > 0;) result.push_back(values[i]);
  return result;
}

// Converts three Fortran arrays to dimensions in C order.
std::vector<IoDim> dims_of(int rank, const int* n, const int* is, const int* os) {
  std::vector<IoDim> dims;
  if (rank < 0 || rank > Request::kMostRank || (rank > 0 && (n == nullptr || is == nullptr || os == nullptr)))
    return dims;
  for (int i = 0; i < rank; ++i) dims.push_back({n[i], is[i], os[i]});
  return dims;
}

// An invalid rank is passed on unchanged, so that the planner returns NULL.
const int* pointer(const std::vector<int>& values) { return values.data(); }

}  // namespace

extern "C" {

RIDGE_FORTRAN(execute, (void** plan), { X(execute)(*plan); })
RIDGE_FORTRAN(copy_plan, (void** copy, void** plan), { *copy = X(copy_plan)(*plan); })
RIDGE_FORTRAN(destroy_plan, (void** plan), { X(destroy_plan)(*plan); })
RIDGE_FORTRAN(cleanup, (), { X(cleanup)(); })
RIDGE_FORTRAN(forget_wisdom, (), { X(forget_wisdom)(); })
RIDGE_FORTRAN(set_timelimit, (double* seconds), { X(set_timelimit)(*seconds); })
RIDGE_FORTRAN(init_threads, (int* okay), { *okay = X(init_threads)(); })
RIDGE_FORTRAN(cleanup_threads, (), { X(cleanup_threads)(); })
RIDGE_FORTRAN(plan_with_nthreads, (int* threads), { X(plan_with_nthreads)(*threads); })
RIDGE_FORTRAN(planner_nthreads, (int* threads), { *threads = X(planner_nthreads)(); })
RIDGE_FORTRAN(make_planner_thread_safe, (), { X(make_planner_thread_safe)(); })
RIDGE_FORTRAN(flops, (void** plan, double* add, double* mul, double* fma), { X(flops)(*plan, add, mul, fma); })
RIDGE_FORTRAN(cost, (double* cost, void** plan), { *cost = X(cost)(*plan); })
RIDGE_FORTRAN(estimate_cost, (double* cost, void** plan), { *cost = X(estimate_cost)(*plan); })
RIDGE_FORTRAN(print_plan, (void** plan), { X(print_plan)(*plan); })
RIDGE_FORTRAN(export_wisdom, (void (*write_char)(char*, void*), void* data), {
  for (char c : give_wisdom()) write_char(&c, data);
})
RIDGE_FORTRAN(import_wisdom, (int* taken, void (*read_char)(int*, void*), void* data), {
  *taken = take_wisdom([&] {
    int c = EOF;
    read_char(&c, data);
    return c;
  })
               ? 1
               : 0;
})
RIDGE_FORTRAN(import_system_wisdom, (int* taken), { *taken = X(import_system_wisdom)(); })

RIDGE_FORTRAN(plan_dft, (Handle * plan, int* rank, const int* n, C* in, C* out, int* sign, int* flags), {
  *plan = X(plan_dft)(*rank, pointer(reversed(*rank, n)), in, out, *sign, static_cast<unsigned>(*flags));
})
RIDGE_FORTRAN(plan_dft_1d, (Handle * plan, int* n, C* in, C* out, int* sign, int* flags),
              { *plan = X(plan_dft_1d)(*n, in, out, *sign, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_2d, (Handle * plan, int* nx, int* ny, C* in, C* out, int* sign, int* flags),
              { *plan = X(plan_dft_2d)(*ny, *nx, in, out, *sign, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_3d, (Handle * plan, int* nx, int* ny, int* nz, C* in, C* out, int* sign, int* flags),
              { *plan = X(plan_dft_3d)(*nz, *ny, *nx, in, out, *sign, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_many_dft,
              (Handle * plan, int* rank, const int* n, int* howmany, C* in, const int* inembed, int* istride,
               int* idist, C* out, const int* onembed, int* ostride, int* odist, int* sign, int* flags),
              {
                const auto shape = reversed(*rank, n), ie = reversed(*rank, inembed), oe = reversed(*rank, onembed);
                *plan = X(plan_many_dft)(*rank, pointer(shape), *howmany, in, ie.empty() ? nullptr : pointer(ie),
                                         *istride, *idist, out, oe.empty() ? nullptr : pointer(oe), *ostride, *odist,
                                         *sign, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_dft,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, C* in, C* out, int* sign, int* flags),
              {
                *plan = X(plan_guru_dft)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                         dims_of(*loops, hn, his, hos).data(), in, out, *sign,
                                         static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_split_dft,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, R* ri, R* ii, R* ro, R* io, int* flags),
              {
                *plan = X(plan_guru_split_dft)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                               dims_of(*loops, hn, his, hos).data(), ri, ii, ro, io,
                                               static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(execute_dft, (void** plan, C* in, C* out), { X(execute_dft)(*plan, in, out); })
RIDGE_FORTRAN(execute_split_dft, (void** plan, R* ri, R* ii, R* ro, R* io), {
  X(execute_split_dft)(*plan, ri, ii, ro, io);
})

RIDGE_FORTRAN(plan_dft_r2c, (Handle * plan, int* rank, const int* n, R* in, C* out, int* flags),
              { *plan = X(plan_dft_r2c)(*rank, pointer(reversed(*rank, n)), in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_r2c_1d, (Handle * plan, int* n, R* in, C* out, int* flags),
              { *plan = X(plan_dft_r2c_1d)(*n, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_r2c_2d, (Handle * plan, int* nx, int* ny, R* in, C* out, int* flags),
              { *plan = X(plan_dft_r2c_2d)(*ny, *nx, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_r2c_3d, (Handle * plan, int* nx, int* ny, int* nz, R* in, C* out, int* flags),
              { *plan = X(plan_dft_r2c_3d)(*nz, *ny, *nx, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_many_dft_r2c,
              (Handle * plan, int* rank, const int* n, int* howmany, R* in, const int* inembed, int* istride,
               int* idist, C* out, const int* onembed, int* ostride, int* odist, int* flags),
              {
                const auto shape = reversed(*rank, n), ie = reversed(*rank, inembed), oe = reversed(*rank, onembed);
                *plan = X(plan_many_dft_r2c)(*rank, pointer(shape), *howmany, in, ie.empty() ? nullptr : pointer(ie),
                                             *istride, *idist, out, oe.empty() ? nullptr : pointer(oe), *ostride,
                                             *odist, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_dft_r2c,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, R* in, C* out, int* flags),
              {
                *plan =
                    X(plan_guru_dft_r2c)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                         dims_of(*loops, hn, his, hos).data(), in, out, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_split_dft_r2c,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, R* in, R* ro, R* io, int* flags),
              {
                *plan = X(plan_guru_split_dft_r2c)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                                   dims_of(*loops, hn, his, hos).data(), in, ro, io,
                                                   static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(execute_dft_r2c, (void** plan, R* in, C* out), { X(execute_dft_r2c)(*plan, in, out); })
RIDGE_FORTRAN(execute_split_dft_r2c, (void** plan, R* in, R* ro, R* io), {
  X(execute_split_dft_r2c)(*plan, in, ro, io);
})

RIDGE_FORTRAN(plan_dft_c2r, (Handle * plan, int* rank, const int* n, C* in, R* out, int* flags),
              { *plan = X(plan_dft_c2r)(*rank, pointer(reversed(*rank, n)), in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_c2r_1d, (Handle * plan, int* n, C* in, R* out, int* flags),
              { *plan = X(plan_dft_c2r_1d)(*n, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_c2r_2d, (Handle * plan, int* nx, int* ny, C* in, R* out, int* flags),
              { *plan = X(plan_dft_c2r_2d)(*ny, *nx, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_dft_c2r_3d, (Handle * plan, int* nx, int* ny, int* nz, C* in, R* out, int* flags),
              { *plan = X(plan_dft_c2r_3d)(*nz, *ny, *nx, in, out, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_many_dft_c2r,
              (Handle * plan, int* rank, const int* n, int* howmany, C* in, const int* inembed, int* istride,
               int* idist, R* out, const int* onembed, int* ostride, int* odist, int* flags),
              {
                const auto shape = reversed(*rank, n), ie = reversed(*rank, inembed), oe = reversed(*rank, onembed);
                *plan = X(plan_many_dft_c2r)(*rank, pointer(shape), *howmany, in, ie.empty() ? nullptr : pointer(ie),
                                             *istride, *idist, out, oe.empty() ? nullptr : pointer(oe), *ostride,
                                             *odist, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_dft_c2r,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, C* in, R* out, int* flags),
              {
                *plan =
                    X(plan_guru_dft_c2r)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                         dims_of(*loops, hn, his, hos).data(), in, out, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_split_dft_c2r,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, R* ri, R* ii, R* out, int* flags),
              {
                *plan = X(plan_guru_split_dft_c2r)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                                   dims_of(*loops, hn, his, hos).data(), ri, ii, out,
                                                   static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(execute_dft_c2r, (void** plan, C* in, R* out), { X(execute_dft_c2r)(*plan, in, out); })
RIDGE_FORTRAN(execute_split_dft_c2r, (void** plan, R* ri, R* ii, R* out), {
  X(execute_split_dft_c2r)(*plan, ri, ii, out);
})

RIDGE_FORTRAN(plan_r2r, (Handle * plan, int* rank, const int* n, R* in, R* out, const int* kind, int* flags), {
  *plan = X(plan_r2r)(*rank, pointer(reversed(*rank, n)), in, out, pointer(reversed(*rank, kind)),
                      static_cast<unsigned>(*flags));
})
RIDGE_FORTRAN(plan_r2r_1d, (Handle * plan, int* n, R* in, R* out, int* kind, int* flags),
              { *plan = X(plan_r2r_1d)(*n, in, out, *kind, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_r2r_2d, (Handle * plan, int* nx, int* ny, R* in, R* out, int* kindx, int* kindy, int* flags),
              { *plan = X(plan_r2r_2d)(*ny, *nx, in, out, *kindy, *kindx, static_cast<unsigned>(*flags)); })
RIDGE_FORTRAN(plan_r2r_3d,
              (Handle * plan, int* nx, int* ny, int* nz, R* in, R* out, int* kindx, int* kindy, int* kindz, int* flags),
              {
                *plan = X(plan_r2r_3d)(*nz, *ny, *nx, in, out, *kindz, *kindy, *kindx, static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_many_r2r,
              (Handle * plan, int* rank, const int* n, int* howmany, R* in, const int* inembed, int* istride,
               int* idist, R* out, const int* onembed, int* ostride, int* odist, const int* kind, int* flags),
              {
                const auto shape = reversed(*rank, n), ie = reversed(*rank, inembed), oe = reversed(*rank, onembed);
                *plan = X(plan_many_r2r)(*rank, pointer(shape), *howmany, in, ie.empty() ? nullptr : pointer(ie),
                                         *istride, *idist, out, oe.empty() ? nullptr : pointer(oe), *ostride, *odist,
                                         pointer(reversed(*rank, kind)), static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(plan_guru_r2r,
              (Handle * plan, int* rank, const int* n, const int* is, const int* os, int* loops, const int* hn,
               const int* his, const int* hos, R* in, R* out, const int* kind, int* flags),
              {
                *plan = X(plan_guru_r2r)(*rank, dims_of(*rank, n, is, os).data(), *loops,
                                         dims_of(*loops, hn, his, hos).data(), in, out, kind,
                                         static_cast<unsigned>(*flags));
              })
RIDGE_FORTRAN(execute_r2r, (void** plan, R* in, R* out), { X(execute_r2r)(*plan, in, out); })

}  // extern "C"

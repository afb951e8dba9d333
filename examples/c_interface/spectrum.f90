! The spectrum of a cosine in Fortran:
!   gfortran ridge.f90 spectrum.f90 -lridge_c
program spectrum
  use, intrinsic :: iso_c_binding
  use ridge
  implicit none
  integer, parameter :: n = 60
  type(ridge_dimension), target :: axes(1)
  type(ridge_fft_problem) :: problem
  type(c_ptr) :: plan
  real(c_double), target :: x(n)
  complex(c_double_complex), target :: y(n / 2 + 1)
  integer :: i

  axes(1) = ridge_axis(n, 1)
  problem%kind = ridge_real_forward
  problem%axes = 1
  problem%axis = c_loc(axes)
  call check(ridge_fft_plan_create("host" // c_null_char, problem, plan))
  x = [(cos(2 * acos(-1.0_c_double) * 7 * i / n), i = 0, n - 1)]
  call check(ridge_fft_run(plan, c_loc(x), c_loc(y)))
  call ridge_fft_plan_free(plan)
  print "(a,i0,a,f0.3)", "peak at ", maxloc(abs(y)) - 1, " of height ", maxval(abs(y))

  ! A mistake is a status and a message.
  axes(1)%length = 0
  if (ridge_fft_plan_create("host" // c_null_char, problem, plan) /= ridge_invalid_argument) error stop "length 0 was accepted"
  print "(a)", ridge_message()

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status /= ridge_ok) error stop ridge_message()
  end subroutine
end program

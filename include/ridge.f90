! Fortran interface of libridge_c (docs/c.md). Compile this file with your program and link -lridge_c.
!
! Dimensions are listed slowest first, as in C: a Fortran array a(n1, n2) has the axes (n2, stride n1) and (n1, stride 1).
module ridge
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: ridge_message, ridge_axis

  integer(c_int), parameter, public :: ridge_ok = 0, ridge_invalid_argument = 1, ridge_out_of_memory = 2, ridge_unavailable = 3, &
      ridge_io = 4, ridge_internal = 5
  integer(c_int), parameter, public :: ridge_float32 = 0, ridge_float64 = 1
  integer(c_int), parameter, public :: ridge_forward = 0, ridge_inverse = 1, ridge_real_forward = 2, ridge_real_inverse = 3, &
      ridge_real_to_real = 4
  integer(c_int), parameter, public :: ridge_halfcomplex = 0, ridge_halfcomplex_inverse = 1, ridge_hartley = 2, ridge_dct1 = 3, &
      ridge_dct2 = 4, ridge_dct3 = 5, ridge_dct4 = 6, ridge_dst1 = 7, ridge_dst2 = 8, ridge_dst3 = 9, ridge_dst4 = 10

  type, bind(c), public :: ridge_dimension
    integer(c_int64_t) :: length, input_stride, output_stride
  end type

  ! Components that are not set have the defaults of ridge.h.
  type, bind(c), public :: ridge_fft_problem
    integer(c_size_t) :: struct_size = 80
    integer(c_int) :: kind = ridge_forward, precision = ridge_float64
    integer(c_size_t) :: axes = 0, loops = 0
    type(c_ptr) :: axis = c_null_ptr, loop = c_null_ptr, real_kind = c_null_ptr
    real(c_double) :: scale = 1
    integer(c_int) :: in_place = 0, measured = 0
    integer(c_size_t) :: threads = 1
  end type

  type, bind(c), public :: ridge_transpose_problem
    integer(c_size_t) :: struct_size = 72
    integer(c_size_t) :: rows = 0, columns = 0, batch = 1, element_bytes = 8, input_row = 0, output_row = 0, threads = 0
    integer(c_int) :: measured = 0
  end type

  type, bind(c), public :: ridge_convolution_problem
    integer(c_size_t) :: struct_size = 40
    integer(c_int) :: precision = ridge_float64, complex_values = 0
    integer(c_size_t) :: filter_size = 0
    type(c_ptr) :: filter = c_null_ptr
    integer(c_size_t) :: threads = 0
  end type

  public :: ridge_abi, ridge_fft_plan_create, ridge_fft_run, ridge_fft_adjoint, ridge_fft_plan_free
  public :: ridge_transpose_plan_create, ridge_transpose_run, ridge_transpose_adjoint, ridge_transpose_plan_free
  public :: ridge_convolution_plan_create, ridge_convolution_run, ridge_convolution_adjoint, ridge_convolution_plan_free

  interface
    integer(c_int) function ridge_abi() bind(c)
      import :: c_int
    end function
    type(c_ptr) function last_error() bind(c, name="ridge_last_error")
      import :: c_ptr
    end function
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function

    ! device: "host" // c_null_char
    integer(c_int) function ridge_fft_plan_create(device, problem, plan) bind(c)
      import :: c_int, c_char, c_ptr, ridge_fft_problem
      character(kind=c_char), intent(in) :: device(*)
      type(ridge_fft_problem), intent(in) :: problem
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int) function ridge_fft_run(plan, input, output) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan, input, output
    end function
    integer(c_int) function ridge_fft_adjoint(plan, adjoint) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: adjoint
    end function
    subroutine ridge_fft_plan_free(plan) bind(c)
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine

    integer(c_int) function ridge_transpose_plan_create(device, problem, plan) bind(c)
      import :: c_int, c_char, c_ptr, ridge_transpose_problem
      character(kind=c_char), intent(in) :: device(*)
      type(ridge_transpose_problem), intent(in) :: problem
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int) function ridge_transpose_run(plan, input, input_bytes, output, output_bytes) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan, input, output
      integer(c_size_t), value :: input_bytes, output_bytes
    end function
    integer(c_int) function ridge_transpose_adjoint(plan, adjoint) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: adjoint
    end function
    subroutine ridge_transpose_plan_free(plan) bind(c)
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine

    integer(c_int) function ridge_convolution_plan_create(device, problem, plan) bind(c)
      import :: c_int, c_char, c_ptr, ridge_convolution_problem
      character(kind=c_char), intent(in) :: device(*)
      type(ridge_convolution_problem), intent(in) :: problem
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int) function ridge_convolution_run(plan, input, input_size, output, output_size) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan, input, output
      integer(c_size_t), value :: input_size, output_size
    end function
    integer(c_int) function ridge_convolution_adjoint(plan, adjoint) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: adjoint
    end function
    subroutine ridge_convolution_plan_free(plan) bind(c)
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine
  end interface

contains

  ! Message of this thread's last call; empty after a success.
  function ridge_message() result(message)
    character(:), allocatable :: message
    character(kind=c_char), pointer :: text(:)
    integer :: i
    call c_f_pointer(last_error(), text, [c_length(last_error())])
    allocate(character(size(text)) :: message)
    do i = 1, size(text)
      message(i:i) = text(i)
    end do
  end function

  ! An axis of n values with the same stride in input and output.
  pure function ridge_axis(n, stride) result(axis)
    integer, intent(in) :: n, stride
    type(ridge_dimension) :: axis
    axis = ridge_dimension(n, stride, stride)
  end function
end module

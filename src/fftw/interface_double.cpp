// Defines the functions of prefix fftw_, and the Fortran ones of prefix dfftw_.
#define R double
#define X(name) fftw_##name
#define F(name) dfftw_##name##_
#define F2(name) dfftw_##name##__
#include "fftw/interface-inl.hpp"

#include "fftw/fortran-inl.hpp"

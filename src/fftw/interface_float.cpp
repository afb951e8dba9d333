// Defines the functions of prefix fftwf_, and the Fortran ones of prefix sfftw_.
#define R float
#define X(name) fftwf_##name
#define F(name) sfftw_##name##_
#define F2(name) sfftw_##name##__
#include "fftw/interface-inl.hpp"

#include "fftw/fortran-inl.hpp"

// Distributed workloads: FFT, filter banks and stencils over the processes of an MPI run. Link ridge::mpi.
#pragma once
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/columns.hpp>
#include <ridge/mpi/communicator.hpp>
#include <ridge/mpi/fft.hpp>
#include <ridge/mpi/files.hpp>
#include <ridge/mpi/filterbank.hpp>
#include <ridge/mpi/redistribute.hpp>
#include <ridge/mpi/stencil.hpp>

// Polyphase filter banks: convert a stream of samples into channels; state is carried exactly between pushes.
//
//   auto bank = ridge::filterbank::plan(ridge::host(), {.channels = 256, .taps = 16, .stations = 16});
//   ridge::filterbank::Stream stream(bank);
//   std::size_t spectra = stream.push(bytes, channels);        // any number of bytes; writes the spectra that are due
#pragma once
#include <ridge/filterbank/adjoint.hpp>      // Adjoint
#include <ridge/filterbank/bank.hpp>         // Problem, Plan, Stream
#include <ridge/filterbank/correlation.hpp>  // Correlator
#include <ridge/filterbank/detection.hpp>    // Detector, PowerStream
#include <ridge/filterbank/prototype.hpp>    // design, response, quality
#include <ridge/filterbank/synthesis.hpp>    // dual, Synthesis

// A time line of what the library did: plans, trials, compiled kernels, transfers, kernels, waits, files, threads.
// Written in Chrome's trace format, which https://ui.perfetto.dev and chrome://tracing open and `ridge trace`
// summarizes.
//
//   RIDGE_TRACE=out.json program                      the whole process
//   ridge::trace::start("out.json"); ...; ridge::trace::stop();
#pragma once
#include <string>

namespace ridge::trace {

// Begins to record in all threads. Error{invalid_argument} if a recording is in progress.
void start(const std::string& path);
// Writes the file and ends the recording; nothing if there is none. Error{io} if the file cannot be written.
void stop();
bool recording();

}  // namespace ridge::trace

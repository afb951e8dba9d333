// Start and end of the command's process: removes temporary files and reports failed writes to standard output.
#pragma once

namespace ridge::cli {

// Call first. Signals and uncaught exceptions remove temporary files. A closed standard stream keeps its descriptor
// reserved; otherwise the next opened file would get it and receive printed output.
void begin_process();

// Call last. Returns `code`, or 1 with a line on stderr if writing standard output failed.
int end_process(int code);

// Reports a failed write to standard output; returns the exit code.
int standard_output_failed(int error);

}  // namespace ridge::cli

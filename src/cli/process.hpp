// How the command's process begins and ends: nothing of its own is left behind, and standard output is a file like any
// other, where one that is full or closed is an error and never a silent success.
#pragma once

namespace ridge::cli {

// Call first. Signals and failures nobody caught take the temporaries away. Where the caller closed standard input,
// output or error, its number is kept: the next file opened would get it, and what is printed would end up in that.
void begin_process();

// Call last: `code`, or 1 with a line on stderr where something printed did not arrive.
int end_process(int code);

// The line for it; returns the exit code.
int standard_output_failed(int error);

}  // namespace ridge::cli

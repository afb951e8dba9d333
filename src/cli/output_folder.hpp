// Checks of input and output files before anything is computed.
#pragma once
#include <string>
#include <vector>

namespace ridge::cli {

// A mistake where what `option` names could not be written: no such folder, one that is closed, or the name of a
// folder. Nothing for an empty name, standard output and what is no file (/dev/null).
void check_output(const std::string& option, const std::string& name);

// An option and the file that it names; "-" is standard input or output.
struct NamedFile {
  std::string option, name;
  bool is_prefix = false;  // of outputs: names that begin so are written
};

// A mistake where an output is also an input, or two outputs are one file. Files are compared by device and inode, so
// that links, relative names and redirected standard streams are recognized.
void check_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace ridge::cli

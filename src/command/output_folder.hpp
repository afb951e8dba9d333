// Checks of input and output files before anything is computed.
#pragma once
#include <string>
#include <vector>

namespace ridge::cli {

// Error if the file named by `option` cannot be written: the folder is missing or not writable, or the name is a
// folder. Accepts an empty name, standard output and non-regular files (/dev/null).
void check_output(const std::string& option, const std::string& name);

// Error if the folder named by `option` neither exists nor can be created with its parents. Accepts an empty name.
void check_output_folder(const std::string& option, const std::string& name);

// An option and the file it names; "-" is standard input or output.
struct NamedFile {
  std::string option, name;
  bool is_prefix = false;  // output names begin with `name`
};

// Error if an output is also an input, or two outputs are one file. Files are compared by device and inode, which
// covers links, relative names and redirected standard streams.
void check_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace ridge::cli

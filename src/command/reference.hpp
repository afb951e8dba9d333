// Generates the manual page and the shell completions from the commands.
#pragma once

namespace CLI {
class App;
}

namespace ridge::cli {

// Adds `ridge completion SHELL` and `ridge manual`, generated from the commands that `program` has when they run.
void add_reference(CLI::App& program);

}  // namespace ridge::cli

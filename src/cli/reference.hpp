// What --help knows, in other forms: a manual page, and completion for the shells.
#pragma once

namespace CLI {
class App;
}

namespace ridge::cli {

// Adds `ridge completion SHELL` and `ridge manual`, which are made from the commands that `program` has when they run.
void add_reference(CLI::App& program);

}  // namespace ridge::cli

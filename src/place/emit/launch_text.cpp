// Writes the condition, the arguments and the call of a kernel's launch.
#include "place/emit/launch_text.hpp"

#include <algorithm>
#include <cstdlib>

#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

Variable iterator_of(const Loop& l) {
  Variable v;
  v.element = l.type;
  return v;
}

}  // namespace

std::string LaunchWriter::if_possible(const Kernel& k, const Nest& nest, const std::string& pad,
                                      const std::string& done) const {
  const std::string in = pad + "  ";
  Launch made;
  made.tests = {session + ".takes(\"" + k.name + "\")"};
  for (const KernelArray& a : k.arrays) add_array(a, k, nest, made);
  const std::vector<Held> numbers = held(k, nest);  // numbers that may be elements of an array
  for (const int c : k.copies) made.arguments.push_back(nest.variables[c].name + "_before");
  for (const int s : k.scalars) {
    const Variable& v = nest.variables[s];
    const std::string type = host_type(v);
    made.arguments.push_back(type == v.host_element ? v.host : "static_cast<" + type + ">(" + v.host + ")");
  }
  std::vector<std::string> loops_run;
  for (const HostCall& iterations : k.iterations) loops_run.push_back(call_text(iterations, nest));
  add_tests(k, nest, numbers, loops_run, made);
  std::string condition, but_room, loops;
  for (const std::string& t : made.tests) {
    condition += (condition.empty() ? "" : " && ") + t;
    if (t != made.room) but_room += (but_room.empty() ? "" : " && ") + t;
  }
  const std::string in_strips = k.strip.name.empty() ? "" : done + pad + strips_text(k, nest, but_room, loops_run, pad);
  for (const int l : k.chain) loops += (loops.empty() ? "" : ", ") + nest.loops[l].id;
  std::string text = "if (" + (made.counts.empty() ? "" : "const placed::Int " + text::joined(made.counts) + "; ") +
                     condition + ") {  // " + loops + " on the device\n";
  text += in + grid_text(k, nest, loops_run) + scratch_text(k, nest, in, made.arguments);
  made.arguments.insert(made.arguments.end(), made.lengths.begin(), made.lengths.end());
  std::string empty;
  for (const std::string& a : loops_run) empty += (empty.empty() ? "" : " && ") + a + " > 0";
  text += in + "if (" + empty + ") {\n" + in + "  " + session + ".run(" + kernel_name(k.name) + ", grid, " +
          text::joined(made.arguments) + ");\n";
  for (const Reduction& r : k.reductions) text += reduction_join(r, nest, session, in + "  ");
  return fetched_numbers(numbers, nest, pad) + text + in + "}\n" + in_strips;
}

// The branch for arrays that do not fit: the loop in strips, with only the elements of a strip on the device.
std::string LaunchWriter::strips_text(const Kernel& k, const Nest& nest, const std::string& condition,
                                      std::vector<std::string> loops_run, const std::string& pad) const {
  const std::string in = pad + "  ", from = analysis::kStripFrom, to = analysis::kStripTo;
  std::vector<std::string> bounds, ranges, arguments, firsts;
  for (std::size_t i = 0; i < k.arrays.size(); ++i) {
    const KernelArray& a = k.arrays[i];
    const Variable& v = nest.variables[a.variable];
    const std::string first = v.name + "_first", count = v.name + "_end - " + first;
    const bool cut = !k.strip.first[i].empty();
    bounds.push_back(first + " = " + (cut ? "placed::max(0, " + call_text(k.strip.first[i], nest) + ")" : "0"));
    bounds.push_back(v.name + "_end = " +
                     (cut ? "placed::min(" + v.name + "_n, " + call_text(k.strip.end[i], nest) + ")" : v.name + "_n"));
    ranges.push_back("{" + v.data + ", (" + count + ") * placed::Int(sizeof(" + v.host_element + "))}");
    arguments.push_back(session + (a.written ? ".write(" : ".read(") + v.data + " + " + first + ", " + count + ")");
    firsts.push_back(first);
  }
  for (const int s : k.scalars) {
    const Variable& v = nest.variables[s];
    arguments.push_back("static_cast<" + host_type(v) + ">(" + v.host + ")");
  }
  const std::string type = host_type(iterator_of(nest.loops[k.chain[0]]));
  arguments.insert(arguments.end(),
                   {"static_cast<" + type + ">(" + from + ")", "static_cast<" + type + ">(" + to + ")"});
  arguments.insert(arguments.end(), firsts.begin(), firsts.end());
  for (std::size_t a = 0; a < k.axes.size(); ++a)
    if (k.axes[a] == k.chain[0]) loops_run[a] = to + " - " + from + " + 1";
  const std::string declared = "const placed::Int " + text::joined(bounds) + ";";
  return "} else if (const auto placed_strips = " + condition + " ? " + session + ".strips(" +
         call_text(k.strip.low, nest) + ", " + call_text(k.strip.high, nest) + ", [&](placed::Int " + from +
         ", placed::Int " + to + ") {\n" + in + "             " + declared + "\n" + in + "             return " +
         session + ".room({" + text::joined(ranges) + "});\n" + in + "           }) : placed::Strips{};\n" + pad +
         "           !placed_strips.empty()) {  // " + nest.loops[k.chain[0]].id +
         " in strips that fit into the device\n" + in + "for (const auto& placed_strip : placed_strips) {\n" + in +
         "  const placed::Int " + from + " = placed_strip.first, " + to + " = placed_strip.second;\n" + in + "  " +
         declared + "\n" + in + "  " + grid_text(k, nest, loops_run) + in + "  " + session + ".run(" +
         kernel_name(k.strip.name) + ", grid, " + text::joined(arguments) + ");\n" + in + "  " + session +
         ".end_strip();\n" + in + "}\n";
}

void LaunchWriter::add_array(const KernelArray& a, const Kernel& k, const Nest& nest, Launch& made) const {
  const Variable& v = nest.variables[a.variable];
  const std::string n = v.name + "_n";
  const std::string size = "placed::Int(sizeof(" + v.host_element + "))";
  std::string count, whole = a.covered ? "true" : "";
  if (!v.count.empty()) {
    count = "placed::Int(" + v.count + ")";
    if (a.covered && a.sized)
      whole = call_text(a.size, nest) + " >= " + n;
    else
      whole = "";
  } else if (a.sized) {
    count = call_text(a.size, nest);
  } else {
    count = session + ".reach(" + v.data + ") / " + size;
    made.tests.push_back(n + " > 0");
  }
  made.counts.push_back(n + " = " + count);
  made.ranges.push_back("{" + v.data + ", " + apart_count(k, nest, a.variable, n) + " * " + size +
                        (a.written ? ", true" : "") + "}");
  made.arguments.push_back(session +
                           (a.written    ? ".write("
                            : a.constant ? ".constant("
                                         : ".read(") +
                           v.data + ", " + (a.constant ? call_text(a.size, nest) : n) +
                           (a.written && !whole.empty() ? ", " + whole : "") + ")");
  if (a.tiled) made.lengths.push_back(n);
}

// Tests that assumptions hold, that arrays fit and do not overlap, and that iterations can be counted.
void LaunchWriter::add_tests(const Kernel& k, const Nest& nest, const std::vector<Held>& numbers,
                             const std::vector<std::string>& loops_run, Launch& made) const {
  std::vector<std::string> reads = made.ranges, reach;
  for (const Held& h : numbers) reads.push_back(h.range);
  if (!k.fits.empty()) made.tests.push_back(call_text(k.fits, nest));
  if (!k.inside.empty()) made.tests.push_back(call_text(k.inside, nest));
  if (!made.ranges.empty()) made.tests.push_back(made.room = session + ".room({" + text::joined(made.ranges) + "})");
  if (reads.size() > 1) made.tests.push_back("placed::apart({" + text::joined(reads) + "})");
  for (std::size_t a = 0; a < loops_run.size(); ++a) {
    const long step = std::abs(nest.loops[k.axes[a]].step);
    reach.push_back(loops_run[a] + (step == 1 ? "" : " * " + std::to_string(step)));
  }
  made.tests.push_back("placed::countable({" + text::joined(reach) + "})");
}

// Calls that bring numbers back to the host which this or another kernel may have written.
std::string LaunchWriter::fetched_numbers(const std::vector<Held>& numbers, const Nest& nest,
                                          const std::string& pad) const {
  std::string text;
  for (const Held& h : numbers)
    if (any_there && (h.written || may_be_on_device(*h.number)))
      text += session + (h.written ? ".host_takes(" : ".host_reads(") + h.number->home + ", " + h.number->home_bytes +
              ");\n" + pad;
  for (const Variable& v : nest.variables)  // numbers that other kernels may have written
    if (!v.home.empty() && may_be_on_device(v) &&
        std::none_of(numbers.begin(), numbers.end(), [&](const Held& h) { return h.number == &v; }))
      text += session + ".host_reads(" + v.home + ", " + v.home_bytes + ");\n" + pad;
  return text;
}

// Declares the grid; reductions and expanded arrays limit the number of its groups.
std::string LaunchWriter::grid_text(const Kernel& k, const Nest& nest,
                                    const std::vector<std::string>& loops_run) const {
  std::vector<std::string> axes;
  for (std::size_t a = 0; a < loops_run.size(); ++a)
    if (a < 3)
      axes.push_back(loops_run[a]);
    else
      axes[2] += " * " + loops_run[a];
  std::string most = k.reductions.empty() ? "" : "1024";
  for (const int e : k.expanded) {
    const Variable& v = nest.variables[e];
    const std::string bytes = "placed::max(1, placed::Int(" + v.count + ") * " + std::to_string(v.bytes * 256) + ")";
    most = "placed::min(" + (most.empty() ? "1 << 20" : most) + ", placed::max(1, (placed::Int(1) << 28) / " + bytes +
           "))";
  }
  return "const auto grid = " + session + ".grid({" + text::joined(axes) + "}, {" + text::joined(k.items) + "}" +
         (k.copies_of.empty() ? most.empty() ? "" : ", " + most
                              : ", " + (most.empty() ? "0" : most) + ", {" + text::joined(k.copies_of) + "}") +
         ");\n";
}

// Copies of arrays, memory for expanded arrays, and buffers of reductions.
std::string LaunchWriter::scratch_text(const Kernel& k, const Nest& nest, const std::string& in,
                                       std::vector<std::string>& arguments) const {
  std::string text;
  for (const int c : k.copies) {
    const Variable& v = nest.variables[c];
    text += in + "const auto " + v.name + "_before = " + session + ".copied(" + v.data + ", " + v.name +
            "_n);  // iterations overwrite elements that others read\n";
  }
  for (const int e : k.expanded) {
    const Variable& v = nest.variables[e];
    text += in + "const auto " + v.name + "_each = " + session + ".scratch<" + host_type(v) + ">(placed::Int(" +
            v.count + ") * grid.all);\n";
    arguments.push_back(v.name + "_each");
  }
  for (const Reduction& r : k.reductions) {
    text += reduction_buffers(r, nest, session, in);
    for (const std::string& a : reduction_values(r, nest)) arguments.push_back(a);
  }
  return text;
}

}  // namespace ridge::place::emit

// Kernel and host text of sums, products, minima, maxima, argmin and argmax.
#include "place/emit/reduction_text.hpp"

#include "place/emit/kernel.hpp"

namespace ridge::place::emit {
namespace {

bool arithmetic(const Reduction& r) { return r.combine == Combine::sum || r.combine == Combine::product; }
bool lowest(const Reduction& r) { return r.combine == Combine::minimum || r.combine == Combine::argmin; }

std::vector<int> cells(const Reduction& r) {
  std::vector<int> all{r.target};
  all.insert(all.end(), r.payload.begin(), r.payload.end());
  return all;
}

// Test whether `other` is better than `mine`. Ties go to the earlier iteration, or to the later one if the source uses
// <=. A work-item without an update has order 0 and the initial value.
std::string better(const Reduction& r, const std::string& other, const std::string& mine,
                   const std::string& other_order, const std::string& my_order) {
  std::string test = other + (lowest(r) ? " < " : " > ") + mine;
  if (r.payload.empty()) return test;
  const std::string order =
      r.strict ? other_order + " != 0 && (" + my_order + " == 0 ? 0 : " + other_order + " < " + my_order + ")"
               : other_order + " > " + my_order;
  return test + " || (" + other + " == " + mine + " && " + order + ")";
}

}  // namespace

std::string identity(const Reduction& r, const Variable& v) {
  return r.combine != Combine::sum ? "1" : v.integer ? "0" : "-0.0f";  // -0.0 + 0.0 is 0.0
}

std::vector<std::string> reduction_arguments(const Reduction& r, const Nest& nest) {
  std::vector<std::string> list;
  for (const int c : cells(r))
    list.push_back("GLOBAL " + nest.variables[c].element + "* RESTRICT " + nest.variables[c].name + "_parts");
  if (!r.payload.empty()) list.push_back("GLOBAL ulong* RESTRICT " + nest.variables[r.target].name + "_order_parts");
  if (!arithmetic(r))
    for (const int c : cells(r)) list.push_back(nest.variables[c].element + " " + nest.variables[c].name + "_before");
  return list;
}

std::string reduction_start(const Reduction& r, const Nest& nest) {
  std::string text;
  for (const int c : cells(r)) {
    const Variable& v = nest.variables[c];
    text += "  " + v.element + " " + v.name + " = " + (arithmetic(r) ? identity(r, v) : v.name + "_before") + ";\n";
  }
  if (!r.payload.empty()) text += "  ulong " + nest.variables[r.target].name + "_order = 0;\n";
  return text;
}

std::string reduction_tree(const Reduction& r, const Nest& nest) {
  const Variable& t = nest.variables[r.target];
  std::string declare, fill, moves, stores;
  const auto share = [&](const std::string& type, const std::string& name) {
    declare += "  LOCAL_ARRAY(" + type + ", " + name + "_all, 256);\n";
    fill += "  " + name + "_all[item] = " + name + ";\n";
    moves += "        " + name + "_all[item] = " + name + "_all[item + reach];\n";
    stores += "    " + name + "_parts[group] = " + name + "_all[0];\n";
  };
  for (const int c : cells(r)) share(nest.variables[c].element, nest.variables[c].name);
  if (!r.payload.empty()) share("ulong", t.name + "_order");
  const std::string mine = t.name + "_all[item]", other = t.name + "_all[item + reach]", order = t.name + "_order_all";
  std::string join;
  if (arithmetic(r))
    join = "      " + mine + (r.combine == Combine::sum ? " += " : " *= ") + other + ";\n";
  else if (!r.by_comparison)
    join = "      " + mine + " = " + (lowest(r) ? "fmin(" : "fmax(") + mine + ", " + other + ");\n";
  else
    join = "      if (" + better(r, other, mine, order + "[item + reach]", order + "[item]") + ") {\n" + moves +
           "      }\n";
  return declare + fill +
         "  for (int reach = 128; reach > 0; reach /= 2) {\n    BARRIER();\n    if (item < reach) {\n" + join +
         "    }\n  }\n  if (item == 0) {\n" + stores + "  }\n";
}

std::string reduction_buffers(const Reduction& r, const Nest& nest, const std::string& session,
                              const std::string& pad) {
  std::string text;
  for (const int c : cells(r))
    text += pad + "const auto " + nest.variables[c].name + "_parts = " + session + ".scratch<" +
            host_type(nest.variables[c]) + ">(grid.count);\n";
  if (!r.payload.empty())
    text += pad + "const auto " + nest.variables[r.target].name + "_order_parts = " + session +
            ".scratch<std::uint64_t>(grid.count);\n";
  return text;
}

std::vector<std::string> reduction_values(const Reduction& r, const Nest& nest) {
  std::vector<std::string> list;
  for (const int c : cells(r)) list.push_back(nest.variables[c].name + "_parts");
  if (!r.payload.empty()) list.push_back(nest.variables[r.target].name + "_order_parts");
  if (!arithmetic(r))
    for (const int c : cells(r))
      list.push_back("static_cast<" + host_type(nest.variables[c]) + ">(" + nest.variables[c].host + ")");
  return list;
}

std::string reduction_join(const Reduction& r, const Nest& nest, const std::string& session, const std::string& pad) {
  const Variable& t = nest.variables[r.target];
  const std::string all = t.name + "_all";
  std::string text;
  for (const int c : cells(r))
    text += pad + "const auto " + nest.variables[c].name + "_all = " + session + ".fetch<" +
            host_type(nest.variables[c]) + ">(" + nest.variables[c].name + "_parts, grid.count);\n";
  if (!r.payload.empty())
    text += pad + "const auto " + t.name + "_order_all = " + session + ".fetch<std::uint64_t>(" + t.name +
            "_order_parts, grid.count);\n" + pad + "std::uint64_t " + t.name + "_order = 0;\n";
  text += pad + "for (std::size_t part = 0; part < " + all + ".size(); ++part) {\n";
  const std::string value = all + "[part]";
  if (arithmetic(r)) {
    text += pad + "  " + t.host + (r.combine == Combine::sum ? " += " : " *= ") + value + ";\n";
  } else if (!r.by_comparison) {
    text += pad + "  " + t.host + " = " + (lowest(r) ? "std::fmin(" : "std::fmax(") + t.host + ", " + value + ");\n";
  } else {
    text += pad + "  if (" + better(r, value, t.host, t.name + "_order_all[part]", t.name + "_order") + ") {\n";
    for (const int c : cells(r))
      text += pad + "    " + nest.variables[c].host + " = " + nest.variables[c].name + "_all[part];\n";
    if (!r.payload.empty()) text += pad + "    " + t.name + "_order = " + t.name + "_order_all[part];\n";
    text += pad + "  }\n";
  }
  return text + pad + "}\n";
}

}  // namespace ridge::place::emit

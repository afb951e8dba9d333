// Writes the placed file for devices: kernels, placed clones of functions, and launches with data movement.
#include "place/emit/program_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "place/emit/c_text.hpp"
#include "place/emit/launch_text.hpp"
#include "place/emit/standalone.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

struct Edit {
  unsigned begin = 0, end = 0;
  std::string text{};
};

class Writer {
 public:
  Writer(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, Target target,
         const HostThreads& threads, bool session)
      : p_(program), placed_(placed), target_(target), threads_(threads), with_session_(session) {
    session_ = "on_device";
    while (p_.text.find(session_) != std::string::npos) session_ += "_";
    for (const auto& [where, kernel] : placed_) {
      const Nest& nest = p_.functions[where.first].nests[where.second];
      for (const KernelArray& a : kernel.arrays)
        if (a.written) written_.push_back(nest.variables[a.variable]);
    }
  }

  Output write() {
    find_needed();
    Output out;
    std::string functions, clones;
    std::set<std::string> shared;
    for (const auto& [where, kernel] : placed_) {
      const Nest& nest = p_.functions[where.first].nests[where.second];
      for (const std::string& f : nest.functions)
        if (shared.insert(f).second) out.kernels += f + "\n";
    }
    for (const auto& [where, kernel] : placed_) {
      out.kernels += kernel.text + "\n";
      functions += kernel.functions;
    }
    const Function& top = p_.functions.back();
    for (std::size_t f = 0; f < p_.functions.size(); ++f)
      if (needed_.count(p_.functions[f].name) > 0) clones += clone(static_cast<int>(f));
    if (!fault_.empty()) {
      out.why = fault_;
      return out;
    }
    if (p_.c) return write_c(top, functions, clones, std::move(out));
    std::string call = top.name + "_placed(" + session_;
    for (const FunctionParameter& p : top.parameters)
      call += ", " + (p.type.find("&&") != std::string::npos ? "std::move(" + p.name + ")" : p.name);
    call += ")";
    const std::string before =
        kernels_text(top.name, out.kernels) + functions + "\n" + clones + (with_session_ ? in_session(top, call) : "");
    if (with_session_) out.header = header_text(top);
    std::string body = "{\n" + session_text(top.name);
    if (top.result == "void")
      body += "  " + call + ";\n  " + session_ + ".finish();\n}";
    else
      body += "  " + top.result + " result = " + call + ";\n  " + session_ + ".finish();\n  return result;\n}";
    std::vector<Edit> edits{{top.whole.begin, top.whole.begin, before}, {top.body.begin, top.body.end, body}};
    for (const auto& [where, text] : threads_.nests)  // of functions without a placed version
      if (const Function& f = p_.functions[where.first]; needed_.count(f.name) == 0)
        edits.push_back({f.nests[where.second].span.begin, f.nests[where.second].span.end, text});
    out.text = "// " + p_.file.substr(p_.file.rfind('/') + 1) + " with loops of " + top.name +
               "() placed on a device by ridge place." + how_to_compile() + "\n" +
               (threads_.nests.empty()    ? ""
                : target_ == Target::cuda ? "// Loops on the host use threads with -Xcompiler -fopenmp.\n"
                                          : "// Loops on the host use threads with -fopenmp.\n") +
               "#include <cmath>\n#include <cstdint>\n#include <vector>\n\n" + runtime_text() + threads_.helpers +
               applied(0, static_cast<unsigned>(p_.text.size()), edits);
    return out;
  }

 private:
  std::string declaration_in_session(const Function& top) const {
    return top.result + " " + top.name + "(placed::Session& " + session_ +
           (top.parameter_text.empty() ? "" : ", " + top.parameter_text) + ")";
  }

  // The function with a session of the caller: data that it leaves on the device stay there.
  std::string in_session(const Function& top, const std::string& call) const {
    return declaration_in_session(top) + " {\n" +
           (target_ == Target::cuda ? "  // The kernels are functions of this file.\n"
                                    : "  const placed::Use use(" + session_ + ", " + top.name + "_program());\n") +
           "  return " + call + ";\n}\n\n";
  }

  std::string header_text(const Function& top) const {
    std::string text = "// " + top.name +
                       "() with a session of the caller, by ridge place: arrays stay on the device between calls.\n"
                       "#pragma once\n";
    for (std::size_t at = 0; at < p_.text.size(); at = std::min(p_.text.find('\n', at), p_.text.size() - 1) + 1)
      if (p_.text.compare(at, 8, "#include") == 0) text += p_.text.substr(at, p_.text.find('\n', at) - at) + "\n";
    text += "\n" + runtime_text();
    const auto end = top.qualified.rfind("::");
    const std::string space = end == std::string::npos ? "" : top.qualified.substr(0, end);
    if (target_ == Target::ridge) text += "namespace placed = ridge::placed;\n";
    return text + (space.empty() ? "" : "namespace " + space + " {\n") + declaration_in_session(top) + ";\n" +
           (space.empty() ? "" : "}  // namespace " + space + "\n");
  }

  // A C file stays C; the kernels, the session and the launches are in a C++ file of their own.
  Output write_c(const Function& top, const std::string& functions, const std::string& clones, Output out) const {
    const std::string prefix = top.name + "_", from = p_.file.substr(p_.file.rfind('/') + 1);
    std::string call = top.name + "_placed(" + session_;
    for (const FunctionParameter& p : top.parameters) call += ", " + p.name;
    const bool result = top.result != "void";
    const std::string body = "{\n  void* const " + session_ + " = " + prefix + "open();\n  " +
                             (result ? top.result + " result = " : "") + call + ");\n  " + prefix + "close(" +
                             session_ + ");\n" + (result ? "  return result;\n}" : "}");
    out.text = "// " + from + " with loops of " + top.name +
               "() placed on a device by ridge place: link it with the C++ file written beside it.\n" +
               "#include <stdbool.h>\n#include <stdint.h>\n" + bridge_in_c(prefix) + declarations_ + "\n" +
               applied(0, static_cast<unsigned>(p_.text.size()),
                       {{top.whole.begin, top.whole.begin, in_c(clones)}, {top.body.begin, top.body.end, body}});
    const std::string session = session_text(top.name), made = "  placed::Session " + session_;
    const auto at = session.find(made);
    out.device = "// Device part of " + from + ": kernels of " + top.name + "() and their launches, by ridge place." +
                 how_to_compile() + "\n#include <cmath>\n#include <cstdint>\n#include <vector>\n\n" + runtime_text() +
                 kernels_text(top.name, out.kernels) + functions + "\n" +
                 bridge_in_cpp(prefix, session.substr(0, at) + "  return new placed::Session" +
                                           session.substr(at + made.size())) +
                 launches_;
    return out;
  }

  // A call of the session's member function, in the language of the user's file.
  std::string on(const std::string& call, const std::string& arguments) const {
    if (!p_.c) return session_ + "." + call + "(" + arguments + ")";
    return p_.functions.back().name + "_" + call + "(" + session_ + (arguments.empty() ? "" : ", " + arguments) + ")";
  }

  const Program& p_;
  const std::map<std::pair<int, int>, Kernel>& placed_;
  Target target_ = Target::ridge;
  const HostThreads& threads_;
  const bool with_session_;  // also a function that is called with the caller's session
  std::string session_{};
  std::string declarations_{}, launches_{};  // C file: functions that launch kernels
  std::set<std::string> needed_{};           // functions with a placed version
  std::vector<Variable> written_{};          // arrays that kernels write
  std::map<int, int> leaving_{};             // number of placed::Leaving objects, by the line of their declaration
  mutable std::string fault_{};              // reason why copies cannot be inserted
  bool any_there_ = false;                   // data may be on the device at this point
  std::vector<std::vector<std::string>>
      headers_{};  // per enclosing loop: statements that move the data its header reads to the host

  void find_needed() {
    for (std::size_t f = 0; f < p_.functions.size(); ++f) {  // callees come first
      const Function& function = p_.functions[f];
      if (!function.refused.empty() && f + 1 < p_.functions.size()) continue;
      bool needs = false;
      for (const auto& [where, kernel] : placed_) needs |= where.first == static_cast<int>(f);
      for (const std::string& callee : function.calls) needs |= needed_.count(callee) > 0;
      if (needs) needed_.insert(function.name);
    }
  }

  const char* how_to_compile() const {
    switch (target_) {
      case Target::cuda:
        return "\n// nvcc -O3 -arch=native -std=c++17 -fmad=false: with fmad the last bits differ from the original's.";
      case Target::opencl:
        return " Link with -lOpenCL.";
      default:
        return "";
    }
  }

  std::string runtime_text() const {
    switch (target_) {
      case Target::cuda:
        return cuda_runtime();
      case Target::opencl:
        return opencl_runtime();
      default:
        return "#include <ridge/placed.hpp>\n\n";
    }
  }

  // Kernels: in CUDA C++ code in a namespace of their own, because the user's functions may have the same names;
  // otherwise a string.
  std::string kernels_text(const std::string& name, const std::string& dialect) const {
    if (target_ == Target::cuda)
      return "namespace " + name +
             "_kernels {\n\nusing uchar = unsigned char;\nusing ushort = unsigned short;\nusing "
             "uint = unsigned;\nusing ulong = unsigned long;\n\n" +
             in_cuda(dialect) + "}  // namespace " + name + "_kernels\n\n";
    const bool opencl = target_ == Target::opencl;
    return std::string(opencl ? "" : "namespace placed = ridge::placed;\n\n") + "const char* const " + name +
           "_kernels = R\"kernels(\n" + (opencl ? "#pragma OPENCL FP_CONTRACT OFF\n" + in_opencl(dialect) : dialect) +
           ")kernels\";\n\n" +
           (with_session_ ? "static const placed::Kernels& " + name + "_program() {\n  static const placed::Kernels " +
                                "kernels(\"" + name + "\", " + name + "_kernels);\n  return kernels;\n}\n\n"
                          : "");
  }

  std::string session_text(const std::string& name) const {
    if (target_ == Target::cuda) return "  placed::Session " + session_ + ";\n";
    const bool opencl = target_ == Target::opencl;
    if (with_session_) return "  placed::Session " + session_ + "(" + name + "_program());\n";
    return "  static " +
           std::string(opencl ? "placed::Kernels kernels(" : "const placed::Kernels kernels(\"" + name + "\", ") +
           name + "_kernels);\n  placed::Session " + session_ + "(kernels);\n";
  }

  std::string kernel_name(const std::string& name) const {
    return target_ == Target::cuda ? p_.functions.back().name + "_kernels::" + name : "\"" + name + "\"";
  }

  std::string original(const Span& span) const { return p_.text.substr(span.begin, span.end - span.begin); }

  std::string applied(unsigned begin, unsigned end, std::vector<Edit> edits) const {
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string text;
    unsigned at = begin;
    for (const Edit& e : edits) {
      if (e.begin < at || e.end > end) continue;  // inside text that is already replaced
      text += p_.text.substr(at, e.begin - at) + e.text;
      at = e.end;
    }
    return text + p_.text.substr(at, end - at);
  }

  std::string clone(int which) {
    const Function& f = p_.functions[which];
    std::vector<Edit> edits;
    any_there_ = with_session_ || which + 1 < static_cast<int>(p_.functions.size());
    edit(f.root, which, 0, edits);
    const std::string text = "static " + f.result + " " + f.name +
                             (p_.c ? "_placed(void* " : "_placed(placed::Session& ") + session_ +
                             (f.parameter_text.empty() ? "" : ", " + f.parameter_text) + ") " +
                             applied(f.body.begin, f.body.end, edits) + "\n\n";
    if (!f.says_its_name) return text;
    std::string before, after;  // the placed function has another name, but __func__ must give the original one
    for (const char* word : {"__func__", "__FUNCTION__"}) {
      before += "#define " + std::string(word) + " \"" + f.name + "\"\n";
      after = "#undef " + std::string(word) + "\n" + after;
    }
    return before + text + after + "\n";
  }

  std::string indent_of(unsigned at) const {
    const auto line = p_.text.rfind('\n', at == 0 ? 0 : at - 1);
    const auto from = line == std::string::npos ? 0 : line + 1;
    std::string pad;
    for (auto i = from; i < at && (p_.text[i] == ' ' || p_.text[i] == '\t'); ++i) pad += p_.text[i];
    return pad;
  }

  // True if the number may be an element of an array that a kernel writes.
  bool on_device(const Variable& number) const {
    return std::any_of(written_.begin(), written_.end(), [&](const Variable& a) { return may_change(a, number); });
  }

  static std::string bytes_of(const Touch& t) {
    if (!t.one.empty()) return "placed::Int(sizeof(" + t.one + "))";
    return t.number.home.empty() ? "placed::Int(" + t.count + ") * placed::Int(sizeof(" + t.element + "))"
                                 : t.number.home_bytes;
  }

  // Adds the accesses of code that may run several times, in which single elements differ from run to run.
  static void add_whole(const std::vector<Touch>& touches, Part& into) {
    for (Touch t : touches) {
      into.anything |= !t.one.empty() && t.count.empty();
      t.one.clear();
      into.touches.push_back(t);
    }
  }

  std::vector<std::string> before(const std::vector<Touch>& touches, bool anything) const {
    if (anything) return {on("host_takes_over", "") + ";"};
    std::vector<std::string> list;
    for (const Touch& t : touches)
      if (t.number.home.empty() || (any_there_ && on_device(t.number))) {
        const std::string data = t.one.empty() ? t.data : "&" + t.one;
        const std::string one = on(t.write ? "host_takes" : "host_reads", data + ", " + bytes_of(t)) + ";";
        if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
      }
    return list;
  }

  // Statements to insert before the header of a loop or branch.
  std::vector<std::string> before_header(const Part& part) const {
    if (part.kind == PartKind::branch) return before(part.touches, part.anything);
    Part header;
    header.anything = part.anything;
    add_whole(part.touches, header);
    return before(header.touches, header.anything);
  }

  // Statements to insert before host code.
  std::vector<std::string> before(const Part& part) const {
    std::vector<std::string> list = before(part.touches, part.anything);
    if (part.anything) return list;
    for (const auto& m : part.moves)  // what the device wrote into an array that is overwritten is not copied back
      list.push_back(on(m.dead ? "forget" : "host_takes",
                        m.data + ", placed::Int(" + m.count + ") * placed::Int(sizeof(" + m.element + "))") +
                     ";");
    return list;
  }

  std::string lines(const std::vector<std::string>& list, const std::string& pad) const {
    std::string text;
    for (const std::string& line : list) text += line + "\n" + pad;
    return text;
  }

  // Statements after a kernel: headers of enclosing loops may read data that it wrote.
  std::string after_kernel(const std::string& pad) const {
    std::string text;
    std::set<std::string> said;
    for (const auto& header : headers_)
      for (const std::string& line : header)
        if (said.insert(line).second) text += "\n" + pad + line;
    return text;
  }

  void edit(const Part& part, int function, int loops, std::vector<Edit>& edits) {
    switch (part.kind) {
      case PartKind::nest:
        if (const auto at = placed_.find({function, part.nest}); at != placed_.end()) {
          const std::string pad = indent_of(part.span.begin), last = after_kernel(pad);
          const auto threads = threads_.nests.find({function, part.nest});
          std::string text = launch(at->second, p_.functions[function].nests[part.nest], part,
                                    threads == threads_.nests.end() ? original(part.span) : threads->second);
          any_there_ = true;
          if (!last.empty()) text = part.in_sequence ? text + last : "{ " + text + last + " }";
          edits.push_back({part.span.begin, part.span.end, text});
          return;
        }
        if (contains(part, function)) {
          for (const Part& child : part.children) edit(child, function, loops, edits);
          return;
        }
        whole(part, function, edits);
        on_threads(part, function, edits);
        return;
      case PartKind::loop:
      case PartKind::branch:
        if (!contains(part, function)) {
          whole(part, function, edits);
          on_threads(part, function, edits);
          return;
        }
        any_there_ |= part.kind == PartKind::loop;
        if (const auto list = before_header(part); !list.empty())
          insert_before(part, lines(list, indent_of(part.span.begin)), edits);
        if (part.kind == PartKind::loop) headers_.push_back(before_header(part));
        for (const Part& child : part.children) edit(child, function, loops + 1, edits);
        if (part.kind == PartKind::loop) headers_.pop_back();
        return;
      case PartKind::sequence:
        for (const Part& child : part.children) edit(child, function, loops, edits);
        return;
      case PartKind::call:
        if (needed_.count(part.callee) > 0) {
          const std::string pad = indent_of(part.span.begin);
          std::string first = lines(before(part.argument_touches, part.arguments_touch_anything), pad);
          for (const auto& [data, count] : part.knows)
            first +=
                on("knows", data + ", placed::Int(" + count + ") * placed::Int(sizeof(*" + data + "))") + ";\n" + pad;
          any_there_ = true;
          if (!first.empty()) insert_before(part, first, edits);
          const std::string text =
              p_.text.substr(part.callee_name.begin, part.callee_name.end - part.callee_name.begin);
          const unsigned paren = static_cast<unsigned>(p_.text.find('(', part.callee_name.end));
          const bool empty = p_.text.find_first_not_of(" \n\t", paren + 1) == p_.text.find(')', paren);
          edits.push_back({part.callee_name.begin, paren + 1, text + "_placed(" + session_ + (empty ? "" : ", ")});
          declared(part, edits);
          if (const std::string last = after_kernel(pad); !last.empty()) {
            const Span& at = span_of(part);
            if (part.in_sequence || part.declares) {
              edits.push_back({at.end, at.end, last});
            } else {
              edits.push_back({at.begin, at.begin, "{ "});
              edits.push_back({at.end, at.end, last + " }"});
            }
          }
          return;
        }
        [[fallthrough]];
      case PartKind::statement:
        if (resident(part, function, edits)) {
          any_there_ = true;
          return;
        }
        whole(part, function, edits);
        declared(part, edits);
        return;
    }
  }

  // Replaces the nests of a part that run on threads of the host.
  void on_threads(const Part& part, int function, std::vector<Edit>& edits) const {
    if (part.kind == PartKind::nest)
      if (const auto at = threads_.nests.find({function, part.nest}); at != threads_.nests.end()) {
        edits.push_back({part.span.begin, part.span.end, at->second});
        return;
      }
    for (const Part& child : part.children) on_threads(child, function, edits);
  }

  // Replaces std::vectors of which only elements are used, by kernels, with arrays that are resident on the device: the
  // host neither fills nor copies them.
  bool resident(const Part& part, int function, std::vector<Edit>& edits) const {
    if (part.locals.empty() || !part.in_sequence || part.leaves || !part.span.known) return false;
    bool used = false;
    std::string text;
    const std::string pad = indent_of(part.span.begin);
    for (const Part::Local& local : part.locals) {
      if (local.birth.empty()) return false;
      used |= reaches(p_.functions[function].root, function, local);
      text += (text.empty() ? "" : "\n" + pad) + ("placed::Session::Array<" + local.element + "> ") + local.name + "(" +
              session_ + ", " + local.birth + ");";
    }
    if (!used) return false;
    edits.push_back({part.span.begin, part.span.end, text});
    return true;
  }

  // True if a kernel of the function, or a placed function it calls, uses the array.
  bool reaches(const Part& part, int function, const Part::Local& local) const {
    if (part.kind == PartKind::nest)
      if (const auto at = placed_.find({function, part.nest}); at != placed_.end()) {
        const Nest& nest = p_.functions[function].nests[part.nest];
        for (const KernelArray& a : at->second.arrays)
          if (nest.variables[a.variable].host == local.name) return true;
      }
    if (part.kind == PartKind::call && needed_.count(part.callee) > 0)
      for (const auto& known : part.knows)
        if (known.first == local.data) return true;
    return std::any_of(part.children.begin(), part.children.end(),
                       [&](const Part& c) { return reaches(c, function, local); });
  }

  bool contains(const Part& part, int function) const {
    if (part.kind == PartKind::nest && placed_.count({function, part.nest}) > 0) return true;
    if (part.kind == PartKind::call && needed_.count(part.callee) > 0) return true;
    return std::any_of(part.children.begin(), part.children.end(),
                       [&](const Part& c) { return contains(c, function); });
  }

  // Range of source text around which code can be inserted for a part: for code from a macro, the macro's use.
  const Span& span_of(const Part& part) const {
    const Span& at = part.span.known ? part.span : part.expanded;
    if (!at.known) fault_ = "line " + std::to_string(part.line) + ": this code is in another file";
    return at;
  }

  void insert_before(const Part& part, const std::string& text, std::vector<Edit>& edits) const {
    const Span& at = span_of(part);
    if (part.in_sequence || part.declares) {
      edits.push_back({at.begin, at.begin, text});
    } else {
      edits.push_back({at.begin, at.begin, "{ " + text});
      edits.push_back({at.end, at.end, " }"});
    }
  }

  // Text for a part that runs on the host unchanged.
  void whole(const Part& part, int function, std::vector<Edit>& edits) const {
    std::vector<std::string> list;
    if (part.kind == PartKind::nest || part.kind == PartKind::loop || part.kind == PartKind::branch) {
      Part all;
      gather(part, function, all);
      if (!all.anything) {
        std::vector<Touch> merged;
        for (const Touch& t : all.touches) {
          auto at = std::find_if(merged.begin(), merged.end(), [&](const Touch& m) { return m.data == t.data; });
          if (at == merged.end())
            merged.push_back(t);
          else
            at->write |= t.write;
        }
        all.touches = merged;
      }
      list = before(all);
    } else if (!part.pure) {
      list = before(part);
    }
    if (!list.empty()) insert_before(part, lines(list, indent_of(part.span.begin)), edits);
  }

  void gather(const Part& part, int function, Part& into) const {
    if (part.kind == PartKind::nest) {
      const Nest& nest = p_.functions[function].nests[part.nest];
      text::visit_accesses(nest.root, [&](const Access& a) {
        const Variable& v = nest.variables[a.variable];
        if (!v.home.empty()) into.touches.push_back({v.home, "", "", a.write && !v.array(), v});
        if (v.local_memory || !v.array()) return;
        if (v.count.empty() || v.storage == Storage::pointer)
          into.anything = true;
        else
          into.touches.push_back({v.data, v.count, v.host_element, a.write, {}});
      });
      return;
    }
    into.anything |= part.anything;
    add_whole(part.touches, into);
    into.moves.insert(into.moves.end(), part.moves.begin(), part.moves.end());
    if (!part.moves.empty() || !part.locals.empty() || part.leaves) into.anything = true;
    for (const Part& child : part.children) gather(child, function, into);
  }

  void declared(const Part& part, std::vector<Edit>& edits) {
    if (part.locals.empty() && !part.leaves) return;
    const std::string pad = indent_of(part.span.begin);
    std::string text;
    const std::string prefix = p_.functions.back().name + "_";
    const auto leave = [&](const std::string& name, const std::string& what) {  // C: GCC's and Clang's attribute
      return "\n" + pad + "struct " + prefix + "Local " + name + " __attribute__((cleanup(" + prefix + "leave))) = {" +
             session_ + ", " + what + "};";
    };
    for (const auto& local : part.locals)
      text += p_.c ? leave(local.name + "_owner", "&" + local.name + ", sizeof(" + local.name + ")")
                   : "\n" + pad + "const placed::Owner " + local.name + "_owner(" + session_ + ", " + local.name + ");";
    if (part.leaves) {
      const int again = leaving_[part.line]++;  // one line may contain several declarations
      const std::string name =
          "leaving_" + std::to_string(part.line) + (again == 0 ? "" : "_" + std::to_string(again + 1));
      text += p_.c ? leave(name, "0, 0") : "\n" + pad + "const placed::Leaving " + name + "(" + session_ + ");";
    }
    const unsigned end = span_of(part).end;
    edits.push_back({end, end, text});
  }

  LaunchWriter launch_writer() const {
    return {.session = session_,
            .kernel_name = [this](const std::string& name) { return kernel_name(name); },
            .may_be_on_device = [this](const Variable& number) { return any_there_ && on_device(number); },
            .any_there = any_there_};
  }

  // `otherwise` runs if the kernel cannot.
  std::string launch(const Kernel& k, const Nest& nest, const Part& part, const std::string& otherwise) {
    if (p_.c) return launch_in_c(k, nest, part);
    const std::string pad = indent_of(part.span.begin), in = pad + "  ";
    const std::string text = launch_writer().if_possible(k, nest, pad, "") + pad + "} else {\n" + in + session_ +
                             ".host_takes_over();\n" + in + otherwise + "\n" + pad + "}";
    return part.in_sequence ? text : "{ " + text + " }";
  }

  std::string launch_in_c(const Kernel& k, const Nest& nest, const Part& part) {
    const std::string pad = indent_of(part.span.begin), name = k.name + "_on_device";
    BridgedLaunch bridge = bridged(k, nest);
    bridge.formals.insert(bridge.formals.begin(), "void* session_of_host");
    bridge.actuals.insert(bridge.actuals.begin(), session_);
    const std::string function = "int " + name + "(" + text::joined(bridge.formals) + ")";
    declarations_ += function + ";\n";
    launches_ += "extern \"C\" " + function + " {\n  placed::Session& " + session_ +
                 " = *static_cast<placed::Session*>(session_of_host);\n  " +
                 launch_writer().if_possible(k, bridge.nest, "  ", "    return 1;\n") + "    return 1;\n  }\n  " +
                 session_ + ".host_takes_over();\n  return 0;\n}\n\n";
    return "if (!" + name + "(" + text::joined(bridge.actuals) + ")) {\n" + pad + "  " + original(part.span) + "\n" +
           pad + "}";
  }
};

}  // namespace

Output program_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, Target target,
                    const HostThreads& threads, bool session) {
  return Writer(program, placed, target, threads, session).write();
}

}  // namespace ridge::place::emit

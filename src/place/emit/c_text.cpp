// Translates generated host text from C++ to C. Only the few C++ forms that the emitter writes are known.
#include "place/emit/c_text.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

// End of the template argument list that begins after the '<' at `from`.
std::size_t closing(const std::string& text, std::size_t from) {
  int depth = 1;
  while (from < text.size() && depth > 0) {
    depth += text[from] == '<' ? 1 : text[from] == '>' ? -1 : 0;
    ++from;
  }
  return from;
}

}  // namespace

std::string in_c(const std::string& cpp) {
  return text::each_word(cpp, [&](const std::string& word, std::size_t& at) -> std::string {
    if (word == "placed" && cpp.compare(at, 2, "::") == 0) {
      at += 2;
      if (cpp.compare(at, 4, "Int(") != 0) return "placed_";
      at += 3;  // a conversion: placed::Int(n)
      return "(placed_Int)";
    }
    if (word == "std" && cpp.compare(at, 2, "::") == 0) {
      at += 2;
      return "";
    }
    if ((word == "static_cast" || word == "reinterpret_cast") && at < cpp.size() && cpp[at] == '<') {
      const std::size_t end = closing(cpp, at + 1);
      const std::string type = cpp.substr(at + 1, end - at - 2);
      at = end;
      return "(" + in_c(type) + ")";
    }
    if (word == "inline") return "static inline";
    if (word == "nullptr") return "NULL";
    return word;
  });
}

// The functions between a placed C file and its C++ part.

namespace {

std::string with_prefix(std::string text, const std::string& prefix) {
  for (std::size_t at = text.find("@"); at != std::string::npos; at = text.find("@", at + prefix.size()))
    text.replace(at, 1, prefix);
  return text;
}

// C++ and C agree on these declarations.
constexpr const char* kShared = R"(void* @open(void);
void @close(void* session);
void @host_takes_over(void* session);
void @host_takes(void* session, const void* data, long long bytes);
void @host_reads(void* session, const void* data, long long bytes);
void @knows(void* session, const void* data, long long bytes);
long long @launches(void);
)";

constexpr const char* kInC = R"(typedef int64_t placed_Int;
struct @Local {  // drops the device copy of a local array at the end of its block
  void* session;
  const void* data;
  long long bytes;
};
void @leave(struct @Local* local);
)";

constexpr const char* kInCpp = R"(extern "C" void @close(void* session) {
  static_cast<placed::Session*>(session)->finish();
  delete static_cast<placed::Session*>(session);
}
extern "C" void @host_takes_over(void* session) { static_cast<placed::Session*>(session)->host_takes_over(); }
extern "C" void @host_takes(void* session, const void* data, long long bytes) {
  static_cast<placed::Session*>(session)->host_takes(data, bytes);
}
extern "C" void @host_reads(void* session, const void* data, long long bytes) {
  static_cast<placed::Session*>(session)->host_reads(data, bytes);
}
extern "C" void @knows(void* session, const void* data, long long bytes) {
  static_cast<placed::Session*>(session)->knows(data, bytes);
}
extern "C" long long @launches() { return static_cast<long long>(placed::launches()); }
struct @Local {
  void* session;
  const void* data;
  long long bytes;
};
extern "C" void @leave(@Local* local) {
  placed::Session& session = *static_cast<placed::Session*>(local->session);
  if (local->data == nullptr)
    session.host_takes_over();
  else
    session.forget(local->data, local->bytes);
}

)";

}  // namespace

std::string bridge_in_c(const std::string& prefix) { return with_prefix(std::string(kShared) + kInC, prefix); }

std::string bridge_in_cpp(const std::string& prefix, const std::string& session) {
  return with_prefix("extern \"C\" void* @open() {\n" + session + "}\n" + kInCpp, prefix);
}

BridgedLaunch bridged(const Kernel& kernel, const Nest& nest) {
  std::set<int> results, used;
  for (const Reduction& r : kernel.reductions) {
    results.insert(r.target);
    results.insert(r.payload.begin(), r.payload.end());
  }
  for (const KernelArray& a : kernel.arrays) used.insert(a.variable);
  for (const auto* list : {&kernel.scalars, &kernel.expanded, &kernel.copies}) used.insert(list->begin(), list->end());
  BridgedLaunch made{nest, {}, {}};
  const auto pass = [&](const std::string& formal, const std::string& actual) {
    made.formals.push_back(formal);
    made.actuals.push_back(in_c(actual));
  };
  for (std::size_t i = 0; i < nest.variables.size(); ++i) {
    const int which = static_cast<int>(i);
    Variable& v = made.nest.variables[i];
    const bool named = std::find(kernel.parameters.begin(), kernel.parameters.end(), v.name) != kernel.parameters.end();
    if (!v.loops.empty() || v.local_memory) continue;
    const std::string name = v.name + "_of_host";
    if (!v.home.empty()) {  // also of numbers that the launch does not use
      pass("const void* " + name + "_home", v.home);
      pass("long long " + name + "_home_bytes", v.home_bytes);
      v.home = name + "_home";
      v.home_bytes = name + "_home_bytes";
    }
    if (used.count(which) == 0 && results.count(which) == 0 && !named) continue;
    if (v.array()) {
      pass(v.host_element + "* " + name, "(" + v.host_element + "*)(" + v.data + ")");
      v.data = v.host = name;
      if (v.count.find_first_not_of("0123456789") != std::string::npos) {
        pass("long long " + name + "_count", v.count);
        v.count = name + "_count";
      }
    } else if (results.count(which) > 0) {
      pass(v.host_element + "* " + name, "&" + v.host);
      v.host = "(*" + name + ")";
    } else {
      pass(v.host_element + " " + name, v.host);
      v.host = name;
    }
  }
  return made;
}

}  // namespace ridge::place::emit

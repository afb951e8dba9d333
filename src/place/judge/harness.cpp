// Writes the program that generates arguments, calls the function, dumps its results and times it.
#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "place/judge/compiler.hpp"
#include "place/judge/judge.hpp"

namespace ridge::place::judge {
namespace {

// Default value of an integer parameter: small for windows and radii, else primes that grow with the position, so that
// a pitch is at least its row length.
long size_of(const std::string& name, int position, long enough) {
  for (const char* small : {"radius", "reach", "steps", "iterations", "layers", "times"})
    if (name.find(small) != std::string::npos) return 3;
  if (name.find("window") != std::string::npos || name == "by" || name == "taps") return 5;
  static constexpr long primes[] = {23, 29, 31, 37, 41, 43, 47, 53};
  static constexpr long larger[] = {149, 151, 157, 163, 167, 173, 179, 181};
  return (enough > primes[0] ? larger : primes)[std::min(position, 7)];
}

// Text that declares the arguments, dumps the results and calls the function, parameter by parameter.
class Arguments {
 public:
  Arguments(const Report& report, const Options& options) : report_(report), options_(options), c_(is_c(report.file)) {
    double product = size_integers();
    for (const Parameter& p : report.parameters) product = std::max(product, elements_of_view(p));
    elements_ = options.elements > 0 ? options.elements
                                     : std::clamp(static_cast<long>(std::min(product, 3e7)), 1L << 18, 1L << 25);
    for (const Parameter& p : report.parameters) {
      arguments += arguments.empty() ? "" : ", ";
      arguments += !c_ ? p.kind == "pointer" ? p.name + ".data()" : p.name : in_memory(p);
      add(p);
    }
  }

  std::string made{}, dump{}, arguments{};

 private:
  // Address of an argument for entry_in_c().
  static std::string in_memory(const Parameter& p) {
    if (p.kind == "pointer") return p.name + ".data()";
    return p.kind == "struct_pointer" ? p.name + "_memory.data()" : "&" + p.name;
  }

  // Chooses values of the integer parameters; returns their product.
  double size_integers() {
    double product = 1;
    int integers = 0;
    for (const Parameter& p : report_.parameters)
      if (p.kind == "integer") {
        const auto pinned = options_.parameters.find(p.name);
        sizes_[p.name] =
            pinned != options_.parameters.end() ? pinned->second : size_of(p.name, integers, report_.enough);
        ++integers;
        product *= static_cast<double>(std::max(1L, sizes_[p.name]));
      }
    return product;
  }

  long size_in(const Parameter& p, std::size_t k) const {  // integer field of a view
    for (const std::string& name : {p.name + "." + p.fields[k], p.fields[k]})
      if (const auto at = options_.parameters.find(name); at != options_.parameters.end()) return at->second;
    const auto before = std::count(p.fields.begin(), p.fields.begin() + static_cast<std::ptrdiff_t>(k), "*");
    return size_of(p.fields[k], static_cast<int>(k) - static_cast<int>(before), report_.enough);
  }

  double elements_of_view(const Parameter& p) const {
    double all = 1;
    for (std::size_t k = 0; p.kind == "view" && k < p.fields.size(); ++k)
      if (p.fields[k] != "*") all *= static_cast<double>(std::max(1L, size_in(p, k)));
    return all;
  }

  void add(const Parameter& p) {
    if (p.kind == "integer")
      made += fmt::format("  {} {} = {};\n", p.element, p.name, sizes_[p.name]);
    else if (p.kind == "real")
      made += fmt::format("  {} {} = {};\n", p.element, p.name, 0.5 + 0.25 * reals_++);
    else if (p.kind == "reference")
      add_reference(p);
    else if (p.kind == "pointer" || p.kind == "vector")
      add_vector(p);
    else if (p.kind == "struct_pointer" || p.kind == "span" || p.kind == "view")
      add_object_over_memory(p);
    else if (p.kind == "rows")
      add_rows(p);
    else if (p.kind == "structs")
      add_structs(p);
    else if (p.kind == "mat" && !p.element.empty())
      add_mat(p);
    else if (p.kind == "array")
      add_array(p);
    else if (const std::string number = number_of_rows(p.type); !number.empty())
      add_nested(p, number);
    else if (const std::string cell = number_of_table(p.type); !cell.empty())
      add_table(p, cell);
    else if (c_)  // a type of the C file: zeros
      made += fmt::format("  alignas(16) unsigned char {}[65536]{{}};\n", p.name);
    else
      made += fmt::format("  std::decay_t<{}> {}{{}};\n", p.type, p.name);
  }

  void add_reference(const Parameter& p) {
    made += fmt::format("  {} {} = ridge_check::number<{}>({});\n", p.element, p.name, p.element, 7);
    dump += fmt::format("  ridge_check::put(ridge_check_out, \"{0}\", \"{1}\", &{0}, 1);\n", p.name, p.element);
  }

  void add_vector(const Parameter& p) {
    const std::string memory = p.element == "bool" ? "ridge_check::Bools" : "std::vector<" + p.element + ">";
    made += fmt::format("  {0} {1}({2});\n", memory, p.name, elements_);
    fill_and_dump(p, p.name + ".data()", p.name + ".size()");
  }

  // Structs with fields of one type or rows (S*, float (*)[64]), spans and views.
  void add_object_over_memory(const Parameter& p) {
    const long count = p.kind == "struct_pointer" ? std::max(1L, elements_ / p.length) * p.length : elements_;
    made += fmt::format("  std::vector<{0}> {1}_memory({2});\n", p.element, p.name, count);
    if (p.kind == "span")
      fill_and_dump(p, p.name + "_memory.data()", p.name + "_memory.size()", p.name + ".data()", p.name + ".size()");
    else
      fill_and_dump(p, p.name + "_memory.data()", p.name + "_memory.size()");
    if (p.kind == "struct_pointer" && c_) return;
    if (p.kind == "struct_pointer")
      made += fmt::format("  const auto {0} = reinterpret_cast<{1}>({0}_memory.data());\n", p.name, p.type);
    else if (p.kind == "span")
      made += fmt::format("  std::decay_t<{1}> {0}({0}_memory);\n", p.name, p.type);
    else
      made += fmt::format("  std::decay_t<{1}> {0}{{{2}}};\n", p.name, p.type, fields_of_view(p));
  }

  std::string fields_of_view(const Parameter& p) const {
    std::string parts;
    for (std::size_t k = 0; k < p.fields.size(); ++k)
      parts += (k > 0 ? ", " : "") + (p.fields[k] == "*" ? p.name + "_memory.data()" : std::to_string(size_in(p, k)));
    return parts;
  }

  void add_rows(const Parameter& p) {
    made += fmt::format("  static std::remove_cvref_t<{}> {};\n", p.type, p.name);
    fill_and_dump(p, fmt::format("reinterpret_cast<{}*>(&{})", p.element, p.name), std::to_string(p.length));
  }

  void add_structs(const Parameter& p) {
    made += fmt::format("  std::decay_t<{}> {}({});\n", p.type, p.name, std::max(1L, elements_ / p.length));
    fill_and_dump(p, fmt::format("reinterpret_cast<{}*>({}.data())", p.element, p.name),
                  fmt::format("{}.size() * {}", p.name, p.length));
  }

  void add_mat(const Parameter& p) {
    const std::string type = p.length > 1 ? fmt::format("cv::Vec<{}, {}>", p.element, p.length) : p.element;
    made += fmt::format("  cv::Mat {0}(61, 67, cv::traits::Type<{1}>::value);\n", p.name, type);
    fill_and_dump(p, fmt::format("reinterpret_cast<{}*>({}.data)", p.element, p.name),
                  fmt::format("{0}.total() * {0}.channels()", p.name));
  }

  // Element type of std::vector<std::vector<T>>; "" for other types.
  static std::string number_of_rows(const std::string& type) {
    static const std::regex nested(R"(^(const )?(std::)?vector<(std::)?vector<([a-z ]+)>\s*>\s*&?$)");
    std::smatch found;
    return std::regex_match(type, found, nested) && found[4] != "bool" ? found[4].str() : "";
  }

  void add_nested(const Parameter& p, const std::string& number) {
    long side = 181;
    for (const auto& [name, size] : sizes_) side = std::max(side, size);
    made += fmt::format("  std::vector<std::vector<{}>> {}({}, std::vector<{}>({}));\n", number, p.name, side, number,
                        side);
    made += fmt::format(
        "  for (auto& row : {}) ridge_check::fill(row.data(), row.size(), {}u + unsigned(&row - {}.data()));\n", p.name,
        1000 * seed_++, p.name);
    if (p.type.rfind("const", 0) != 0)
      dump += fmt::format(
          "  for (auto& row : {0}) ridge_check::put(ridge_check_out, \"{0}\", \"{1}\", row.data(), row.size());\n",
          p.name, number);
  }

  // Element type of T**; "" for other types.
  static std::string number_of_table(const std::string& type) {
    static const std::regex table(
        R"(^(const )?((unsigned |signed )?(char|short|int|long|long long|float|double)) ?\*( ?const)? ?\*( ?const)?$)");
    std::smatch found;
    return std::regex_match(type, found, table) ? found[2].str() : "";
  }

  // Rows and columns numbered from 0 or 1.
  void add_table(const Parameter& p, const std::string& number) {
    long side = 181;
    for (const auto& [name, size] : sizes_) side = std::max(side, size);
    side += 3;
    made += fmt::format(
        "  std::vector<{1}> {0}_memory({2});\n  std::vector<std::remove_cv_t<std::remove_pointer_t<{3}>>> "
        "{0}_rows({4});\n"
        "  for (long k = 0; k < {4}; ++k) {0}_rows[k] = {0}_memory.data() + {4} * k;\n  {3} {0} = {0}_rows.data();\n",
        p.name, number, side * side, p.type, side);
    Parameter memory = p;
    memory.element = number;
    memory.constant = p.type.rfind("const", 0) == 0;
    fill_and_dump(memory, p.name + "_memory.data()", p.name + "_memory.size()");
  }

  void add_array(const Parameter& p) {
    made += fmt::format("  std::array<{0}, {1}> {2};\n", p.element, p.length, p.name);
    fill_and_dump(p, p.name + ".data()", p.name + ".size()");
  }

  void fill_and_dump(const Parameter& p, const std::string& data, const std::string& count) {
    fill_and_dump(p, data, count, data, count);
  }

  // Fills `count` elements at `data`; dumps `results` elements at `from` unless they are constant.
  void fill_and_dump(const Parameter& p, const std::string& data, const std::string& count, const std::string& from,
                     const std::string& results) {
    if (p.kind != "view" && !p.fields.empty()) {
      fill_and_dump_numbers(p, data, fmt::format("({}) * {} / {}", count, p.bytes, p.fields[0]));
      return;
    }
    made +=
        fmt::format("  ridge_check::{}({}, {}, {});\n", options_.distinct ? "number" : "fill", data, count, seed_++);
    if (!p.constant)
      dump += fmt::format("  ridge_check::put(ridge_check_out, \"{}\", \"{}\", {}, {});\n", p.name, p.element, from,
                          results);
  }

  // The same for structs with fields of several types, number by number.
  void fill_and_dump_numbers(const Parameter& p, const std::string& data, const std::string& structs) {
    for (std::size_t k = 1; k < p.fields.size(); ++k) {
      const auto space = p.fields[k].find(' ');
      const std::string at = p.fields[k].substr(0, space), type = p.fields[k].substr(space + 1);
      made += fmt::format("  ridge_check::fill_field<{}>({}, {}, {}, {}, {});\n", type, data, at, p.fields[0], structs,
                          seed_++);
      if (!p.constant)
        dump += fmt::format("  ridge_check::put_field<{}>(ridge_check_out, \"{}.{}\", {}, {}, {}, {});\n", type, p.name,
                            at, data, at, p.fields[0], structs);
    }
  }

  const Report& report_;
  const Options& options_;
  const bool c_;
  std::map<std::string, long> sizes_{};
  long elements_ = 0;
  int reals_ = 0, seed_ = 1;
};

// Makes the call keep its result; returns the text that dumps it.
std::string keep_result(const std::string& type, std::string& call) {
  if (type == "void") return "";
  if (type.find("vector") != std::string::npos) {
    call = "auto ridge_check_result = " + call;
    return "  ridge_check::put(ridge_check_out, \"result\", ridge_check::type(ridge_check_result[0]), "
           "ridge_check_result.data(), ridge_check_result.size());\n";
  }
  if (type.find('*') != std::string::npos) {  // addresses differ between two runs
    call = "const bool ridge_check_result = nullptr != " + call;
    return "  ridge_check::put(ridge_check_out, \"result\", \"bool\", &ridge_check_result, 1);\n";
  }
  call = "const auto ridge_check_result = " + call;
  return "  ridge_check::put(ridge_check_out, \"result\", ridge_check::type(ridge_check_result), &ridge_check_result, "
         "1);\n";
}

// The program around {0} declarations, {1} call, {2} dumps and {3} the count of kernel launches. <chrono> and <memory>
// would triple the time to compile it.
constexpr char kProgram[] = R"(
#undef main
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <vector>
namespace ridge_check {{
inline double seconds() {{
  std::timespec now{{}};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}}
template <class T>
T number(std::uint32_t bits) {{
  if constexpr (std::is_floating_point_v<T>) return T(0.1 + 0.9 * (bits >> 8) / 16777216.0);
  else if constexpr (sizeof(T) == 1) return T(std::is_same_v<T, bool> ? (bits >> 9) % 2 : (bits >> 9) % 128);
  else return T((bits >> 9) % 4);
}}
template <class T>
void fill(T* data, std::size_t n, std::uint32_t seed) {{
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::size_t i = 0; i < n; ++i) {{
    state = state * 1664525u + 1013904223u;
    data[i] = number<T>(state);
  }}
}}
template <class T>
void number(T* data, std::size_t n, std::uint32_t seed) {{  // every integer once
  if constexpr (std::is_integral_v<T> && sizeof(T) > 2)
    for (std::size_t i = 0; i < n; ++i) data[i] = T((i * (n % 7919 != 0 ? 7919 : 1) + seed) % n);
  else
    fill(data, n, seed);
}}
class Bools {{  // std::vector<bool> stores bits
 public:
  explicit Bools(std::size_t n) : n_(n), data_(new bool[n]) {{}}
  Bools(const Bools&) = delete;
  Bools& operator=(const Bools&) = delete;
  ~Bools() {{ delete[] data_; }}
  bool* data() {{ return data_; }}
  std::size_t size() const {{ return n_; }}
 private:
  std::size_t n_;
  bool* data_;
}};
template <class T>
const char* type(const T&) {{
  return std::is_same_v<T, float> ? "float" : std::is_same_v<T, double> ? "double" : "integer";
}}
template <class T>
void put(std::FILE* out, const char* name, const char*, const T* data, std::size_t n) {{
  std::fprintf(out, "%s %s %zu\n", name, type(*data), n * sizeof(T));
  std::fwrite(data, sizeof(T), n, out);
}}
// A number at `at` bytes in each of `n` structs of `size` bytes.
template <class T>
void fill_field(void* data, std::size_t at, std::size_t size, std::size_t n, std::uint32_t seed) {{
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::size_t i = 0; i < n; ++i) {{
    state = state * 1664525u + 1013904223u;
    const T value = number<T>(state);
    std::memcpy(static_cast<char*>(data) + i * size + at, &value, sizeof value);
  }}
}}
template <class T>
void put_field(std::FILE* out, const char* name, const void* data, std::size_t at, std::size_t size, std::size_t n) {{
  T* const all = new T[n];
  for (std::size_t i = 0; i < n; ++i) std::memcpy(&all[i], static_cast<const char*>(data) + i * size + at, sizeof(T));
  put(out, name, "", all, n);
  delete[] all;
}}
}}  // namespace ridge_check
int main(int, char** ridge_check_words) {{
  {{
{0}  std::FILE* ridge_check_out = std::fopen(ridge_check_words[1], "wb");
  if (ridge_check_out == nullptr) return 3;
  {1};
{2}  if (std::fclose(ridge_check_out) != 0) return 3;
  }}
  double ridge_check_best = 1e300;
  for (int ridge_check_round = 0; ridge_check_round < 2; ++ridge_check_round) {{
{0}  const double ridge_check_start = ridge_check::seconds();
  {1};
  const double ridge_check_took = ridge_check::seconds() - ridge_check_start;
  if (ridge_check_took < ridge_check_best) ridge_check_best = ridge_check_took;
  }}
  std::printf("nanoseconds %lld\n", static_cast<long long>(1e9 * ridge_check_best));
{3}  return 0;
}}
)";

// A C file is compiled as C; the C++ program around it calls entry_in_c().
std::string harness_of_c(const Report& report, bool placed, Arguments& arguments) {
  static const std::regex reserved(
      R"(\b(class|new|this|delete|template|operator|public|private|protected|virtual|namespace|using|friend|try|catch|throw|typename|explicit|mutable|export|and|or|not|xor|bitand|bitor|compl)\b)");
  for (std::string* text : {&arguments.made, &arguments.dump, &arguments.arguments})  // names of C that C++ reserves
    *text = std::regex_replace(*text, reserved, "$1_");
  const bool given = !report.parameters.empty();
  std::string call = fmt::format("ridge_check_entry({}, nullptr)", given ? "ridge_check_given" : "nullptr");
  std::string before = arguments.made, after = arguments.dump;
  if (given) before += fmt::format("  void* ridge_check_given[] = {{{}}};\n", arguments.arguments);
  const bool address = report.result.find('*') != std::string::npos;
  if (report.result != "void") {
    const std::string type = address ? "bool" : report.result;
    before += fmt::format("  {} ridge_check_result{{}};\n", type);
    call = fmt::format("ridge_check_entry({}, &ridge_check_result)", given ? "ridge_check_given" : "nullptr");
    after += fmt::format(
        "  ridge_check::put(ridge_check_out, \"result\", ridge_check::type(ridge_check_result), &ridge_check_result, "
        "1);\n");
  }
  const std::string launches = report.function + "_launches";  // of the device part
  return "#include <cstdint>\nextern \"C\" void ridge_check_entry(void**, void*);\nextern \"C\" long long " + launches +
         "(void);\n" +
         fmt::format(kProgram, before, call, after,
                     placed ? "  std::printf(\"kernels %lld\\n\", " + launches + "());\n" : "");
}

}  // namespace

std::string harness(const Report& report, const Options& options, bool placed) {
  Arguments arguments(report, options);
  if (is_c(report.file)) return harness_of_c(report, placed, arguments);
  std::string opened;  // types of parameters may omit the namespaces around the function
  for (auto at = report.qualified.find("::"); at != std::string::npos; at = report.qualified.find("::", at + 2))
    opened += "  using namespace " + report.qualified.substr(0, at) + ";\n";
  arguments.made = opened + arguments.made;
  const std::string name = report.qualified.empty() ? report.function : report.qualified;
  const std::string space = options.emit == "ridge" ? "ridge::placed::" : "placed::";
  const bool in_session = placed && options.session;
  if (in_session) {
    arguments.made += "  " + space + "Session ridge_check_session;\n";
    arguments.arguments = "ridge_check_session" + (arguments.arguments.empty() ? "" : ", " + arguments.arguments);
  }
  std::string call = fmt::format("{}({})", name, arguments.arguments);
  const std::string before = options.session ? call + ";\n  " : "";  // the second call finds data on the device
  arguments.dump += keep_result(report.result, call);
  call = before + call + (in_session ? ";\n  ridge_check_session.finish()" : "");
  const auto count = [&](const char* what, const std::string& value) {
    return fmt::format("  std::printf(\"{} %lld\\n\", static_cast<long long>({}));\n", what, value);
  };
  std::string launches;
  if (placed) launches = count("kernels", options.emit == "openmp" ? "placed::starts" : space + "launches()");
  if (placed && options.threads) launches += count("threads", space + "starts");
  return fmt::format(kProgram, arguments.made, call, arguments.dump, launches);
}

// Appended to a C file: calls the function with arguments given by address.
std::string entry_in_c(const Report& report, bool threads) {
  std::string call;
  for (std::size_t k = 0; k < report.parameters.size(); ++k) {
    const Parameter& p = report.parameters[k];
    const bool address = p.kind == "pointer" || p.kind == "struct_pointer";
    call += (k > 0 ? ", " : "") +
            (address ? fmt::format("ridge_check_given[{}]", k) : fmt::format("*({}*)ridge_check_given[{}]", p.type, k));
  }
  call = fmt::format("{}({})", report.function, call);
  if (report.result.find('*') != std::string::npos)
    call = "*(unsigned char*)ridge_check_result = 0 != " + call;  // addresses differ between two runs
  else if (report.result != "void")
    call = fmt::format("*({}*)ridge_check_result = {}", report.result, call);
  const std::string starts =
      threads ? fmt::format("long long {}_launches(void) {{ return placed_starts; }}\n", report.function) : "";
  return starts +
         fmt::format(
             "\n#undef main\nvoid ridge_check_entry(void** ridge_check_given, void* ridge_check_result) {{ {}; }}\n",
             call);
}

}  // namespace ridge::place::judge

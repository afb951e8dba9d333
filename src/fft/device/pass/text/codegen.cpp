// Combines the writers of loads, exchanges and stores to the kernel of an ordinary pass.
#include "fft/device/pass/text/codegen.hpp"

#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "fft/device/pass/text/writers.hpp"

namespace ridge::fft::on_device {

PassText pass_text(const PassDesign& design) {
  if (design.ahead) return async_copy_text(design);
  codegen::Text text;
  PassWriters pass(design, text);
  pass.context.title();
  pass.context.header(std::set<std::size_t>(design.radices.begin(), design.radices.end()));
  text.open("{}", pass.context.signature());
  pass.context.declare();
  if (design.mirrored()) {
    write_mirrored_rows(pass);
  } else {
    pass.load.load();
    pass.exchange.stages();
    pass.store.store();
  }
  text.close();
  const std::string name = fmt::format("fft {} points", design.points);
  return {KernelSource{.name = name, .text = text.str()}, pass.context.local_bytes()};
}

std::size_t local_bytes_of(const PassDesign& design) { return PassShape(design).local_bytes(); }

}  // namespace ridge::fft::on_device

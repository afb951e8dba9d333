// Updates whose new values need no check before they are sent to other work-groups.
#include "stencil/device/mail_pass.hpp"

namespace ridge::stencil {

bool results_differ_from_empty(const CellText& text) {
  if (text.cell != "float") return false;
  switch (text.tape.operations[text.tape.outputs[0]].kind) {
    case Node::Kind::add:
    case Node::Kind::subtract:
    case Node::Kind::multiply:
    case Node::Kind::fma:
      return true;
    default:
      return false;
  }
}

}  // namespace ridge::stencil

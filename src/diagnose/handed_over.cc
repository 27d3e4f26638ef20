#include "diagnose/handed_over.h"

#include <fmt/format.h>

namespace nanscope::diagnosis {

std::string handed_text(const HandedOver& hand) {
  const std::string from =
      hand.worker ? fmt::format("worker {} of a data loader (pid {})", *hand.worker, hand.pid)
                  : fmt::format("process {}", hand.pid);
  return from + (hand.exact ? " handed it over: the tensor read here is bad at the same elements"
                            : " handed over such a value before; which tensor it was is not known");
}

}  // namespace nanscope::diagnosis

#include "adapters/torch/ranks/board.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace nanscope::torch_adapter {

nb::tuple call_for_board(const Collective& call) {
  nb::object message = nb::none();
  if (call.message)
    message = nb::make_tuple(call.message->sender, call.message->receiver, call.message->tag);
  return nb::make_tuple(call.group, call.sequence, message);
}

}  // namespace nanscope::torch_adapter

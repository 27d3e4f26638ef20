// Note [Memory of extensions]
// A function of a C++ extension that is no op (pybind11) takes memory by at::empty, as the program
// does by torch.empty, and writes it through a pointer, which nobody sees. Only the program's text
// tells the two apart: a line that takes memory itself names a function that does.
#include "adapters/torch/watch/allocations.h"

#include "adapters/torch/program/frames.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {

std::optional<OpRecord::Read::Allocation> allocation_under(const at::Tensor& tensor) {
  auto allocation = Watcher::get().storages().allocation_of(tensor);
  if (allocation) allocation->in_extension = !takes_memory(allocation->place.stack);
  return allocation;
}

}  // namespace nanscope::torch_adapter

// Which kernel the dispatcher had for each op when it was last looked at.
//
// Note [Kernels that come late]
// A library in C++ may put a kernel of its own over one that is wrapped (TORCH_LIBRARY_IMPL), or
// give one to an op that had none: torch tells nobody. So the dispatcher's table is compared with
// what it was: when a library was loaded by Python or ctypes, before its first op can be called;
// between steps, if any library came otherwise; and at the end. What is found is wrapped. Where it
// may have been called before it was found, and where it stands in front of a wrapper (at
// autograd's key), it is counted.
//
// Not shared: NewOps owns it, under its lock.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <unordered_map>
#include <vector>

namespace nanscope::torch_adapter {

class KernelTable {
 public:
  // What is there now is known.
  void look_at(const c10::OperatorHandle& op);
  void forget(const c10::OperatorName& name) { known_.erase(name); }

  struct Changed {
    c10::OperatorName name;
    bool in_front;  // of the key that is wrapped
  };
  // Those that are not as they were; they are known from now on.
  [[nodiscard]] std::vector<Changed> changed();

 private:
  struct Kernel {
    const void* function = nullptr;  // unboxed, with symbolic sizes or without
    const void* functor = nullptr;
    bool operator==(const Kernel&) const = default;
  };
  struct Known {
    c10::OperatorHandle op;
    Kernel on_cpu;
    Kernel of_autograd;
    Kernel of_autograd_at_first;  // a library of Python's may have come and gone
  };
  [[nodiscard]] static Kernel kernel_at(const c10::OperatorHandle& op, c10::DispatchKey key);

  std::unordered_map<c10::OperatorName, Known> known_;
};

}  // namespace nanscope::torch_adapter
